"""Draw the next documents for an annotator: real documents in ring order, and gold documents."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Double,
    Select,
    bindparam,
    func,
    literal_column,
    not_,
    select,
    text,
    union_all,
    update,
)
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningUpdate

from venire.server.judging.batch_context import BatchContext
from venire.server.judging.gold import GoldPair, choose_gold
from venire.server.judging.leases import take_places
from venire.server.store.base import is_one_of
from venire.server.store.judging import AGAIN, Batch, Lease, Task
from venire.server.store.studies import Pair

# Written as in the predicates of the partial indexes, so that both databases use these indexes.
_NOT_AGAIN = text(is_one_of("lease.state", AGAIN, negated=True))
_HAS_FREE_PLACE = text("task.taken < task.overlap")
# Written as a literal: with a bound parameter, PostgreSQL's generic plan assumes that LIMIT returns
# 10% of all rows and picks a sequential scan.
_ONE_ROW: ColumnElement[int] = literal_column("1")

WHOLE_POOL = 200
"""Most images of a topic that an annotator gets at once where pools are grouped."""


@dataclass(frozen=True)
class DrawnDocument:
    """A document drawn for a batch; ``task_id`` is None for gold."""

    pair_id: int
    topic_id: int
    task_id: int | None = None
    gold_grade: int | None = None
    cluster: int | None = None


def draw_real(
    session: Session,
    context: BatchContext,
    n: int,
    rng: random.Random,
    topic_id: int | None = None,
    besides: Sequence[DrawnDocument] = (),
) -> list[DrawnDocument]:
    """Take places in up to ``n`` tasks that are new to the annotator and not in ``besides``.

    The starting point on the ring is random, so the order differs between annotators and does not
    depend on ranks or grades. Rows that another transaction has locked are skipped (PostgreSQL),
    and waited for only where there are too few others.
    """
    drawn = [document.task_id for document in besides]
    values: dict[str, Any] = {
        "campaign": context.campaign_id,
        "annotator": context.annotator_id,
        "topic": topic_id,
        "start": rng.random(),
        "drawn": drawn,
    }
    by_topic = topic_id is not None
    execute = session.connection().execute
    rows = list(execute(_take_free(n, by_topic, bool(drawn)), values))
    if len(rows) < n:
        values |= {"drawn": drawn + [row.id for row in rows], "start": 0.0}
        free = _select_free(n - len(rows), True, by_topic, bool(values["drawn"]))
        candidates = execute(free, values).all()
        taken = take_places(session, [row.id for row in candidates])
        rows += [row for row in candidates if row.id in taken]
    return [DrawnDocument(row.pair_id, row.topic_id, row.id) for row in rows]


def choose_topic(session: Session, context: BatchContext, rng: random.Random) -> int | None:
    """Return the topic of the annotator's last batch, else that of a random task.

    Only topics with a free task that is new to the annotator are considered; None without one.
    """
    values = {"campaign": context.campaign_id, "annotator": context.annotator_id}
    row = session.connection().execute(_TOPIC, {**values, "start": rng.random()}).one()
    topic_id: int | None = row.topic
    return topic_id


def draw_gold(
    gold_pairs: Sequence[GoldPair],
    n: int,
    relevant_from: int,
    rng: random.Random,
    topic_id: int | None = None,
) -> list[DrawnDocument]:
    """Draw up to ``n`` gold documents (of a topic)."""
    if topic_id is not None:
        gold_pairs = [pair for pair in gold_pairs if pair.topic_id == topic_id]
    chosen = choose_gold(gold_pairs, n, relevant_from, rng)
    return [DrawnDocument(pair.pair_id, pair.topic_id, None, pair.grade) for pair in chosen]


def draw_gold_by_topic(
    gold_pairs: Sequence[GoldPair],
    n: int,
    relevant_from: int,
    rng: random.Random,
    topics: Iterable[int | None],
) -> list[DrawnDocument]:
    """Draw up to ``n`` gold documents from the first topic that has any left, then from the next.

    None in ``topics`` stands for all topics.
    """
    drawn: list[DrawnDocument] = []
    for topic_id in topics:
        if len(drawn) >= n:
            break
        pairs = {document.pair_id for document in drawn}
        candidates = draw_gold(gold_pairs, n, relevant_from, rng, topic_id)
        new = [document for document in candidates if document.pair_id not in pairs]
        drawn += new[: n - len(drawn)]
    return drawn


def draw_whole_pool(
    session: Session,
    context: BatchContext,
    gold_pairs: Sequence[GoldPair],
    topic_id: int,
    rng: random.Random,
) -> list[DrawnDocument]:
    """Draw the pool of a topic in its groups: images without a group first, then group by group.

    Gold is that of the topic, placed in its groups. The first image of a group is the best ranked
    one; all other orders are random. A group with one image left is no group.
    """
    drawn = draw_real(session, context, WHOLE_POOL, rng, topic_id)
    if not drawn:
        return []
    settings, relevant_from = context.settings, context.study.relevant_from
    drawn += draw_gold(gold_pairs, settings.gold_size, relevant_from, rng, topic_id)
    rows = session.execute(
        select(Pair.id, Pair.cluster, Pair.rank).where(
            Pair.id.in_([document.pair_id for document in drawn])
        )
    )
    clusters, ranks = {}, {}
    for pair_id, cluster, rank in rows:
        clusters[pair_id], ranks[pair_id] = cluster, rank
    members: dict[int, list[DrawnDocument]] = {}
    single: list[DrawnDocument] = []
    for document in drawn:
        cluster = clusters[document.pair_id]
        (single if cluster is None else members.setdefault(cluster, [])).append(document)
    groups = [group for group in members.values() if len(group) > 1]
    single += [group[0] for group in members.values() if len(group) == 1]
    rng.shuffle(single)
    rng.shuffle(groups)
    ordered = list(single)
    for number, group in enumerate(groups):
        rng.shuffle(group)
        # Gold has no rank. It comes first as often as any other image of its group: a fixed
        # position would give it away.
        first = rng.choice(group)
        if first.gold_grade is None:
            real = (document for document in group if document.gold_grade is None)
            first = min(real, key=lambda document: ranks[document.pair_id])
        group.sort(key=lambda document: document is not first)
        ordered += [replace(document, cluster=number) for document in group]
    return ordered


def _seen_by_annotator() -> Any:
    seen = select(Lease.id).where(
        Lease.task_id == Task.id, Lease.annotator_id == bindparam("annotator"), _NOT_AGAIN
    )
    return seen.exists()


@cache
def _select_free(n: int, after: bool, by_topic: bool, besides: bool) -> Select[int, int, int]:
    """Return the query for free tasks; cached, because building it takes longer than running it."""
    ring, start = Task.ring, bindparam("start", type_=Double)
    query = select(Task.id, Task.pair_id, Task.topic_id).where(
        Task.campaign_id == bindparam("campaign"),
        _HAS_FREE_PLACE,
        ring >= start if after else ring < start,
        not_(_seen_by_annotator()),
    )
    if by_topic:
        query = query.where(Task.topic_id == bindparam("topic"))
    if besides:
        query = query.where(Task.id.not_in(bindparam("drawn", expanding=True)))
    return query.order_by(Task.ring).limit(literal_column(str(n)))


@cache
def _take_free(n: int, by_topic: bool, besides: bool) -> ReturningUpdate[int, int, int]:
    """Return the statement that takes places on the ring, from the start on and around its end.

    Tasks before the start are read only where there are too few after it.
    """
    halves = [
        _select_free(n, after, by_topic, besides).with_for_update(skip_locked=True).subquery()
        for after in (True, False)
    ]
    ids = union_all(*(select(half.c.id) for half in halves))
    locked = ids.limit(literal_column(str(n))).cte("locked")
    return (
        update(Task)
        .where(Task.id.in_(select(locked.c.id)), Task.taken < Task.overlap)
        .values(taken=Task.taken + 1)
        .returning(Task.id, Task.pair_id, Task.topic_id)
    )


def _select_topic() -> Select[int]:
    last_batch = (
        select(Batch.id)
        .where(
            Batch.annotator_id == bindparam("annotator"),
            Batch.campaign_id == bindparam("campaign"),
        )
        .order_by(Batch.opened_at.desc())
        .limit(_ONE_ROW)
        .scalar_subquery()
    )
    last_topic = (
        select(Task.topic_id)
        .join(Lease, Lease.task_id == Task.id)
        .where(Lease.batch_id == last_batch)
        .order_by(Lease.position.desc())
        .limit(_ONE_ROW)
        .scalar_subquery()
    )
    free = (
        select(Task.topic_id)
        .where(
            Task.campaign_id == bindparam("campaign"), _HAS_FREE_PLACE, not_(_seen_by_annotator())
        )
        .order_by(Task.ring)
        .limit(_ONE_ROW)
    )
    start = bindparam("start", type_=Double)
    conditions = (Task.topic_id == last_topic, Task.ring >= start, Task.ring < start)
    return select(
        func.coalesce(*(free.where(condition).scalar_subquery() for condition in conditions)).label(
            "topic"
        )
    )


_TOPIC = _select_topic()
