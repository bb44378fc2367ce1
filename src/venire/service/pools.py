"""The pool of a study: previewed, built, rebuilt without losing a judgment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from venire.errors import DataError
from venire.judging.settings import StudySettings
from venire.pooling.base import Lists, Pool
from venire.pooling.statistics import by_run, summary
from venire.pooling.strategies import strategy
from venire.service.campaigns import sync_study
from venire.service.studies import counts, ensure_pairs, get_study, read_qrels, read_runs
from venire.store.judging import Judgment
from venire.store.studies import Document, Pair, StudyFile, Topic
from venire.store.work import Decision

ALL = "all"
QRELS = "qrels"
_AT_ONCE = 5_000


def choose(
    session: Session, study_id: str, name: str, settings: Mapping[str, Any], seed: int = 0
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The pairs a strategy would choose, with what they cost; nothing is changed.

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
    if name == ALL:
        frame = _every_pair(session, study_id)
    elif name == QRELS:
        wanted = str(settings.get("qrels") or "")
        grades = read_qrels(session, study_id, wanted)
        frame = grades.frame.select("query_id", "doc_id", pl.lit(1, pl.Int64).alias("rank"))
    else:
        pool, facts = _from_runs(session, study_id, name, settings, seed)
        frame = pool.to_judge.select("query_id", "doc_id", pl.col("order").alias("rank"))
    if frame.is_empty():
        raise DataError("this would choose no pair at all")
    topics = frame["query_id"].n_unique()
    facts = {
        "strategy": name,
        "pairs": frame.height,
        "topics": topics,
        "documents_per_topic": frame.height / topics,
        **facts,
    }
    return frame, facts


def _every_pair(session: Session, study_id: str) -> pl.DataFrame:
    size = counts(session, study_id)
    pairs = size["topics"] * size["documents"]
    if pairs > 1_000_000:
        raise DataError(f"all topics with all documents are {pairs:,} pairs; choose a strategy")
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


def _from_runs(
    session: Session, study_id: str, name: str, settings: Mapping[str, Any], seed: int
) -> tuple[Pool, dict[str, Any]]:
    given = {key: value for key, value in settings.items() if value not in (None, "")}
    names = given.pop("runs", None)
    runs = read_runs(session, study_id, names)
    pooler = strategy(name, dict(given))
    depth = given.get("depth")
    lists = Lists.of(runs, depth=None if name == "depth" else depth)
    relevant_from = StudySettings.of(get_study(session, study_id).settings).relevant_from
    pool = pooler.pool(lists, relevant_from=relevant_from, seed=seed)
    facts = dict(summary(pool, lists, relevant_from=relevant_from))
    return pool, {
        **facts,
        "by_run": by_run(pool, lists, relevant_from=relevant_from),
        "notes": list(pool.notes),
        "biased": pool.biased,
    }


def build(
    session: Session,
    study_id: str,
    name: str,
    settings: Mapping[str, Any],
    by: str | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Make a strategy's choice the pool of the study; open campaigns get new tasks at once.

    Pairs that leave the pool keep their judgments; they are only given out no more.
    """
    frame, facts = choose(session, study_id, name, settings, seed)
    ids, left = ensure_pairs(session, study_id, frame)
    before = set(session.scalars(select(Pair.id).where(Pair.study_id == study_id, Pair.pooled)))
    chosen = [
        {"pair": ids[query_id, doc_id], "place": rank}
        for query_id, doc_id, rank in frame.iter_rows()
        if (query_id, doc_id) in ids
    ]
    if not chosen:
        raise DataError(
            "none of the chosen pairs has its topic and its document in the study; "
            "import topics and documents first"
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
    for start in range(0, len(chosen), _AT_ONCE):
        session.connection().execute(statement, chosen[start : start + _AT_ONCE])
    session.expire_all()
    after = {row["pair"] for row in chosen}
    facts |= {
        "pairs": len(after),
        "new": len(after - before),
        "gone": len(before - after),
        "gone_with_judgments": _judged(session, study_id, before - after),
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


def _judged(session: Session, study_id: str, pairs: set[int]) -> int:
    judged = session.scalars(
        select(Judgment.pair_id)
        .join(Pair, Pair.id == Judgment.pair_id)
        .where(Pair.study_id == study_id)
        .distinct()
    )
    return len(pairs & set(judged))


def current(session: Session, study_id: str) -> dict[str, Any] | None:
    """How the pool was built last; None where it was not yet."""
    last = session.scalar(
        select(Decision)
        .where(Decision.study_id == study_id, Decision.kind == "pool")
        .order_by(Decision.seq.desc())
        .limit(1)
    )
    return None if last is None else {"at": last.decided_at, **last.facts}


def run_names(session: Session, study_id: str) -> list[str]:
    """Names of the runs of a study."""
    query = select(StudyFile.name).where(StudyFile.study_id == study_id, StudyFile.kind == "run")
    return list(session.scalars(query.order_by(StudyFile.name)))
