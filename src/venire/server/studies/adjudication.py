"""Pairs that annotators disagree on, and the grades that an owner settles."""

from __future__ import annotations

import polars as pl
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from venire.errors import BadSetting, DataError, NotFound
from venire.formats.parquet import read_parquet
from venire.formats.study_settings import StudySettings
from venire.server.store.base import now
from venire.server.store.judging import Batch, Campaign, Event, Judgment, Lease
from venire.server.store.people import User
from venire.server.store.studies import Document, Gold, Topic
from venire.server.store.work import Decision, Job, JobPart
from venire.server.studies.grades import read_settled_grades
from venire.server.studies.listing import Row
from venire.server.studies.pairs import get_pair, read_pair_names
from venire.server.studies.studies import get_study

_LABELS = {"pair_id": pl.Int64, "label": pl.Int64, "n": pl.Int64}


def list_disagreements(
    session: Session,
    study_id: str,
    *,
    job_id: str | None = None,
    settled: bool = False,
    limit: int = 50,
    offset: int = 0,
) -> tuple[list[Row], int]:
    """Return pairs with different labels, highest entropy first, and their total number.

    Sorted by the entropy of the labels, ``-sum p log2 p``, then by their spread (highest minus
    lowest); with an aggregate job, by the entropy of its posterior in between. Settled pairs are
    left out unless asked for.

    Returns
    -------
    rows : list of dict
        ``pair_id, query_id, doc_id, judgments, labels`` (label to number), ``entropy, spread,
        split`` (entropy of the posterior; None without a job), ``settled`` (grade or None).
    total : int
    """
    get_study(session, study_id)
    frame = _count_labels(session, study_id)
    share = pl.col("n") / pl.col("n").sum()
    # In one order, so that equal entropies are equal to the last bit.
    pairs = (
        frame.sort("pair_id", "label")
        .group_by("pair_id", maintain_order=True)
        .agg(
            (-(share * share.log(2)).sum()).alias("entropy"),
            (pl.col("label").max() - pl.col("label").min()).alias("spread"),
            pl.col("n").sum().alias("judgments"),
        )
    )
    decided = read_settled_grades(session, study_id)
    if not settled:
        pairs = pairs.filter(~pl.col("pair_id").is_in(list(decided)))
    split = _read_posterior_entropy(session, study_id, job_id)
    pairs = (
        pairs.with_columns(pl.lit(None, pl.Float64).alias("split"))
        if split is None
        else _join_pairs(session, study_id, pairs, split)
    )
    pairs = pairs.sort(
        ["entropy", "split", "spread", "pair_id"],
        descending=[True, True, True, False],
        nulls_last=True,
    )
    page = pairs.slice(offset, limit)
    names = read_pair_names(session, study_id, page["pair_id"].to_list())
    labels = frame.filter(pl.col("pair_id").is_in(page["pair_id"].to_list()))
    by_pair: dict[int, dict[int, int]] = {}
    for pair, label, n in labels.sort("label").iter_rows():
        by_pair.setdefault(pair, {})[label] = n
    rows = [
        {
            "pair_id": row["pair_id"],
            "query_id": names[row["pair_id"]][0],
            "doc_id": names[row["pair_id"]][1],
            "judgments": row["judgments"],
            "labels": by_pair[row["pair_id"]],
            "entropy": row["entropy"],
            "spread": row["spread"],
            "split": row["split"],
            "settled": decided.get(row["pair_id"]),
        }
        for row in page.iter_rows(named=True)
    ]
    return rows, pairs.height


def _count_labels(session: Session, study_id: str) -> pl.DataFrame:
    """Count the labels of the pairs that have different labels."""
    valid = (
        select(Judgment.pair_id, Judgment.label)
        .select_from(Lease)
        .join(Judgment, Judgment.seq == Lease.judgment_seq)
        .join(Batch, Batch.id == Lease.batch_id)
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .where(Campaign.study_id == study_id, Batch.valid.is_(True), Lease.state == "judged")
        .where(Lease.gold_grade.is_(None))
        .cte("valid")
    )
    differ = (
        select(valid.c.pair_id)
        .group_by(valid.c.pair_id)
        .having(func.min(valid.c.label) < func.max(valid.c.label))
    )
    rows = session.execute(
        select(valid.c.pair_id, valid.c.label, func.count())
        .where(valid.c.pair_id.in_(differ))
        .group_by(valid.c.pair_id, valid.c.label)
    ).all()
    return pl.DataFrame([tuple(row) for row in rows], schema=_LABELS, orient="row")


def _read_posterior_entropy(
    session: Session, study_id: str, job_id: str | None
) -> pl.DataFrame | None:
    if job_id is None:
        return None
    job = session.get(Job, job_id)
    part = session.get(JobPart, (job_id, "items.parquet"))
    if job is None or job.study_id != study_id or part is None:
        raise NotFound("result of an aggregate job", job_id)
    items = read_parquet(part.content)
    chances = [pl.col(name) for name in items.columns if name.startswith("p(")]
    terms = [pl.when(p > 0).then(-p * p.log(2)).otherwise(0.0) for p in chances]
    return items.select("query_id", "doc_id", pl.sum_horizontal(terms).alias("split"))


