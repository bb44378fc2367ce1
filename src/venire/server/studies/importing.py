"""A collection folder into a study; a study out as a collection folder."""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import DataError
from venire.formats.run_files import name_by_file
from venire.formats.study_folder import DOCUMENT_COLUMNS, Entry, StudyFolder
from venire.formats.study_settings import StudySettings
from venire.progress import Event, Progress, silent
from venire.server.store.studies import Document, StudyFile, Topic
from venire.server.studies.results import gold_grades
from venire.server.studies.studies import (
    change_settings,
    get_study,
    put_documents,
    put_file,
    put_gold,
    put_topics,
    read_qrels,
    read_runs,
)

MOST_PIXELS = 40_000_000
"""Larger pictures are refused: unpacked they would take more memory than a server has to spare."""
THUMBNAIL = 320
_SAYS = {"exif", "xmp", "comment", "photoshop", "XML:com.adobe.xmp", "Raw profile type exif"}
_SUFFIX = {"JPEG": ".jpg", "PNG": ".png", "GIF": ".gif", "WEBP": ".webp"}
Row = dict[str, Any]


def import_folder(
    session: Session,
    study_id: str,
    folder: StudyFolder,
    *,
    media: Path | None = None,
    by: str | None = None,
) -> list[Row]:
    """Put what a folder holds into a study; doing it again changes nothing.

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
    folder = keep_pictures(folder, media)
    rows = [_row(one.file, read=one.read, left_out=one.left_out, reason=one.reason)
            for one in folder.report]  # fmt: skip
    if folder.settings:
        _settings(session, study_id, folder.settings, by)
        name = get_study(session, study_id).name
        other = folder.settings.get("name", name) != name
        why = f"the study stays {name!r}, not {folder.settings['name']!r}" if other else ""
        rows.append(_row("settings", read=len(folder.settings), reason=why))
    rows.append(_row("topics", **put_topics(session, study_id, folder.topics)))
    rows.append(_row("documents", **put_documents(session, study_id, folder.documents)))
    for kind, tables in (("run", folder.runs), ("qrels", folder.qrels)):
        for name, table in tables.items():
            frame = table.frame
            if kind == "run" and set(frame["run_id"].unique()) != {name}:
                frame = name_by_file(table, name).frame  # type: ignore[arg-type]
            state = put_file(session, study_id, kind, name, frame, table.notes)
            rows.append(_row(f"{kind} {name}", kind=kind, read=frame.height, **{state: 1}))
    if folder.gold is not None:
        facts = put_gold(session, study_id, folder.gold)
        reason = "their topic or document is not in the study" if facts["left_out"] else ""
        rows.append(_row("gold", reason=reason, **facts))
    return rows


def _row(what: str, **values: Any) -> Row:
    numbers = dict.fromkeys(("read", "added", "changed", "unchanged", "left_out"), 0)
    return {"what": what, **numbers, "reason": "", **values}


def _settings(session: Session, study_id: str, given: Mapping[str, Any], by: str | None) -> None:
    study = get_study(session, study_id)
    settings: Row = {}
    if "scale" in given:
        scale = given["scale"]
        values = [float(value) for value in scale["values"]]
        if any(value != int(value) for value in values):
            raise DataError("the grades of a study are whole numbers; change scale.values")
        settings["grades"] = [
            {"value": int(value), "name": str(name), "definition": text}
            for value, name, text in zip(values, scale["names"], scale["definitions"], strict=True)
        ]
        settings["relevant_from"] = int(scale["relevant_from"])
    for name in ("languages", "cannot_judge"):
        if name in given:
            settings[name] = list(given[name])
    if "show_links" in given:
        settings["show_links"] = given["show_links"]
    if "campaign" in given:
        settings["campaign"] = dict(given["campaign"])
    before = StudySettings.of(study.settings).to_dict()
    after = StudySettings.of({**before, **settings}).to_dict()
    same = before == after and given.get("instructions") in (None, study.instructions)
    if not same:
        change_settings(
            session, study_id, by,
            settings=settings, instructions=given.get("instructions"),
        )  # fmt: skip


def keep_pictures(
    folder: StudyFolder, media: Path | None, progress: Progress = silent
) -> StudyFolder:
    """Copy the pictures of a folder into ``media``; the folder with their places there.

    Each is named by the hash of its content, with a thumbnail beside it. One that cannot be
    kept is left out, and the report says why. A folder whose pictures are kept already comes
    back as it is.

    Raises
    ------
    DataError
        There are pictures and no place for them.
    """
    paths = folder.documents["path"].drop_nulls().unique().sort().to_list()
    if not paths or (media is not None and folder.root == media):
        return folder
    if media is None or folder.root is None:
        raise DataError("the folder has pictures: say where their copies are to be kept")
    keys: dict[str, str] = {}
    faults: list[Entry] = []
    for at, path in enumerate(paths, 1):
        try:
            keys[path] = keep_picture((folder.root / path).read_bytes(), media)
        except (DataError, OSError) as error:
            faults.append(Entry(path, 0, 1, f"{path}: {error}"))
        progress(Event("copying pictures", at, len(paths)))
    lost = [one.file for one in faults]
    place = pl.col("path").replace_strict(keys, default=None, return_dtype=pl.String)
    documents = folder.documents.filter(~pl.col("path").fill_null("").is_in(lost))
    return replace(
        folder,
        documents=documents.with_columns(place.alias("path")),
        report=(*folder.report, *faults),
        root=media,
    )


def keep_picture(content: bytes, media: Path) -> str:
    """Keep a picture under the hash of its content, and a thumbnail; its key.

    A picture with data of a camera (EXIF, XMP, comments: also the place it was taken) is turned
    as they say and kept without them; any other is kept as it is. The key is ``ab/abcdef.jpg``
    within ``media``; the thumbnail is ``ab/abcdef.thumb.webp``.

    Raises
    ------
    DataError
        It is no picture, has too many pixels, or is of a kind that browsers do not show.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            # Our own limit is stricter than what the warning is about.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=list(_SUFFIX)) as opened:
                if opened.width * opened.height > MOST_PIXELS:
                    raise DataError(
                        f"has {opened.width:,} x {opened.height:,} pixels; at most "
                        f"{MOST_PIXELS / 1e6:.0f} million are taken"
                    )
                kind = opened.format or "PNG"
                opened.load()
                said = _SAYS & set(opened.info) or getattr(opened, "text", None)
                if kind != "GIF" and (said or opened.getexif()):
                    content = _bytes(ImageOps.exif_transpose(opened), kind)
                key = hashlib.sha256(content).hexdigest()
                place = media / key[:2]
                name = f"{key}{_SUFFIX[kind]}"
                if not (place / name).exists():
                    place.mkdir(parents=True, exist_ok=True)
                    small = ImageOps.exif_transpose(opened).convert("RGBA")
                    small.thumbnail((THUMBNAIL, THUMBNAIL))
                    _write(place / f"{key}.thumb.webp", _bytes(small, "WEBP"))
                    _write(place / name, content)
    except (UnidentifiedImageError, OSError, SyntaxError, EOFError) as error:
        known = ", ".join(_SUFFIX)
        raise DataError(f"cannot be read as one of {known}: {error}") from None
    except Image.DecompressionBombError as error:
        raise DataError(f"has too many pixels: {error}") from None
    return f"{key[:2]}/{name}"


