"""Pairs of a topic and a document: create, find and list them."""

from __future__ import annotations

from typing import Any

import polars as pl
from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from venire.errors import NotFound
from venire.server.store.base import split_rows
from venire.server.store.judging import Judgment
from venire.server.store.studies import Document, Gold, Pair, Topic
from venire.server.studies.listing import Row


def ensure_pairs(
    session: Session, study_id: str, frame: pl.DataFrame
) -> tuple[dict[tuple[str, str], int], int]:
    """Return the ID of each pair, created if needed, and the number of unknown pairs."""
    topics = dict(
        session.execute(select(Topic.query_id, Topic.id).where(Topic.study_id == study_id)).all()
    )
    wanted = frame.select("query_id", "doc_id").unique(maintain_order=True)
    doc_ids = wanted["doc_id"].unique().to_list()
    documents: dict[str, int] = {}
    for part in split_rows(doc_ids):
        documents |= dict(
            session.execute(
                select(Document.doc_id, Document.id).where(
                    Document.study_id == study_id, Document.doc_id.in_(part)
                )
            ).all()
        )
    known = {
        (topic, document): pair
        for topic, document, pair in session.execute(
            select(Pair.topic_id, Pair.document_id, Pair.id).where(Pair.study_id == study_id)
        )
    }
    keys = [
        (query_id, doc_id, topics.get(query_id), documents.get(doc_id))
        for query_id, doc_id in wanted.iter_rows()
    ]
    new = [
        {"study_id": study_id, "topic_id": topic, "document_id": document}
        for _, _, topic, document in keys
        if topic is not None and document is not None and (topic, document) not in known
    ]
    insert_rows(session, Pair, new)
    if new:
        known |= {
            (topic, document): pair
            for topic, document, pair in session.execute(
                select(Pair.topic_id, Pair.document_id, Pair.id).where(Pair.study_id == study_id)
            )
        }
    pair_ids = {
        (query_id, doc_id): known[topic, document]
        for query_id, doc_id, topic, document in keys
        if topic is not None and document is not None
    }
    return pair_ids, wanted.height - len(pair_ids)


def insert_rows(session: Session, table: Any, rows: list[dict[str, Any]]) -> None:
    """Insert many rows into a table."""
    for part in split_rows(rows):
        session.execute(insert(table), part)
    session.flush()


def find_pair(session: Session, study_id: str, query_id: str, doc_id: str) -> int:
    """Return the ID of a pair of a topic and a document."""
    pair_id = session.scalar(
        select(Pair.id)
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Document, Document.id == Pair.document_id)
        .where(Pair.study_id == study_id, Topic.query_id == query_id, Document.doc_id == doc_id)
    )
    if pair_id is None:
        raise NotFound("pair", f"{query_id} {doc_id}")
    return pair_id


def get_pair(session: Session, study_id: str, pair_id: int) -> Pair:
    """Return the pair of that ID in a study."""
    pair = session.get(Pair, pair_id)
    if pair is None or pair.study_id != study_id:
        raise NotFound("pair", str(pair_id))
    return pair


def read_pair_names(
    session: Session, study_id: str, pairs: list[int]
) -> dict[int, tuple[str, str]]:
    """Return the query ID and document ID of each pair, by pair ID."""
    names: dict[int, tuple[str, str]] = {}
    for part in split_rows(pairs):
        rows = session.execute(
            select(Pair.id, Topic.query_id, Document.doc_id)
            .join(Topic, Topic.id == Pair.topic_id)
            .join(Document, Document.id == Pair.document_id)
            .where(Pair.study_id == study_id, Pair.id.in_(part))
        )
        names |= {pair: (query_id, doc_id) for pair, query_id, doc_id in rows}
    return names


def list_pairs(
    session: Session, study_id: str, *, query_id: str | None = None, doc_id: str | None = None
) -> list[Row]:
    """Return the pairs of a topic, or of a document, with the number of judgments of each."""
    judged = (
        select(Judgment.pair_id, func.count().label("n"))
        .where(Judgment.label.is_not(None))
        .group_by(Judgment.pair_id)
        .subquery()
    )
    query = (
        select(
            Topic.query_id, Topic.title, Document.doc_id, Document.title, Pair.pooled, Pair.rank,
            func.coalesce(judged.c.n, 0), Gold.grade,
        )
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Document, Document.id == Pair.document_id)
        .outerjoin(judged, judged.c.pair_id == Pair.id)
        .outerjoin(Gold, (Gold.pair_id == Pair.id) & Gold.active)
        .where(Pair.study_id == study_id)
    )  # fmt: skip
    if query_id is not None:
        query = query.where(Topic.query_id == query_id)
    if doc_id is not None:
        query = query.where(Document.doc_id == doc_id)
    names = ("query_id", "topic", "doc_id", "document", "pooled", "rank", "judgments", "gold")
    rows = session.execute(query.order_by(Pair.pooled.desc(), Pair.rank, Pair.id).limit(1000))
    return [dict(zip(names, row, strict=True)) for row in rows]