def _join_pairs(
    session: Session, study_id: str, pairs: pl.DataFrame, split: pl.DataFrame
) -> pl.DataFrame:
    names = read_pair_names(session, study_id, pairs["pair_id"].to_list())
    keys = pl.DataFrame(
        [(pair, *name) for pair, name in names.items()],
        schema={"pair_id": pl.Int64, "query_id": pl.String, "doc_id": pl.String},
        orient="row",
    )
    keys = keys.join(split, on=["query_id", "doc_id"], how="left").select("pair_id", "split")
    return pairs.join(keys, on="pair_id", how="left")


def read_details(session: Session, study_id: str, pair_id: int) -> Row:
    """Return a pair with its topic, document, labels, comments and decisions.

    ``judgments`` are those that stand and those that do not (``counts`` says which): a rejected
    batch may still have seen something.
    """
    pair = get_pair(session, study_id, pair_id)
    topic = session.get_one(Topic, pair.topic_id)
    document = session.get_one(Document, pair.document_id)
    rows = session.execute(
        select(Judgment, Lease, Batch.valid, User.name, Campaign.name)
        .join(Lease, Lease.judgment_seq == Judgment.seq)
        .join(Batch, Batch.id == Lease.batch_id)
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .join(User, User.id == Judgment.annotator_id)
        .where(Lease.pair_id == pair_id)
        .order_by(Judgment.seq)
    ).all()
    comments: dict[str, str] = {}
    for lease_id, payload in session.execute(
        select(Event.lease_id, Event.payload)
        .where(Event.lease_id.in_([lease.id for _, lease, *_ in rows]), Event.kind == "comment")
        .order_by(Event.seq)
    ):
        comments[lease_id] = payload.get("text", "")
    gold = session.scalar(select(Gold.grade).where(Gold.pair_id == pair_id, Gold.active))
    return {
        "pair_id": pair_id,
        "query_id": topic.query_id,
        "topic": topic.title,
        "doc_id": document.doc_id,
        "title": document.title,
        "gold": gold,
        "settled": read_settled_grades(session, study_id, pair_id).get(pair_id),
        "judgments": [
            {
                "annotator_id": judgment.annotator_id,
                "annotator": name,
                "campaign": campaign,
                "label": judgment.label,
                "reason": judgment.reason,
                "seconds": None if judgment.active_ms is None else judgment.active_ms / 1000,
                "judged_at": judgment.judged_at,
                "state": lease.state,
                "counts": bool(valid) and lease.state == "judged",
                "comment": comments.get(lease.id, ""),
            }
            for judgment, lease, valid, name, campaign in rows
        ],
        "decisions": [
            {
                "grade": decision.facts.get("grade"),
                "verdict": decision.verdict,
                "reason": decision.reason,
                "decided_by": decision.decided_by,
                "decided_at": decision.decided_at,
            }
            for decision in _list_decisions(session, study_id, pair_id)
        ],
    }


def _list_decisions(session: Session, study_id: str, pair_id: int) -> list[Decision]:
    query = select(Decision).where(
        Decision.kind == "grade", Decision.subject == str(pair_id), Decision.study_id == study_id
    )
    return list(session.scalars(query.order_by(Decision.seq)))


def settle(
    session: Session, study_id: str, pair_id: int, grade: int, by: str | None, reason: str = ""
) -> Decision:
    """Settle the grade of a pair; its judgments stay, and a later decision replaces this one.

    Raises
    ------
    NotFound
        The study has no such pair.
    BadSetting
        The grade is not on the study's scale.
    """
    get_pair(session, study_id, pair_id)
    values = StudySettings.of(get_study(session, study_id).settings).values
    if grade not in values:
        raise BadSetting(
            f"must be a grade of the scale: {', '.join(map(str, values))} (got {grade})",
            argument="grade",
            value=grade,
        )
    labels = session.execute(
        select(Judgment.label, func.count())
        .join(Lease, Lease.judgment_seq == Judgment.seq)
        .join(Batch, Batch.id == Lease.batch_id)
        .where(Lease.pair_id == pair_id, Lease.state == "judged", Batch.valid.is_(True))
        .group_by(Judgment.label)
        .order_by(Judgment.label)
    )
    facts = {"grade": grade, "labels": {str(label): n for label, n in labels}}
    return _add_decision(session, study_id, pair_id, "settled", facts, by, reason)


def unsettle(
    session: Session, study_id: str, pair_id: int, by: str | None, reason: str = ""
) -> Decision:
    """Withdraw the settled grade of a pair; the decision stays in the history.

    Raises
    ------
    DataError
        Nothing is decided about it.
    """
    get_pair(session, study_id, pair_id)
    grade = read_settled_grades(session, study_id, pair_id).get(pair_id)
    if grade is None:
        raise DataError("This pair has no adjudicated grade. Adjudicate it first.")
    return _add_decision(session, study_id, pair_id, "withdrawn", {"grade": grade}, by, reason)


def _add_decision(
    session: Session,
    study_id: str,
    pair_id: int,
    verdict: str,
    facts: Row,
    by: str | None,
    reason: str,
) -> Decision:
    decision = Decision(
        study_id=study_id,
        kind="grade",
        subject=str(pair_id),
        verdict=verdict,
        reason=reason[:10_000],
        facts=facts,
        decided_by=by,
        decided_at=now(),
    )
    session.add(decision)
    session.flush()
    return decision
