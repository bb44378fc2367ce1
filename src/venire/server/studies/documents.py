"""Documents of a study: add, list and find them."""

from __future__ import annotations

import hashlib
from typing import Any

import polars as pl
from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from venire.errors import NotFound
from venire.server.store.base import ROWS_PER_STATEMENT
from venire.server.store.studies import Document
from venire.server.studies.listing import PAGE_ROWS, Row, contains
from venire.server.studies.pairs import insert_rows


def put_documents(session: Session, study_id: str, documents: pl.DataFrame) -> dict[str, int]:
    """Add documents (``doc_id, kind, title, body, path``); text that changed is replaced.

    A document that comes as an id only never takes the text from one that has some.
    """
    counts = {"added": 0, "changed": 0, "unchanged": 0}
    for part in documents.iter_slices(ROWS_PER_STATEMENT):
        ids = part["doc_id"].to_list()
        rows = session.execute(
            select(
                Document.id,
                Document.doc_id,
                Document.kind,
                Document.title,
                Document.body,
                Document.media,
            ).where(Document.study_id == study_id, Document.doc_id.in_(ids))
        )
        known = {row.doc_id: row for row in rows}
        new: list[dict[str, Any]] = []
        for row in part.iter_rows(named=True):
            values = {
                "kind": row.get("kind") or "text",
                "title": row.get("title") or "",
                "body": row.get("body"),
                "media": row.get("path"),
            }
            old = known.get(row["doc_id"])
            if old is None:
                new.append({"study_id": study_id, "doc_id": row["doc_id"], **values})
            elif (
                all(getattr(old, name) == value for name, value in values.items())
                or (values["body"] is None and values["media"] is None)
            ):  # fmt: skip
                counts["unchanged"] += 1
            else:
                counts["changed"] += 1
                session.execute(update(Document).where(Document.id == old.id).values(**values))
        insert_rows(session, Document, new)
        counts["added"] += len(new)
    return counts


def list_documents(
    session: Session, study_id: str, search: str = "", offset: int = 0, limit: int = PAGE_ROWS
) -> list[Row]:
    """Return documents in order, without their text."""
    query = select(
        Document.doc_id,
        Document.kind,
        Document.title,
        (Document.body.is_not(None) | Document.media.is_not(None)),
    ).where(Document.study_id == study_id)
    if search:
        query = query.where(
            or_(contains(Document.doc_id, search), contains(Document.title, search))
        )
    names = ("doc_id", "kind", "title", "content")
    rows = session.execute(query.order_by(Document.id).offset(offset).limit(limit))
    return [dict(zip(names, row, strict=True)) for row in rows]


def find_document(session: Session, study_id: str, doc_id: str) -> Document:
    """Return the document with that ID in a study, with its text."""
    from sqlalchemy.orm import undefer

    query = select(Document).where(Document.study_id == study_id, Document.doc_id == doc_id)
    document = session.scalar(query.options(undefer(Document.body)))
    if document is None:
        raise NotFound("document", doc_id)
    return document


def list_encodable(session: Session, study_id: str, reads: str) -> pl.DataFrame:
    """Return the documents that an encoder of images, or of texts, can read.

    Returns
    -------
    polars.DataFrame
        ``doc_id``, ``image`` (a key in the media folder) or ``title`` and ``text``, and
        ``source``, a hash of what is read: vectors of a document that changed are made anew.
    """
    query = select(Document.doc_id, Document.title, Document.body, Document.media)
    query = query.where(Document.study_id == study_id).order_by(Document.id)
    image = reads == "image"
    readable = Document.media.is_not(None) if image else Document.body.is_not(None)
    rows = [
        (name, media, media) if image else (name, title, body, _hash(f"{title} {body}"))
        for name, title, body, media in session.execute(query.where(readable))
    ]
    names = ("doc_id", "image", "source") if image else ("doc_id", "title", "text", "source")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
