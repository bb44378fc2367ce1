"""Which documents an annotator gets next: real ones from the ring, gold unseen by them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from sqlalchemy import Double, Row, Select, bindparam, func, not_, select, text
from sqlalchemy.orm import Session

from venire.judging.places import take
from venire.judging.settings import CampaignSettings, StudySettings
from venire.store.judging import AGAIN, Batch, Campaign, Lease, Task
from venire.store.studies import Gold, Pair

# The words of the partial index, so that both databases use it.
_MET = text(f"lease.state NOT IN {AGAIN}")


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
    campaign: Campaign,
    annotator_id: str,
    n: int,
    rng: random.Random,
    topic_id: int | None = None,
    besides: Sequence[Drawn] = (),
) -> list[Drawn]:
    """Take places in up to ``n`` tasks that the annotator has not met, ``besides`` those drawn.

    The start on the ring is the annotator's own and random, so the order differs by annotator
    and has nothing to do with ranks or grades.
    """
    found: list[Drawn] = []
    start = rng.random()
    drawn = [one.task_id for one in besides]
    for after in (True, False):
        if len(found) >= n:
            break
        query = _free(after, topic_id is not None, bool(drawn))
        given = {"campaign": campaign.id, "annotator": annotator_id, "start": start}
        given |= {"topic": topic_id, "n": n - len(found), "drawn": drawn}
        rows = session.execute(query, given).all()
        taken = _take(session, rows)
        found += [Drawn(row.pair_id, row.topic_id, row.id) for row in rows if row.id in taken]
    return found


def _take(session: Session, rows: Sequence[Row[int, int, int]]) -> set[int]:
    ids = [row.id for row in rows]
    taken = take(session, ids, wait=False)
    return taken | take(session, [one for one in ids if one not in taken])


def first_topic(
    session: Session, campaign: Campaign, annotator_id: str, rng: random.Random
) -> int | None:
    """The topic to go on with: the annotator's last one, else that of a task drawn at random."""
    given = {"campaign": campaign.id, "annotator": annotator_id}
    last = session.scalar(_LAST, given)
    if last is not None and open_tasks(session, campaign, annotator_id, last):
        return last
    start = rng.random()
    for after in (True, False):
        query = _free(after, False, False)
        row = session.execute(query, {**given, "start": start, "n": 1}).first()
        if row is not None:
            return int(row.topic_id)
    return None


def open_tasks(
    session: Session, campaign: Campaign, annotator_id: str, topic_id: int | None = None
) -> bool:
    """Whether a task is left that this annotator may take."""
    given = {"campaign": campaign.id, "annotator": annotator_id, "topic": topic_id}
    query = _free(True, topic_id is not None, False)
    return session.execute(query, {**given, "start": 0.0, "n": 1}).first() is not None


@cache
def _free(after: bool, by_topic: bool, besides: bool) -> Select[int, int, int]:
    """The query for free tasks; made once, for making one takes longer than running it."""
    ring, start = Task.ring, bindparam("start", type_=Double)
    met = select(Lease.id).where(
        Lease.task_id == Task.id, Lease.annotator_id == bindparam("annotator"), _MET
    )
    query = select(Task.id, Task.pair_id, Task.topic_id).where(
        Task.campaign_id == bindparam("campaign"),
        text("task.taken < task.overlap"),
        ring >= start if after else ring < start,
        not_(met.exists()),
    )
    if by_topic:
        query = query.where(Task.topic_id == bindparam("topic"))
    if besides:
        query = query.where(Task.id.not_in(bindparam("drawn", expanding=True)))
    return query.order_by(Task.ring).limit(bindparam("n"))


_LAST = (
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
        .limit(1)
        .scalar_subquery()
    )
    .order_by(Lease.position.desc())
    .limit(1)
)


def gold(
    session: Session,
    campaign: Campaign,
    study: StudySettings,
    annotator_id: str,
    n: int,
    rng: random.Random,
    topic_id: int | None = None,
) -> list[Drawn]:
    """Up to ``n`` gold documents, relevant and not in turn, those unseen by the annotator first.

    An annotator who has seen all gold meets the one they saw longest ago.
    """
    if not n:
        return []
    given = {"study": campaign.study_id, "annotator": annotator_id, "topic": topic_id}
    rows = [tuple(row) for row in session.execute(_gold(topic_id is not None), given)]
    rng.shuffle(rows)
    rows.sort(key=lambda row: row[3])
    sides = [
        [row for row in rows if (row[1] >= study.relevant_from) is relevant]
        for relevant in (True, False)
    ]
    rng.shuffle(sides)
    found: list[Drawn] = []
    while len(found) < n and any(sides):
        for side in sides:
            if side and len(found) < n:
                pair_id, grade, topic, _ = side.pop(0)
                found.append(Drawn(pair_id, topic, None, grade))
    return found


def has_own_gold(
    session: Session,
    campaign: Campaign,
    settings: CampaignSettings,
    annotator_id: str,
    topic_id: int,
) -> bool:
    """Whether a topic has gold enough that this annotator has not seen."""
    if not settings.gold_size:
        return True
    given = {"study": campaign.study_id, "annotator": annotator_id, "topic": topic_id}
    count = session.scalar(_UNSEEN, given)
    return (count or 0) >= settings.gold_size


#: Images of one topic that one person takes at once where pools are grouped.
WHOLE_POOL = 200


def whole_pool(
    session: Session,
    campaign: Campaign,
    settings: CampaignSettings,
    study: StudySettings,
    annotator_id: str,
    topic_id: int,
    rng: random.Random,
) -> list[Drawn]:
    """The pool of a topic in its groups: images by themselves first, then group after group.

    Gold is that of the topic, in the groups it belongs to. The first image of a group is the
    one that ranks best in the pool; all other orders are random. A group of which one image
    alone is left is no group.
    """
    drawn = real(session, campaign, annotator_id, WHOLE_POOL, rng, topic_id)
    if not drawn:
        return []
    drawn += gold(session, campaign, study, annotator_id, settings.gold_size, rng, topic_id)
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


@cache
def _gold(by_topic: bool) -> Select[int, int, int, int]:
    """Gold of a study, and how often the annotator has met each."""
    seen = (
        select(Lease.pair_id, func.count().label("times"))
        .where(Lease.annotator_id == bindparam("annotator"), Lease.gold_grade.is_not(None))
        .group_by(Lease.pair_id)
        .subquery()
    )
    query = (
        select(Gold.pair_id, Gold.grade, Pair.topic_id, func.coalesce(seen.c.times, 0))
        .join(Pair, Pair.id == Gold.pair_id)
        .outerjoin(seen, seen.c.pair_id == Gold.pair_id)
        .where(Gold.study_id == bindparam("study"), Gold.active)
    )
    return query.where(Pair.topic_id == bindparam("topic")) if by_topic else query


_UNSEEN = (
    select(func.count())
    .select_from(Gold)
    .join(Pair, Pair.id == Gold.pair_id)
    .where(Gold.study_id == bindparam("study"), Gold.active, Pair.topic_id == bindparam("topic"))
    .where(
        not_(
            select(Lease.pair_id)
            .where(Lease.annotator_id == bindparam("annotator"), Lease.pair_id == Gold.pair_id)
            .exists()
        )
    )
)
