"""One file at a time into a study: read, checked, put in, and what came of it said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import BadSetting, Conflict, DataError, NotFound
from venire.formats import read_qrels, read_runs
from venire.formats.collection import note_blank, read_documents, read_topics
from venire.formats.run_files import name_by_file
from venire.formats.source import stem
from venire.server.store.studies import StudyFile
from venire.server.studies.campaigns import sync_study
from venire.server.studies.studies import get_study, put_documents, put_file, put_gold, put_topics
from venire.tables.qrels import Qrels

KINDS = ("topics", "documents", "run", "qrels", "gold")
_ENDINGS = (".tsv", ".jsonl", ".csv", ".parquet")
_PACKED = (".gz", ".xz", ".zst")
Report = dict[str, Any]


def put_upload(session: Session, study_id: str, kind: str, path: Path, name: str) -> Report:
    """Put a file into a study; ``name`` is the one it had, whose ending says the format.

    Returns
    -------
    dict
        ``kind, name, rows`` (read), ``added, changed, unchanged, left_out`` and ``notes``.
    """
    get_study(session, study_id)
    if kind not in KINDS:
        raise BadSetting(f"a file is {', '.join(KINDS)}, not {kind!r}")
    plain = Path(name).name[:200] or kind
    report: Report = {"kind": kind, "name": plain, "notes": []}
    counts = dict.fromkeys(("added", "changed", "unchanged", "left_out"), 0)
    read = _read_table if kind in ("topics", "documents") else _read_grades_or_run
    report["rows"], numbers, notes = read(session, study_id, kind, path, plain)
    report |= counts | numbers
    report["notes"] = notes
    if report["left_out"]:
        report["notes"] = [
            *notes,
            f"{report['left_out']:,} rows left out: their topic or document is not in the study",
        ]
    if kind == "gold":
        sync_study(session, study_id)
    return report


def remove_file(session: Session, study_id: str, kind: str, name: str) -> None:
    """Take a run, qrels or vectors out of a study; pool, gold and judgments stay as they are.

    Raises
    ------
    NotFound
        There is no such file.
    Conflict
        The pools are grouped by these vectors.
    """
    study = get_study(session, study_id)
    found = session.scalar(
        select(StudyFile).where(
            StudyFile.study_id == study_id, StudyFile.kind == kind, StudyFile.name == name
        )
    )
    if found is None:
        raise NotFound(kind, name)
    if kind == "vectors" and study.settings.get("grouping", {}).get("encoder") == name:
        raise Conflict(
            f"the pools are grouped by the vectors {name}; choose another grouping first"
        )
    session.delete(found)


def _read_table(
    session: Session, study_id: str, kind: str, path: Path, name: str
) -> tuple[int, dict[str, int], list[str]]:
    """Read topics or documents into a study; return rows, numbers of the report, and notes."""
    lower = name.lower()
    packed = next((ending for ending in _PACKED if lower.endswith(ending)), "")
    if not lower.removesuffix(packed).endswith(_ENDINGS):
        raise DataError(
            f"{name}: {kind} must be one of {', '.join(_ENDINGS)}, optionally packed with "
            f"{', '.join(_PACKED)}"
        )
    if kind == "topics":
        topics = read_topics(path, name=name)
        return topics.height, put_topics(session, study_id, topics), []
    documents = read_documents(path, name=name)
    frame = documents.rename({"text": "body"})
    if "kind" not in frame.columns:
        frame = frame.with_columns(pl.lit("text").alias("kind"))
    frame = frame.select("doc_id", "kind", "title", "body")
    return frame.height, put_documents(session, study_id, frame), note_blank(documents)


def _read_grades_or_run(
    session: Session, study_id: str, kind: str, path: Path, name: str
) -> tuple[int, dict[str, int], list[str]]:
    """Read a run, qrels or gold into a study; return rows, numbers of the report, and notes."""
    if kind == "run":
        runs = read_runs(path, name=name)
        frame = name_by_file(runs, stem(name)).frame
        state = put_file(session, study_id, "run", stem(name), frame, runs.notes)
        return len(frame), {state: 1}, list(runs.notes)
    grades: Qrels = read_qrels(path, name=name)
    if kind == "gold":
        return len(grades), put_gold(session, study_id, grades), list(grades.notes)
    state = put_file(session, study_id, "qrels", stem(name), grades.frame, grades.notes)
    return len(grades), {state: 1}, list(grades.notes)
