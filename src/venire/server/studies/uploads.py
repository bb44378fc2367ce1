"""One file at a time into a study: read, checked, put in, and what came of it said."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import BadSetting, Conflict, DataError, MissingColumns, NotFound
from venire.formats import read_qrels, read_runs
from venire.formats.collection import read_collection
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
    with tempfile.TemporaryDirectory() as folder:
        if kind in ("topics", "documents"):
            report["rows"], found, notes = _table(session, study_id, kind, path, plain, folder)
        else:
            # The name of the file is what errors and runs are named by.
            copy = Path(folder) / plain
            shutil.copyfile(path, copy)
            try:
                report["rows"], found, notes = _grades_or_run(session, study_id, kind, copy)
            except DataError as error:
                raise _named(error, copy, plain) from None
    report |= counts | found
    report["notes"] = notes
    if report["left_out"]:
        report["notes"] = [
            *notes,
            f"{report['left_out']:,} rows left out: their topic or document is not in the study",
        ]
    if kind == "gold":
        sync_study(session, study_id)
    return report


def _named(error: DataError, path: Path, name: str) -> DataError:
    return DataError(as_uploaded(error).replace(str(path), name))


def as_uploaded(error: DataError) -> str:
    """What an error says, where a file was put in on a page: columns are named in the file."""
    if not isinstance(error, MissingColumns):
        return str(error)
    return error.render(hint="Rename the columns in the file.")


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


def _table(
    session: Session, study_id: str, kind: str, path: Path, name: str, folder: str
) -> tuple[int, dict[str, int], list[str]]:
    lower = name.lower()
    packed = next((one for one in _PACKED if lower.endswith(one)), "")
    ending = next((one for one in _ENDINGS if lower.removesuffix(packed).endswith(one)), None)
    if ending is None:
        raise DataError(f"{name}: {kind} come as {', '.join(_ENDINGS)}, packed where you like")
    copy = Path(folder) / f"{kind}{ending}{packed}"
    shutil.copyfile(path, copy)
    try:
        found = read_collection(folder)
    except DataError as error:
        raise _named(error, copy, name) from None
    notes = [note for note in found.notes if not note.startswith("no ")]
    if kind == "topics":
        return found.topics.height, put_topics(session, study_id, found.topics), notes
    frame = found.documents.rename({"text": "body"})
    if "kind" not in frame.columns:
        frame = frame.with_columns(pl.lit("text").alias("kind"))
    frame = frame.select("doc_id", "kind", "title", "body")
    return frame.height, put_documents(session, study_id, frame), notes


def _grades_or_run(
    session: Session, study_id: str, kind: str, path: Path
) -> tuple[int, dict[str, int], list[str]]:
    if kind == "run":
        runs = read_runs(path)
        name = stem(path.name)
        frame = name_by_file(runs, name).frame
        word = put_file(session, study_id, "run", name, frame, runs.notes)
        return len(frame), {word: 1}, list(runs.notes)
    grades: Qrels = read_qrels(path)
    if kind == "gold":
        return len(grades), put_gold(session, study_id, grades), list(grades.notes)
    word = put_file(session, study_id, "qrels", stem(path.name), grades.frame, grades.notes)
    return len(grades), {word: 1}, list(grades.notes)