def _bytes(picture: Any, kind: str) -> bytes:
    """A picture without what the camera said of itself; its colours stay what they were."""
    out = io.BytesIO()
    more = {"icc_profile": picture.info.get("icc_profile")}
    if kind == "JPEG" and picture.mode not in ("RGB", "L", "CMYK"):
        picture = picture.convert("RGB")
    for word in [*_SAYS, "icc_profile"]:
        picture.info.pop(word, None)
    picture.save(out, kind, quality=90, **more)
    return out.getvalue()


def _write(path: Path, content: bytes) -> None:
    if not isinstance(path, Path):  # an object store keeps a file whole or not at all
        path.write_bytes(content)
        return
    staged = path.with_name(f".{path.name}.part")
    staged.write_bytes(content)
    staged.replace(path)


def as_folder(session: Session, study_id: str, media: Path | None = None) -> StudyFolder:
    """A study as a collection folder, to be written: importing it gives the same study."""
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
    gold = gold_grades(session, study_id)
    return StudyFolder(
        _texts([tuple(row) for row in topics], names),
        _texts([tuple(row) for row in documents], DOCUMENT_COLUMNS),
        {name: read_runs(session, study_id, [name]) for kind, name in files if kind == "run"},
        {name: read_qrels(session, study_id, name) for kind, name in files if kind == "qrels"},
        gold if len(gold) else None,
        _toml(study.name, study.instructions, settings),
        (),
        media,
    )


def _texts(rows: list[tuple[Any, ...]], names: tuple[str, ...]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _toml(name: str, instructions: str, settings: StudySettings) -> Row:
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
