"""Import one uploaded file into a study, and report what was read and what was left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from venire.errors import DataError, UnknownName
from venire.formats import read_qrels, read_runs
from venire.formats.collection import note_blank, read_documents, read_topics
from venire.formats.file_format import list_table_endings
from venire.formats.run_files import name_by_file
from venire.formats.source import stem
from venire.server.studies.documents import put_documents
from venire.server.studies.files import put_file
from venire.server.studies.gold import put_gold
from venire.server.studies.studies import get_study
from venire.server.studies.tasks import sync_study
from venire.server.studies.topics import put_topics
from venire.tables.qrels import Qrels

UPLOAD_KINDS = ("topics", "documents", "run", "qrels", "gold")
_PACKED = (".gz", ".xz", ".zst")
Report = dict[str, Any]


def import_upload(session: Session, study_id: str, kind: str, path: Path, name: str) -> Report:
    """Import a file into a study; the suffix of ``name``, its original name, is the format.

    Returns
    -------
    dict
        ``kind, name, rows`` (read), ``added, changed, unchanged, left_out`` and ``notes``.
    """
    get_study(session, study_id)
    if kind not in UPLOAD_KINDS:
        raise UnknownName("kind of file", kind, UPLOAD_KINDS)
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
            f"{report['left_out']:,} rows left out: Their topic or document is not in the study. "
            "Add it, then upload the file again.",
        ]
    if kind == "gold":
        sync_study(session, study_id)
    return report


def _read_table(
    session: Session, study_id: str, kind: str, path: Path, name: str
) -> tuple[int, dict[str, int], list[str]]:
    """Read topics or documents into a study; return rows, numbers of the report, and notes."""
    lower = name.lower()
    packed = next((ending for ending in _PACKED if lower.endswith(ending)), "")
    endings = list_table_endings()
    if not lower.removesuffix(packed).endswith(endings):
        raise DataError(
            f"{name}: unknown file extension for {kind}. Use {', '.join(endings)}, optionally "
            f"compressed ({', '.join(_PACKED)})."
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
