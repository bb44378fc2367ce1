"""How a study stands: coverage, pace, time left, rejections by wave, alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Integer, case, func, select
from sqlalchemy.orm import Session

from venire.server.store.base import now
from venire.server.store.judging import Batch, BatchReason, Campaign, Judgment, Lease, Task
from venire.server.store.people import Membership, User
from venire.server.store.studies import Gold, Topic
from venire.server.studies.annotators import Given, flagged, given
from venire.server.studies.studies import counts, get_study
from venire.stats.drift import Departure, departure
from venire.stats.proportion import Proportion, wilson

DAY = timedelta(days=1)
Row = dict[str, Any]


def overview(session: Session, study_id: str, at: datetime | None = None) -> Row:
    """How a study stands.

    Returns
    -------
    dict
        ``counts`` of what the study has; ``campaigns`` and ``topics``, rows with ``documents,
        done`` (documents with all places filled), ``asked, filled, open`` (places; open ones are
        being judged) and for campaigns also ``pace`` and ``rejected``; ``alarms``, rows with
        ``kind, campaign_id, text``.
    """
    study = get_study(session, study_id)
    at = at or now()
    campaigns = session.scalars(
        select(Campaign).where(Campaign.study_id == study_id).order_by(Campaign.wave)
    ).all()
    by_topic = _coverage(session, study_id)
    answers = given(session, study_id)
    rows = []
    for campaign in campaigns:
        mine = [row for row in by_topic if row["campaign_id"] == campaign.id]
        rows.append(
            {
                "campaign_id": campaign.id,
                "campaign": campaign.name,
                "wave": campaign.wave,
                "state": campaign.state,
                "opened_at": campaign.opened_at,
                "closed_at": campaign.closed_at,
                **{name: sum(row[name] for row in mine) for name in _PLACES},
                "pace": {},
            }
        )
    waves = rejections(session, study_id)
    for row in rows:
        row["pace"] = _pace(session, row, answers, at)
        row["rejected"] = asdict(waves.get(row["campaign_id"], wilson(0, 0)))
    return {
        "study_id": study_id,
        "study": study.name,
        "counts": counts(session, study_id),
        "campaigns": rows,
        "topics": by_topic,
        "alarms": _alarms(session, study_id, rows, waves, answers, at),
    }


_PLACES = ("documents", "done", "asked", "filled", "open")


def _coverage(session: Session, study_id: str) -> list[Row]:
    """Places by campaign and topic; those of open batches are not filled yet."""
    live = {
        (campaign, topic): n
        for campaign, topic, n in session.execute(
            select(Task.campaign_id, Task.topic_id, func.count())
            .select_from(Batch)
            .join(Campaign, Campaign.id == Batch.campaign_id)
            .join(Lease, Lease.batch_id == Batch.id)
            .join(Task, Task.id == Lease.task_id)
            .where(Campaign.study_id == study_id, Batch.state == "open", Lease.state == "live")
            .group_by(Task.campaign_id, Task.topic_id)
        )
    }
    # Counted by the task's own columns first; the names of 100 topics join later.
    places = (
        select(
            Task.campaign_id,
            Task.topic_id,
            func.count().label("documents"),
            func.sum(case((Task.taken >= Task.overlap, 1), else_=0)).label("full"),
            func.sum(Task.overlap).label("asked"),
            func.sum(Task.taken).label("taken"),
        )
        .where(
            Task.campaign_id.in_(select(Campaign.id).where(Campaign.study_id == study_id)),
            Task.overlap > 0,
        )
        .group_by(Task.campaign_id, Task.topic_id)
        .subquery()
    )
    found = session.execute(
        select(places, Topic.query_id, Topic.title)
        .join(Topic, Topic.id == places.c.topic_id)
        .order_by(places.c.campaign_id, Topic.position)
    )
    rows = []
    for row in found:
        being = live.get((row.campaign_id, row.topic_id), 0)
        rows.append(
            {
                "campaign_id": row.campaign_id,
                "query_id": row.query_id,
                "title": row.title,
                "documents": row.documents,
                "done": row.full if not being else _done(session, row.campaign_id, row.topic_id),
                "asked": int(row.asked),
                "filled": int(row.taken) - being,
                "open": being,
            }
        )
    return rows


def _done(session: Session, campaign_id: str, topic_id: int) -> int:
    """Full documents of a topic of which none is being judged just now."""
    live = select(Lease.id).where(Lease.task_id == Task.id, Lease.state == "live")
    query = select(func.count()).where(
        Task.campaign_id == campaign_id, Task.topic_id == topic_id, Task.overlap > 0
    )
    return session.scalar(query.where(Task.taken >= Task.overlap, ~live.exists())) or 0


def _pace(
    session: Session, campaign: Mapping[str, Any], answers: Sequence[Given], at: datetime
) -> Row:
    """Judgments an hour of the last day, active time, and how long the rest will take.

    ``hours_left`` is by the clock, at the pace of the last day: places left, times the judgments
    that one filled place has cost so far (gold, corrections and rejected batches cost too), over
    the judgments an hour. ``work_hours_left`` is the same in hours of active work. Both are None
    where nothing says how fast it goes.
    """
    mine = Judgment.campaign_id == campaign["campaign_id"]
    here = [one for one in answers if one.campaign_id == campaign["campaign_id"]]
    number = sum(one.answers for one in here)
    timed = sum(one.timed for one in here)
    active_ms = sum(one.active_ms for one in here)
    last = session.scalar(select(func.max(Judgment.judged_at)).where(mine))
    since = at - DAY
    opened = campaign["opened_at"]
    hours = 24.0
    if opened is not None and opened > since:
        hours = max((at - opened) / timedelta(hours=1), 0.25)
    lately = session.scalar(
        select(func.count()).where(mine, Judgment.judged_at > since, Judgment.judged_at <= at)
    )
    per_hour = (lately or 0) / hours
    seconds = active_ms / 1000 / timed if timed else None
    left = campaign["asked"] - campaign["filled"]
    cost = number / campaign["filled"] if campaign["filled"] else None
    return {
        "judgments": number,
        "last_day": lately,
        "per_hour": per_hour,
        "mean_active_seconds": seconds,
        "active_hours": active_ms / 3_600_000,
        "last_at": last,
        "places_left": left,
        "hours_left": left * cost / per_hour if cost is not None and per_hour else None,
        "work_hours_left": left * cost * seconds / 3600 if cost is not None and seconds else None,
    }


def rejections(session: Session, study_id: str) -> dict[str, Proportion]:
    """The share of each campaign's batches that was rejected, of those decided, with interval."""
    found = session.execute(
        select(
            Batch.campaign_id,
            func.count(),
            func.sum(case((Batch.valid.is_(True), 0), else_=1), type_=Integer),
        )
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .where(Campaign.study_id == study_id, Batch.kind == "work", Batch.valid.is_not(None))
        .group_by(Batch.campaign_id)
    )
    return {campaign: wilson(int(bad), n) for campaign, n, bad in found}


