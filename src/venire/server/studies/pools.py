"""The pool of a study: choose the pairs to judge, and build the pool again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from venire.errors import DataError
from venire.formats.study_settings import StudySettings
from venire.pooling.base import Lists, Pool
from venire.pooling.statistics import count_by_run, summarise
from venire.pooling.strategies import build_strategy
from venire.server.store.base import split_rows
from venire.server.store.judging import Judgment
from venire.server.store.studies import Document, Gold, Pair, Topic
from venire.server.store.work import Decision
from venire.server.studies.files import read_qrels, read_runs
from venire.server.studies.pairs import ensure_pairs
from venire.server.studies.studies import count_contents, get_study
from venire.server.studies.tasks import sync_study

ALL_PAIRS = "all"
FROM_QRELS = "qrels"


def choose_pool(
    session: Session, study_id: str, name: str, settings: Mapping[str, Any], seed: int = 0
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the pairs that a strategy would choose, with statistics; change nothing.

    ``name`` is a strategy of :mod:`venire.pooling.strategies`; ``all``, every document for every
    topic; or ``qrels``, the pairs of qrels named in ``settings['qrels']``.

    Returns
    -------
    frame : polars.DataFrame
        ``query_id, doc_id, rank``.
    facts : dict
        ``pairs, topics, documents_per_topic``, for runs also ``by_run`` and the statistics.
    """
    get_study(session, study_id)
    facts: dict[str, Any] = {}
    if name == ALL_PAIRS:
        frame = _choose_all(session, study_id)
    elif name == FROM_QRELS:
        wanted = str(settings.get("qrels") or "")
        grades = read_qrels(session, study_id, wanted)
        frame = grades.frame.select("query_id", "doc_id", pl.lit(1, pl.Int64).alias("rank"))
    else:
        pool, facts = _choose_from_runs(session, study_id, name, settings, seed)
        frame = pool.to_judge.select("query_id", "doc_id", pl.col("order").alias("rank"))
    if frame.is_empty():
        raise DataError("The pool would be empty. Change the settings of the pool.")
    topics = frame["query_id"].n_unique()
    facts = {
        "strategy": name,
        "pairs": frame.height,
        "topics": topics,
        "documents_per_topic": frame.height / topics,
        **facts,
    }
    return frame, facts


def _choose_all(session: Session, study_id: str) -> pl.DataFrame:
    size = count_contents(session, study_id)
    pairs = size["topics"] * size["documents"]
    if pairs > 1_000_000:
        raise DataError(
            f"All topics with all documents are {pairs:,} pairs (at most 1,000,000). Choose "
            "another strategy."
        )
    topics = session.scalars(
        select(Topic.query_id).where(Topic.study_id == study_id).order_by(Topic.position)
    )
    documents = session.scalars(
        select(Document.doc_id).where(Document.study_id == study_id).order_by(Document.id)
    )
    left = pl.DataFrame({"query_id": list(topics)}, schema={"query_id": pl.String})
    right = pl.DataFrame({"doc_id": list(documents)}, schema={"doc_id": pl.String})
    return left.join(right.with_row_index("rank", offset=1), how="cross").select(
        "query_id", "doc_id", pl.col("rank").cast(pl.Int64)
    )


def _choose_from_runs(
    session: Session, study_id: str, name: str, settings: Mapping[str, Any], seed: int
) -> tuple[Pool, dict[str, Any]]:
    chosen = {key: value for key, value in settings.items() if value not in (None, "")}
    names = chosen.pop("runs", None)
    runs = read_runs(session, study_id, names)
    pooler = build_strategy(name, chosen)
    depth = chosen.get("depth")
    lists = Lists.of(runs, depth=None if name == "depth" else depth)
    relevant_from = StudySettings.of(get_study(session, study_id).settings).relevant_from
    pool = pooler.pool(lists, relevant_from=relevant_from, seed=seed)
    facts = dict(summarise(pool, lists, relevant_from=relevant_from))
    return pool, {
        **facts,
        "by_run": count_by_run(pool, lists, relevant_from=relevant_from),
        "notes": list(pool.notes),
        "biased": pool.biased,
    }


def build_pool(
    session: Session,
    study_id: str,
    name: str,
    settings: Mapping[str, Any],
    by: str | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Build the pool of a study by a strategy; open campaigns get new tasks at once.

    Pairs that leave the pool keep their judgments, but are not judged any more.
    """
    frame, facts = choose_pool(session, study_id, name, settings, seed)
    ids, left = ensure_pairs(session, study_id, frame)
    before = set(session.scalars(select(Pair.id).where(Pair.study_id == study_id, Pair.pooled)))
    chosen = [
        {"pair": ids[query_id, doc_id], "place": rank}
        for query_id, doc_id, rank in frame.iter_rows()
        if (query_id, doc_id) in ids
    ]
    if not chosen:
        raise DataError(
            "No pair of the pool has its topic and document in the study. Upload topics and "
            "documents first."
        )
    session.execute(
        update(Pair)
        .where(Pair.study_id == study_id, Pair.pooled)
        .values(pooled=False)
        .execution_options(synchronize_session=False)
    )
    statement = (
        update(Pair.__table__)  # type: ignore[arg-type]
        .where(Pair.__table__.c.id == bindparam("pair"))
        .values(pooled=True, rank=bindparam("place"))
    )
    for part in split_rows(chosen):
        session.connection().execute(statement, part)
    session.expire_all()
    after = {row["pair"] for row in chosen}
    facts |= {
        "pairs": len(after),
        "new": len(after - before),
        "gone": len(before - after),
        "gone_with_judgments": _count_judged(session, study_id, before - after),
        "left_out": left,
    }
    session.add(
        Decision(
            study_id=study_id,
            kind="pool",
            subject=study_id,
            verdict="built",
            facts={"settings": dict(settings), "seed": seed, **facts},
            decided_by=by,
        )
    )
    session.flush()
    sync_study(session, study_id)
    return facts


def _count_judged(session: Session, study_id: str, pairs: set[int]) -> int:
    judged = session.scalars(
        select(Judgment.pair_id)
        .join(Pair, Pair.id == Judgment.pair_id)
        .where(Pair.study_id == study_id)
        .distinct()
    )
    return len(pairs & set(judged))


def find_current_pool(session: Session, study_id: str) -> dict[str, Any] | None:
    """Return how the pool was built last; None if it was never built."""
    last = session.scalar(
        select(Decision)
        .where(Decision.study_id == study_id, Decision.kind == "pool")
        .order_by(Decision.seq.desc())
        .limit(1)
    )
    return None if last is None else {"at": last.decided_at, **last.facts}


def read_pools(session: Session, study_id: str, *, gold: bool = False) -> pl.DataFrame:
    """The pools, best first: ``query_id, doc_id, pair_id``; with ``gold`` last, where it is hidden.

    Gold is grouped with the pool, so that a document by itself does not stand out.
    """
    hidden = select(Gold.id).where(Gold.pair_id == Pair.id, Gold.active).exists()
    wanted = Pair.pooled | hidden if gold else Pair.pooled
    rows = session.execute(
        select(Topic.query_id, Document.doc_id, Pair.id)
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Document, Document.id == Pair.document_id)
        .where(Pair.study_id == study_id, wanted)
        .order_by(Topic.position, Topic.id, Pair.pooled.desc(), Pair.rank, Pair.id)
    )
    schema = {"query_id": pl.String, "doc_id": pl.String, "pair_id": pl.Int64}
    return pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")
