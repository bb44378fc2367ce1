"""Gold of a study: add it, list it, switch it on and off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import DataError, NotFound
from venire.formats.study_settings import StudySettings
from venire.server.store.studies import Document, Gold, Pair, Topic
from venire.server.store.work import Decision
from venire.server.studies.listing import PAGE_ROWS, Row
from venire.server.studies.pairs import ensure_pairs
from venire.server.studies.studies import get_study
from venire.server.studies.tasks import sync_study
from venire.tables.qrels import Qrels


def put_gold(
    session: Session, study_id: str, gold: Qrels, notes: Mapping[tuple[str, str], str] | None = None
) -> dict[str, Any]:
    """Add gold; a pair whose topic or document is not in the study is left out and counted."""
    settings = StudySettings.of(get_study(session, study_id).settings)
    frame = gold.frame.select("query_id", "doc_id", "relevance")
    strange = frame.filter(
        ~pl.col("relevance").cast(pl.Float64).is_in([float(v) for v in settings.values])
    )
    if strange.height:
        row = strange.row(0, named=True)
        raise DataError(
            f"Gold {row['query_id']}/{row['doc_id']}: grade {row['relevance']:g} is not on the "
            f"scale {', '.join(map(str, settings.values))}",
            hint="Correct the grade, or change the scale of the study.",
        )
    pairs, left = ensure_pairs(session, study_id, frame)
    known = {
        gold_row.pair_id: gold_row
        for gold_row in session.scalars(select(Gold).where(Gold.study_id == study_id))
    }
    added = changed = 0
    for query_id, doc_id, relevance in frame.iter_rows():
        pair_id = pairs.get((query_id, doc_id))
        if pair_id is None:
            continue
        note = (notes or {}).get((query_id, doc_id), "")
        old = known.get(pair_id)
        if old is None:
            session.add(Gold(study_id=study_id, pair_id=pair_id, grade=int(relevance), note=note))
            added += 1
        elif old.grade != int(relevance) or (note and old.note != note) or not old.active:
            old.grade, old.active = int(relevance), True
            old.note = note or old.note
            changed += 1
    session.flush()
    return {"added": added, "changed": changed, "left_out": left}


def list_gold(
    session: Session, study_id: str, offset: int = 0, limit: int = PAGE_ROWS
) -> list[Row]:
    """Return gold documents with their grades, and whether each is active."""
    query = (
        select(
            Gold.id, Topic.query_id, Topic.title, Document.doc_id, Document.title,
            Gold.grade, Gold.note, Gold.active, Gold.practice,
        )
        .join(Pair, Pair.id == Gold.pair_id)
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Document, Document.id == Pair.document_id)
        .where(Gold.study_id == study_id)
        .order_by(Topic.position, Gold.id)
        .offset(offset)
        .limit(limit)
    )  # fmt: skip
    names = (
        "gold_id",
        "query_id",
        "topic",
        "doc_id",
        "document",
        "grade",
        "note",
        "active",
        "practice",
    )
    return [dict(zip(names, row, strict=True)) for row in session.execute(query)]


def set_gold_active(
    session: Session, study_id: str, gold_id: int, active: bool, by: str | None
) -> None:
    """Set whether a gold document is used in batches; update open campaigns at once."""
    gold = session.get(Gold, gold_id)
    if gold is None or gold.study_id != study_id:
        raise NotFound("gold", str(gold_id))
    gold.active = active
    session.add(
        Decision(
            study_id=study_id,
            kind="gold",
            subject=str(gold_id),
            verdict="active" if active else "resting",
            facts={},
            decided_by=by,
        )
    )
    session.flush()
    sync_study(session, study_id)


def read_gold_grades(session: Session, study_id: str) -> Qrels:
    """Return the active gold of a study as qrels."""
    rows = session.execute(
        select(Topic.query_id, Document.doc_id, Gold.grade)
        .join(Pair, Pair.id == Gold.pair_id)
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Document, Document.id == Pair.document_id)
        .where(Gold.study_id == study_id, Gold.active)
        .order_by(Gold.id)
    ).all()
    schema = {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64}
    return Qrels(pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row"))
