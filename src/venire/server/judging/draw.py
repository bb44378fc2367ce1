"""Which documents an annotator gets next: real ones from the ring, gold among them."""

from __future__ import annotations

import random
from collections.abc import Sequence
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

from venire.server.judging.batch_context import Entry
from venire.server.judging.gold import Known, choose
from venire.server.judging.leases import take
from venire.server.store.judging import AGAIN, Batch, Lease, Task
from venire.server.store.studies import Pair

# The words of the partial indexes, so that both databases use them.
_MET = text(f"lease.state NOT IN {AGAIN}")
_FREE = text("task.taken < task.overlap")
# Said in words: a plan that is kept for any limit expects a tenth of all rows.
_ONE: ColumnElement[int] = literal_column("1")


@dataclass(frozen=True)
class Drawn:
    """A document for a batch; ``task_id`` is None for gold."""

    pair_id: int
    topic_id: int
    task_id: int | None = None
    gold_grade: int | None = None
    cluster: int | None = None


def real(
    session: Session,
    entry: Entry,
    n: int,
    rng: random.Random,
    topic_id: int | None = None,
    besides: Sequence[Drawn] = (),
) -> list[Drawn]:
    """Take places in up to ``n`` tasks that the annotator has not met, ``besides`` those drawn.

    The start on the ring is the annotator's own and random, so the order differs by annotator
    and has nothing to do with ranks or grades. Tasks that another transaction holds are passed
    over (PostgreSQL); only where too few others are left are they waited for.
    """
    drawn = [one.task_id for one in besides]
    given: dict[str, Any] = {"campaign": entry.campaign_id, "annotator": entry.annotator_id}
    given |= {"topic": topic_id, "start": rng.random(), "drawn": drawn}
    by_topic = topic_id is not None
    execute = session.connection().execute
    rows = list(execute(_taking(n, by_topic, bool(drawn)), given))
    if len(rows) < n:
        given |= {"drawn": drawn + [row.id for row in rows], "start": 0.0}
        held = execute(_free(n - len(rows), True, by_topic, bool(given["drawn"])), given).all()
        taken = take(session, [row.id for row in held])
        rows += [row for row in held if row.id in taken]
    return [Drawn(row.pair_id, row.topic_id, row.id) for row in rows]


def topic(session: Session, entry: Entry, rng: random.Random) -> int | None:
    """The topic to go on with: the annotator's last one, else that of a task drawn at random."""
    given = {"campaign": entry.campaign_id, "annotator": entry.annotator_id}
    row = session.connection().execute(_TOPIC, {**given, "start": rng.random()}).one()
    found: int | None = row.topic
    return found


def gold(
    there: Sequence[Known],
    n: int,
    relevant_from: int,
    rng: random.Random,
    topic_id: int | None = None,
) -> list[Drawn]:
    """Up to ``n`` gold documents (of a topic) for a batch."""
    if topic_id is not None:
        there = [one for one in there if one.topic_id == topic_id]
    found = choose(there, n, relevant_from, rng)
    return [Drawn(one.pair_id, one.topic_id, None, one.grade) for one in found]


#: Images of one topic that one person takes at once where pools are grouped.
WHOLE_POOL = 200


def whole_pool(
    session: Session, entry: Entry, there: Sequence[Known], topic_id: int, rng: random.Random
) -> list[Drawn]:
    """The pool of a topic in its groups: images by themselves first, then group after group.

    Gold is that of the topic, in the groups it belongs to. The first image of a group is the
    one that ranks best in the pool; all other orders are random. A group of which one image
    alone is left is no group.
    """
    drawn = real(session, entry, WHOLE_POOL, rng, topic_id)
    if not drawn:
        return []
    drawn += gold(there, entry.settings.gold_size, entry.study.relevant_from, rng, topic_id)
    rows = session.execute(
        select(Pair.id, Pair.cluster, Pair.rank).where(Pair.id.in_([one.pair_id for one in drawn]))
    )
    place = {pair: (cluster, rank) for pair, cluster, rank in rows}
    members: dict[int, list[Drawn]] = {}
    single: list[Drawn] = []
    for one in drawn:
        cluster = place[one.pair_id][0]
        (single if cluster is None else members.setdefault(cluster, [])).append(one)
    groups = [group for group in members.values() if len(group) > 1]
    single += [group[0] for group in members.values() if len(group) == 1]
    rng.shuffle(single)
    rng.shuffle(groups)
    ordered = list(single)
    for number, group in enumerate(groups):
        rng.shuffle(group)
        # Gold has no rank in the pool: it stands first as often as any, or its place would tell.
        first = rng.choice(group)
        if first.gold_grade is None:
            real_ones = (one for one in group if one.gold_grade is None)
            first = min(real_ones, key=lambda one: place[one.pair_id][1])
        group.sort(key=lambda one: one is not first)
        ordered += [replace(one, cluster=number) for one in group]
    return ordered


def _met() -> Any:
    met = select(Lease.id).where(
        Lease.task_id == Task.id, Lease.annotator_id == bindparam("annotator"), _MET
    )
    return met.exists()


@cache
def _free(n: int, after: bool, by_topic: bool, besides: bool) -> Select[int, int, int]:
    """The query for free tasks; made once, for making one takes longer than running it."""
    ring, start = Task.ring, bindparam("start", type_=Double)
    query = select(Task.id, Task.pair_id, Task.topic_id).where(
        Task.campaign_id == bindparam("campaign"),
        _FREE,
        ring >= start if after else ring < start,
        not_(_met()),
    )
    if by_topic:
        query = query.where(Task.topic_id == bindparam("topic"))
    if besides:
        query = query.where(Task.id.not_in(bindparam("drawn", expanding=True)))
    return query.order_by(Task.ring).limit(literal_column(str(n)))


@cache
def _taking(n: int, by_topic: bool, besides: bool) -> ReturningUpdate[int, int, int]:
    """Take places on the ring from a start on, and past its end, in one statement.

    What comes before the start is looked at only where too little comes after it.
    """
    halves = [
        _free(n, after, by_topic, besides).with_for_update(skip_locked=True).subquery()
        for after in (True, False)
    ]
    held = (
        union_all(*(select(half.c.id) for half in halves)).limit(literal_column(str(n))).cte("held")
    )
    return (
        update(Task)
        .where(Task.id.in_(select(held.c.id)), Task.taken < Task.overlap)
        .values(taken=Task.taken + 1)
        .returning(Task.id, Task.pair_id, Task.topic_id)
    )


def _topic() -> Select[int]:
    last = (
        select(Task.topic_id)
        .join(Lease, Lease.task_id == Task.id)
        .where(
            Lease.batch_id
            == select(Batch.id)
            .where(
                Batch.annotator_id == bindparam("annotator"),
                Batch.campaign_id == bindparam("campaign"),
            )
            .order_by(Batch.opened_at.desc())
            .limit(_ONE)
            .scalar_subquery()
        )
        .order_by(Lease.position.desc())
        .limit(_ONE)
        .scalar_subquery()
    )
    free = (
        select(Task.topic_id)
        .where(Task.campaign_id == bindparam("campaign"), _FREE, not_(_met()))
        .order_by(Task.ring)
        .limit(_ONE)
    )
    start = bindparam("start", type_=Double)
    there = (Task.topic_id == last, Task.ring >= start, Task.ring < start)
    return select(
        func.coalesce(*(free.where(one).scalar_subquery() for one in there)).label("topic")
    )


_TOPIC = _topic()
