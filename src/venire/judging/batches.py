"""The next batch of an annotator; batches that ran out of time."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import and_, bindparam, func, insert, or_, select
from sqlalchemy.orm import Session, aliased

from venire.errors import Conflict, NotAllowed, NotFound
from venire.judging import draw
from venire.judging.places import give_back
from venire.judging.review import review
from venire.judging.settings import CampaignSettings, StudySettings
from venire.store.base import new_id
from venire.store.judging import AGAIN, Batch, Campaign, Lease, Task
from venire.store.people import Membership
from venire.store.studies import Study

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
    campaign = session.get(Campaign, campaign_id)
    if campaign is None:
        raise NotFound("campaign", campaign_id)
    _may_judge(session, campaign, annotator_id)
    expire(session, campaign_id, at)
    open_one = session.scalar(_OPEN, {"campaign": campaign_id, "annotator": annotator_id})
    if open_one is not None:
        return Next("batch", open_one)
    if campaign.state != "open":
        raise Conflict(f"the campaign {campaign.name!r} is {_STATES[campaign.state]}")
    settings = CampaignSettings.of(campaign.settings)
    study = session.get_one(Study, campaign.study_id)
    kind = _kind(session, campaign, settings, annotator_id)
    grades = StudySettings.of(study.settings)
    batch_id = new_id()
    rng = random.Random(batch_id)
    drawn, kind = _draw(session, campaign, settings, grades, annotator_id, kind, rng)
    grouped = kind == "work" and bool(grades.grouping)
    if not drawn:
        return _nothing(session, campaign, annotator_id, at)
    batch = Batch(
        id=batch_id,
        campaign_id=campaign_id,
        annotator_id=annotator_id,
        kind=kind,
        opened_at=at,
        expires_at=at + timedelta(minutes=settings.minutes),
    )
    session.add(batch)
    session.flush()
    leases = [
        {
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
    session.execute(insert(Lease), leases)
    return Next("batch", batch_id)


def at_work(session: Session, campaign_id: str, annotator_id: str) -> bool:
    """Whether the annotator has a batch open."""
    return session.scalar(_OPEN, {"campaign": campaign_id, "annotator": annotator_id}) is not None


# Made once: making a statement takes longer than running it.
_OPEN = select(Batch.id).where(
    Batch.campaign_id == bindparam("campaign"),
    Batch.annotator_id == bindparam("annotator"),
    Batch.state == "open",
)
_DONE = (
    select(Batch.kind, Batch.valid, func.count())
    .where(Batch.campaign_id == bindparam("campaign"), Batch.annotator_id == bindparam("annotator"))
    .where(Batch.kind != "work")
    # Who leaves a qualification after judging some of it has tried.
    .where(
        or_(
            Batch.state != "returned",
            and_(Batch.kind == "qualification", Batch.valid.is_not(None)),
        )
    )
    .where(or_(Batch.kind != "practice", Batch.state != "expired", Batch.gold_asked > 0))
    .group_by(Batch.kind, Batch.valid)
)
_STATES = {"draft": "not open yet", "closed": "closed"}


def _may_judge(session: Session, campaign: Campaign, annotator_id: str) -> None:
    member = session.get(Membership, (campaign.study_id, annotator_id))
    if member is None or member.role == "viewer":
        raise NotAllowed("you are not an annotator of this study")
    if member.paused_at is not None:
        raise NotAllowed("your work in this study is paused; the owner of the study knows why")


def _kind(
    session: Session, campaign: Campaign, settings: CampaignSettings, annotator_id: str
) -> str:
    """What comes next: practice once, qualification until passed, then work.

    A practice that ran out before anything in it was answered comes again.
    """
    done = session.execute(_DONE, {"campaign": campaign.id, "annotator": annotator_id}).all()
    if settings.practice_size and not any(kind == "practice" for kind, _, _ in done):
        return "practice"
    if settings.qualification_size:
        tries = [(valid, n) for kind, valid, n in done if kind == "qualification"]
        if not any(valid for valid, _ in tries):
            if sum(n for _, n in tries) >= settings.qualification_tries:
                raise NotAllowed("the qualification was not passed; thank you for trying")
            return "qualification"
    return "work"


def _draw(
    session: Session,
    campaign: Campaign,
    settings: CampaignSettings,
    study: StudySettings,
    annotator_id: str,
    kind: str,
    rng: random.Random,
) -> tuple[list[draw.Drawn], str]:
    if kind != "work":
        size = settings.practice_size if kind == "practice" else settings.qualification_size
        known = draw.gold(session, campaign, study, annotator_id, size, rng)
        # A study with little gold keeps it for the batches.
        if len(known) == size and (kind != "practice" or _spare(session, campaign, settings)):
            return known, kind
        if kind == "qualification":
            raise Conflict("the qualification is not ready; tell the owner of the study")
        kind = _kind_after_practice(settings, session, campaign, annotator_id)
        if kind == "qualification":
            return _draw(session, campaign, settings, study, annotator_id, kind, rng)
    topic = draw.first_topic(session, campaign, annotator_id, rng)
    if topic is None:
        return [], "work"
    if study.grouping:
        return draw.whole_pool(session, campaign, settings, study, annotator_id, topic, rng), "work"
    alone = settings.topics == "one" or (
        settings.topics == "auto"
        and draw.has_own_gold(session, campaign, settings, annotator_id, topic)
    )
    size = settings.batch_size
    real = draw.real(session, campaign, annotator_id, size, rng, topic if alone else None)
    if alone and len(real) < size:
        left = size - len(real)
        real += draw.real(session, campaign, annotator_id, left, rng, besides=real)
    if not real:
        return [], "work"
    own = topic if alone else None
    known = draw.gold(session, campaign, study, annotator_id, settings.gold_size, rng, own)
    if len(known) < settings.gold_size:
        more = draw.gold(session, campaign, study, annotator_id, settings.gold_size, rng)
        known += _without(known, more)[: settings.gold_size - len(known)]
    return real + known, "work"


def _without(there: list[draw.Drawn], more: list[draw.Drawn]) -> list[draw.Drawn]:
    pairs = {one.pair_id for one in there}
    return [one for one in more if one.pair_id not in pairs]


def _spare(session: Session, campaign: Campaign, settings: CampaignSettings) -> bool:
    from venire.store.studies import Gold

    there = session.scalar(
        select(func.count()).where(Gold.study_id == campaign.study_id, Gold.active)
    )
    return (there or 0) >= settings.practice_size + settings.gold_size


def _kind_after_practice(
    settings: CampaignSettings, session: Session, campaign: Campaign, annotator_id: str
) -> str:
    from dataclasses import replace

    return _kind(session, campaign, replace(settings, practice_size=0), annotator_id)


def mixed(drawn: list[draw.Drawn], rng: random.Random) -> list[draw.Drawn]:
    """Topics in random order, the documents of each in random order, gold among them."""
    topics = list({one.topic_id for one in drawn})
    rng.shuffle(topics)
    place = {topic: position for position, topic in enumerate(topics)}
    rng.shuffle(drawn)
    return sorted(drawn, key=lambda one: place[one.topic_id])


def _nothing(session: Session, campaign: Campaign, annotator_id: str, at: datetime) -> Next:
    """Say whether documents that this annotator has not met may come back, and when."""
    mine = aliased(Lease)
    met = select(mine.id).where(
        mine.task_id == Task.id, mine.annotator_id == annotator_id, mine.state.not_in(AGAIN)
    )
    soonest = session.scalar(
        select(func.min(Batch.expires_at))
        .join(Lease, Lease.batch_id == Batch.id)
        .join(Task, Task.id == Lease.task_id)
        .where(Batch.campaign_id == campaign.id, Batch.state == "open", Lease.state == "live")
        .where(Batch.annotator_id != annotator_id, ~met.exists())
    )
    if soonest is None:
        return Next("done")
    return Next("wait", retry_at=max(soonest, at + timedelta(seconds=1)))


_LATE = (
    select(Batch)
    .where(
        Batch.campaign_id == bindparam("campaign"),
        Batch.state == "open",
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