def _departs(
    session: Session, campaign_id: str, last: Proportion, wave: Proportion
) -> Departure | None:
    """Whether a wave's rejection rate departs from the last one's; looked at batch by batch."""
    if not last.tries or not wave.tries:
        return None
    decided = session.scalars(
        select(Batch.valid)
        .where(Batch.campaign_id == campaign_id, Batch.kind == "work", Batch.valid.is_not(None))
        .order_by(Batch.finished_at, Batch.id)
    )
    found = departure(last.hits, last.tries, [not valid for valid in decided])
    return found if found.raised_at is not None else None


def _alarms(
    session: Session,
    study_id: str,
    campaigns: list[Row],
    waves: Mapping[str, Proportion],
    answers: Sequence[Given],
    at: datetime,
) -> list[Row]:
    alarms: list[Row] = []

    def add(kind: str, text: str, campaign: Row | None = None) -> None:
        which = None if campaign is None else campaign["campaign_id"]
        alarms.append({"kind": kind, "campaign_id": which, "text": text})

    last: Proportion | None = None
    for row in campaigns:
        wave = waves.get(row["campaign_id"])
        found = None
        if wave is not None and last is not None:
            found = _departs(session, row["campaign_id"], last, wave)
        if found is not None and wave is not None and last is not None:
            add(
                "rejections",
                f"{row['campaign']}: {_share(wave)} of the batches are rejected, "
                f"in the wave before it was {_share(last)}; seen after {found.raised_at} batches",
                row,
            )
        last = wave or last
        _progress_alarm(add, row, at)
    names = {row["campaign_id"]: row for row in campaigns}
    for campaign_id, number in _held(session, study_id):
        row = names[campaign_id]
        add(
            "held",
            f"{row['campaign']}: {number:,} batches ended before any of their gold was judged; "
            "their judgments do not count until you accept them (Annotators, undecided)",
            row,
        )
    for name, seen, there in _gold_out(session, study_id):
        add("gold", f"gold has run out for {name}: all {there} seen ({seen} shown); add gold")
    for flag in flagged(session, study_id, answers):
        add("annotator", f"{flag['name']}: {flag['text']}")
    return alarms


