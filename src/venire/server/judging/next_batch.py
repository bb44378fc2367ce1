"""The next batch of an annotator; batches that ran out of time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam, func, insert, select, text
from sqlalchemy.orm import Session, aliased

from venire.errors import Conflict, NotAllowed
from venire.server.judging import draw
from venire.server.judging.batch_context import Entry, enter
from venire.server.judging.gold import Known, known, unseen
from venire.server.judging.leases import give_back
from venire.server.judging.review import review
from venire.server.store.base import new_id
from venire.server.store.judging import AGAIN, Batch, Lease, Task

_EXPIRE_AT_ONCE = 20


@dataclass(frozen=True)
class Next:
    """What an annotator does next.

    ``state`` is ``batch`` (judge ``batch_id``), ``wait`` (all that is left is with others; ask
    again at ``retry_at``), or ``done`` (nothing is left for this annotator).
    """

    state: str
    batch_id: str | None = None
    retry_at: datetime | None = None


def next_batch(session: Session, campaign_id: str, annotator_id: str, at: datetime) -> Next:
    """The annotator's open batch, or a new one.

    A new batch takes a place in each of its tasks in this transaction; the documents of batches
    that ran out of time are free again first. Practice and qualification come before work.

    Raises
    ------
    NotFound
        No such campaign.
    NotAllowed
        The annotator is not in the study, or is paused.
    Conflict
        The campaign is not open.
    """
    entry = enter(session, campaign_id, annotator_id, at)
    if entry.late and expire(session, campaign_id, at):
        entry = enter(session, campaign_id, annotator_id, at)
    if entry.open_batch is not None:
        return Next("batch", entry.open_batch)
    if entry.state != "open":
        raise Conflict(f"the campaign {entry.name!r} is {_STATES[entry.state]}")
    batch_id = new_id()
    rng = random.Random(batch_id)
    drawn, kind = _draw(session, entry, rng)
    if not drawn:
        return _nothing(session, campaign_id, annotator_id, at)
    grouped = kind == "work" and bool(entry.study.grouping)
    batch = {
        "id": batch_id,
        "campaign_id": campaign_id,
        "annotator_id": annotator_id,
        "kind": kind,
        "opened_at": at,
        "expires_at": at + timedelta(minutes=entry.settings.minutes),
    }
    leases = [
        {
            "id": new_id(),
            "batch_id": batch_id,
            "annotator_id": annotator_id,
            "task_id": one.task_id,
            "pair_id": one.pair_id,
            "gold_grade": one.gold_grade,
            "cluster": one.cluster,
            "position": position,
        }
        for position, one in enumerate(drawn if grouped else mixed(drawn, rng))
    ]
    execute = session.connection().execute
    execute(_NEW_BATCH, batch)
    execute(_NEW_LEASES, leases)
    return Next("batch", batch_id)


def at_work(session: Session, campaign_id: str, annotator_id: str) -> bool:
    """Whether the annotator has a batch open."""
    found = select(Batch.id).where(
        Batch.campaign_id == campaign_id,
        Batch.annotator_id == annotator_id,
        Batch.state == "open",
    )
    return session.scalar(found.limit(1)) is not None


# Made once: making a statement takes longer than running it.
_NEW_BATCH, _NEW_LEASES = insert(Batch), insert(Lease)
_STATES = {"draft": "not open yet", "closed": "closed"}


def _before_work(entry: Entry) -> list[tuple[str, int]]:
    """What comes before work, and its size: practice once, qualification until passed."""
    settings, found = entry.settings, []
    if settings.practice_size and not entry.practised:
        found.append(("practice", settings.practice_size))
    if settings.qualification_size and not entry.qualified:
        found.append(("qualification", settings.qualification_size))
    return found


def _draw(session: Session, entry: Entry, rng: random.Random) -> tuple[list[draw.Drawn], str]:
    """The documents of a batch, and what kind of batch they make."""
    settings = entry.settings
    before = _before_work(entry)
    there = (
        known(session, entry.study_id, entry.annotator_id) if before or settings.gold_size else []
    )
    for kind, size in before:
        if kind == "qualification" and entry.tries >= settings.qualification_tries:
            raise NotAllowed("the qualification was not passed; thank you for trying")
        drawn = draw.gold(there, size, entry.study.relevant_from, rng)
        # A study with little gold keeps it for the batches.
        spare = kind != "practice" or len(there) >= settings.practice_size + settings.gold_size
        if len(drawn) == size and spare:
            return drawn, kind
        if kind == "qualification":
            raise Conflict("the qualification is not ready; tell the owner of the study")
    return _work(session, entry, there, rng), "work"


def _work(
    session: Session, entry: Entry, there: Sequence[Known], rng: random.Random
) -> list[draw.Drawn]:
    """Real documents and gold, of one topic where gold does not stand out by it."""
    settings, own = entry.settings, None
    if settings.topics != "mixed" or entry.study.grouping:
        topic = draw.topic(session, entry, rng)
        if topic is None:
            return []
        if entry.study.grouping:
            return draw.whole_pool(session, entry, there, topic, rng)
        if settings.topics == "one" or unseen(there, topic) >= settings.gold_size:
            own = topic
    real = draw.real(session, entry, settings.batch_size, rng, own)
    left = settings.batch_size - len(real)
    if own is not None and left:
        real += draw.real(session, entry, left, rng, besides=real)
    if not real:
        return []
    given = there, settings.gold_size, entry.study.relevant_from, rng
    gold = draw.gold(*given, own)
    if len(gold) < settings.gold_size:
        more = draw.gold(*given)
        gold += _without(gold, more)[: settings.gold_size - len(gold)]
    return real + gold


def _without(there: list[draw.Drawn], more: list[draw.Drawn]) -> list[draw.Drawn]:
    pairs = {one.pair_id for one in there}
    return [one for one in more if one.pair_id not in pairs]


def mixed(drawn: list[draw.Drawn], rng: random.Random) -> list[draw.Drawn]:
    """Topics in random order, the documents of each in random order, gold among them."""
    topics = list({one.topic_id for one in drawn})
    rng.shuffle(topics)
    place = {topic: position for position, topic in enumerate(topics)}
    rng.shuffle(drawn)
    return sorted(drawn, key=lambda one: place[one.topic_id])


def _nothing(session: Session, campaign_id: str, annotator_id: str, at: datetime) -> Next:
    """Say whether documents that this annotator has not met may come back, and when."""
    mine = aliased(Lease)
    met = select(mine.id).where(
        mine.task_id == Task.id, mine.annotator_id == annotator_id, mine.state.not_in(AGAIN)
    )
    soonest = session.scalar(
        select(func.min(Batch.expires_at))
        .join(Lease, Lease.batch_id == Batch.id)
        .join(Task, Task.id == Lease.task_id)
        .where(Batch.campaign_id == campaign_id, Batch.state == "open", Lease.state == "live")
        .where(Batch.annotator_id != annotator_id, ~met.exists())
    )
    if soonest is None:
        return Next("done")
    return Next("wait", retry_at=max(soonest, at + timedelta(seconds=1)))


_LATE = (
    select(Batch)
    .where(
        Batch.campaign_id == bindparam("campaign"),
        text("batch.state = 'open'"),
        Batch.expires_at < bindparam("at"),
    )
    .order_by(Batch.expires_at)
    .limit(_EXPIRE_AT_ONCE)
    .with_for_update(skip_locked=True)
)


def expire(session: Session, campaign_id: str, at: datetime) -> int:
    """End batches whose time has run out; what was judged stays, what was not is free again."""
    late = session.scalars(_LATE, {"campaign": campaign_id, "at": at}).all()
    for batch in late:
        end(session, batch, "expired", at)
    return len(late)


def end(session: Session, batch: Batch, state: str, at: datetime) -> None:
    """End a batch before it is finished: ``expired`` or ``returned``.

    Leases still live end with it and give back their places; the judged part is reviewed.
    A batch in which everything was judged is finished, whoever ended it.
    """
    leases = session.scalars(select(Lease).where(Lease.batch_id == batch.id)).all()
    live = [lease for lease in leases if lease.state == "live"]
    for lease in live:
        lease.state = state
        lease.ended_at = at
    session.flush()
    give_back(session, [lease.task_id for lease in live if lease.task_id is not None])
    batch.state = state if live else "finished"
    batch.finished_at = at
    if any(lease.state in ("judged", "cannot") for lease in leases):
        review(session, batch, list(leases), at)
    session.flush()
