"""A study from a collection folder, and as a collection folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import DataError
from venire.formats.run_files import name_by_file
from venire.formats.study_folder import DOCUMENT_COLUMNS, StudyFolder
from venire.formats.study_settings import StudySettings
from venire.server.store.studies import Document, StudyFile, Topic
from venire.server.studies.documents import put_documents
from venire.server.studies.files import put_file, read_qrels, read_runs
from venire.server.studies.gold import put_gold, read_gold_grades
from venire.server.studies.listing import Row
from venire.server.studies.pictures import store_pictures
from venire.server.studies.studies import change_study, get_study
from venire.server.studies.topics import put_topics


def import_folder(
    session: Session,
    study_id: str,
    folder: StudyFolder,
    *,
    media: Path | None = None,
    by: str | None = None,
) -> list[Row]:
    """Import a collection folder into a study; a second import changes nothing.

    Pictures are copied into ``media`` (see :func:`keep_pictures`, which a server calls before
    the transaction, so that nobody's judgment waits for it). What the folder does not have stays
    in the study as it was.

    Returns
    -------
    list of dict
        The report: ``what, read, added, changed, unchanged, left_out, reason``, and ``kind`` for
        a run or qrels, which are stored whole; first the lines of the files, then what was put
        into the study.

    Raises
    ------
    Conflict
        The scale would change under judgments.
    DataError
        There are pictures and no place for them; gold with a grade that is not on the scale.
    """
    folder = store_pictures(folder, media)
    rows = [_make_row(entry.file, read=entry.read, left_out=entry.left_out, reason=entry.reason)
            for entry in folder.report]  # fmt: skip
    if folder.settings:
        _import_settings(session, study_id, folder.settings, by)
        name = get_study(session, study_id).name
        other = folder.settings.get("name", name) != name
        why = (
            f"The study keeps its name {name!r} (folder: {folder.settings['name']!r})"
            if other
            else ""
        )
        rows.append(_make_row("settings", read=len(folder.settings), reason=why))
    rows.append(_make_row("topics", **put_topics(session, study_id, folder.topics)))
    rows.append(_make_row("documents", **put_documents(session, study_id, folder.documents)))
    for kind, tables in (("run", folder.runs), ("qrels", folder.qrels)):
        for name, table in tables.items():
            frame = table.frame
            if kind == "run" and set(frame["run_id"].unique()) != {name}:
                frame = name_by_file(table, name).frame  # type: ignore[arg-type]
            state = put_file(session, study_id, kind, name, frame, table.notes)
            rows.append(_make_row(f"{kind} {name}", kind=kind, read=frame.height, **{state: 1}))
    if folder.gold is not None:
        facts = put_gold(session, study_id, folder.gold)
        reason = (
            "Their topic or document is not in the study. Add it first."
            if facts["left_out"]
            else ""
        )
        rows.append(_make_row("gold", reason=reason, **facts))
    return rows


def _make_row(what: str, **values: Any) -> Row:
    numbers = dict.fromkeys(("read", "added", "changed", "unchanged", "left_out"), 0)
    return {"what": what, **numbers, "reason": "", **values}


def _import_settings(
    session: Session, study_id: str, values_read: Mapping[str, Any], by: str | None
) -> None:
    study = get_study(session, study_id)
    settings: Row = {}
    if "scale" in values_read:
        scale = values_read["scale"]
        values = [float(value) for value in scale["values"]]
        if any(value != int(value) for value in values):
            raise DataError("`scale.values` must be whole numbers. Change the scale.")
        settings["grades"] = [
            {"value": int(value), "name": str(name), "definition": text}
            for value, name, text in zip(values, scale["names"], scale["definitions"], strict=True)
        ]
        settings["relevant_from"] = int(scale["relevant_from"])
    for name in ("languages", "cannot_judge"):
        if name in values_read:
            settings[name] = list(values_read[name])
    if "show_links" in values_read:
        settings["show_links"] = values_read["show_links"]
    if "campaign" in values_read:
        settings["campaign"] = dict(values_read["campaign"])
    before = StudySettings.of(study.settings).to_dict()
    after = StudySettings.of({**before, **settings}).to_dict()
    same = before == after and values_read.get("instructions") in (None, study.instructions)
    if not same:
        change_study(
            session, study_id, by,
            settings=settings, instructions=values_read.get("instructions"),
        )  # fmt: skip


def read_folder(session: Session, study_id: str, media: Path | None = None) -> StudyFolder:
    """Return a study as a collection folder; importing it gives the same study."""
    study = get_study(session, study_id)
    settings = StudySettings.of(study.settings)
    topics = session.execute(
        select(Topic.query_id, Topic.title, Topic.description, Topic.narrative)
        .where(Topic.study_id == study_id)
        .order_by(Topic.position, Topic.id)
    ).all()
    documents = session.execute(
        select(Document.doc_id, Document.kind, Document.title, Document.body, Document.media)
        .where(Document.study_id == study_id)
        .order_by(Document.id)
    ).all()
    names = ("query_id", "title", "description", "narrative")
    files = session.execute(
        select(StudyFile.kind, StudyFile.name)
        .where(StudyFile.study_id == study_id)
        .order_by(StudyFile.name)
    ).all()
    gold = read_gold_grades(session, study_id)
    return StudyFolder(
        _make_texts([tuple(row) for row in topics], names),
        _make_texts([tuple(row) for row in documents], DOCUMENT_COLUMNS),
        {name: read_runs(session, study_id, [name]) for kind, name in files if kind == "run"},
        {name: read_qrels(session, study_id, name) for kind, name in files if kind == "qrels"},
        gold if len(gold) else None,
        _make_settings(study.name, study.instructions, settings),
        (),
        media,
    )


def _make_texts(rows: list[tuple[Any, ...]], names: tuple[str, ...]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _make_settings(name: str, instructions: str, settings: StudySettings) -> Row:
    out: Row = {
        "name": name,
        "instructions": instructions,
        "languages": settings.languages,
        "cannot_judge": settings.cannot_judge,
        "show_links": settings.show_links,
        "scale": {
            "values": settings.values,
            "names": [grade["name"] for grade in settings.grades],
            "definitions": [grade.get("definition", "") for grade in settings.grades],
            "relevant_from": settings.relevant_from,
        },
    }
    return out | ({"campaign": settings.campaign} if settings.campaign else {})
