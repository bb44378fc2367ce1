"""Topics of a study: add, list and find them."""

from __future__ import annotations

from typing import Any

import polars as pl
from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from venire.errors import NotFound
from venire.server.store.judging import Judgment
from venire.server.store.studies import Pair, Topic
from venire.server.studies.listing import PAGE_ROWS, Row, contains
from venire.server.studies.pairs import insert_rows


def put_topics(session: Session, study_id: str, topics: pl.DataFrame) -> dict[str, int]:
    """Add topics (``query_id, title, description, narrative``); known ones are renewed."""
    known = {
        topic.query_id: topic
        for topic in session.scalars(select(Topic).where(Topic.study_id == study_id))
    }
    counts = {"added": 0, "changed": 0, "unchanged": 0}
    new: list[dict[str, Any]] = []
    for row in topics.iter_rows(named=True):
        values = {part: row.get(part) or "" for part in ("title", "description", "narrative")}
        old = known.get(row["query_id"])
        if old is None:
            place = len(known) + len(new)
            new.append(
                {"study_id": study_id, "query_id": row["query_id"], "position": place, **values}
            )
        elif all(getattr(old, part) == value for part, value in values.items()):
            counts["unchanged"] += 1
        else:
            counts["changed"] += 1
            for part, value in values.items():
                setattr(old, part, value)
    insert_rows(session, Topic, new)
    counts["added"] = len(new)
    return counts


def list_topics(
    session: Session, study_id: str, search: str = "", offset: int = 0, limit: int = PAGE_ROWS
) -> list[Row]:
    """Return topics in order, with the numbers of pooled pairs and of judgments per topic."""
    pooled = select(func.count()).where(Pair.topic_id == Topic.id, Pair.pooled).scalar_subquery()
    judged = (
        select(func.count())
        .select_from(Judgment)
        .join(Pair, Pair.id == Judgment.pair_id)
        .where(Pair.topic_id == Topic.id, Judgment.label.is_not(None))
        .scalar_subquery()
    )
    query = select(Topic.query_id, Topic.title, Topic.description, pooled, judged).where(
        Topic.study_id == study_id
    )
    if search:
        query = query.where(
            or_(contains(Topic.query_id, search), contains(Topic.title, search))
        )  # fmt: skip
    names = ("query_id", "title", "description", "pool", "judgments")
    rows = session.execute(query.order_by(Topic.position).offset(offset).limit(limit))
    return [dict(zip(names, row, strict=True)) for row in rows]


def find_topic(session: Session, study_id: str, query_id: str) -> Topic:
    """Return the topic with that ID in a study."""
    query = select(Topic).where(Topic.study_id == study_id, Topic.query_id == query_id)
    topic = session.scalar(query)
    if topic is None:
        raise NotFound("topic", query_id)
    return topic


def read_titles(session: Session, study_id: str) -> pl.DataFrame:
    """Return the titles of the topics, in the order of the study: ``query_id, title``."""
    query = select(Topic.query_id, Topic.title).where(Topic.study_id == study_id)
    rows = session.execute(query.order_by(Topic.position, Topic.id))
    schema = {"query_id": pl.String, "title": pl.String}
    return pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")