def _share(one: Proportion) -> str:
    return f"{one.value or 0:.0%} ({one.low or 0:.0%} to {one.high or 0:.0%}, {one.tries} batches)"


def _progress_alarm(add: Any, row: Row, at: datetime) -> None:
    if row["state"] != "open":
        return
    left = row["pace"]["places_left"]
    if not left:
        add("done", f"{row['campaign']}: every document has all its judgments; close it", row)
        return
    last = max(filter(None, (row["pace"]["last_at"], row["opened_at"])), default=at)
    if at - last > DAY:
        hours = int((at - last) / timedelta(hours=1))
        add("still", f"{row['campaign']}: open, and no judgment for {hours} hours", row)


def _held(session: Session, study_id: str) -> list[tuple[str, int]]:
    """How many batches of each campaign wait for an owner, for their gold was never judged."""
    rows = session.execute(
        select(Batch.campaign_id, func.count())
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .where(Campaign.study_id == study_id, Batch.state.in_(("expired", "returned")))
        .where(Batch.valid.is_(None), Batch.reason_code == BatchReason.HELD)
        .group_by(Batch.campaign_id)
        .order_by(Batch.campaign_id)
    )
    return [(campaign_id, number) for campaign_id, number in rows]


def _gold_out(session: Session, study_id: str) -> list[tuple[str, int, int]]:
    """Annotators of open campaigns who have met every gold document: name, times, gold."""
    there = session.scalar(select(func.count()).where(Gold.study_id == study_id, Gold.active)) or 0
    open_ones = select(Campaign.id).where(Campaign.study_id == study_id, Campaign.state == "open")
    if not there or session.scalar(open_ones.limit(1)) is None:
        return []
    # Grouped in the order of the index of gold leases, first; which study they are of, after.
    members = select(Membership.user_id).where(
        Membership.study_id == study_id, Membership.paused_at.is_(None)
    )
    met = (
        select(Lease.annotator_id, Lease.pair_id, func.count().label("times"))
        .where(Lease.gold_grade.is_not(None), Lease.annotator_id.in_(members))
        .group_by(Lease.annotator_id, Lease.pair_id)
        .subquery()
    )
    seen = (
        select(
            met.c.annotator_id,
            func.count().label("pairs"),
            func.sum(met.c.times, type_=Integer).label("times"),
        )
        .join(Gold, Gold.pair_id == met.c.pair_id)
        .where(Gold.study_id == study_id, Gold.active)
        .group_by(met.c.annotator_id)
        .subquery()
    )
    rows = session.execute(
        select(User.name, seen.c.times)
        .join(seen, seen.c.annotator_id == User.id)
        .where(seen.c.pairs >= there)
        .order_by(User.name)
    )
    return [(name, times, there) for name, times in rows]
