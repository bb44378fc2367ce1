"""The state of a study: coverage, pace, time left, rejections by campaign, alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from venire.server.store.base import now
from venire.server.store.judging import Batch, Campaign, Judgment, Lease, Task
from venire.server.store.studies import Topic
from venire.server.studies.alarms import DAY, list_alarms
from venire.server.studies.annotators import AnswerCount, count_answers
from venire.server.studies.batches import count_rejections
from venire.server.studies.listing import Row
from venire.server.studies.studies import count_contents, get_study
from venire.stats.proportion import wilson


def read_overview(session: Session, study_id: str, time: datetime | None = None) -> Row:
    """Return the state of a study.

    Returns
    -------
    dict
        ``counts`` of what the study has; ``campaigns`` and ``topics``, rows with ``documents,
        done`` (documents with all places filled), ``asked, filled, open`` (places; open ones are
        being judged) and for campaigns also ``pace`` and ``rejected``; ``alarms``, rows with
        ``kind, campaign_id, text``.
    """
    study = get_study(session, study_id)
    time = time or now()
    campaigns = session.scalars(
        select(Campaign).where(Campaign.study_id == study_id).order_by(Campaign.wave)
    ).all()
    by_topic = _read_coverage(session, study_id)
    answers = count_answers(session, study_id)
    rows = []
    for campaign in campaigns:
        campaign_topics = [row for row in by_topic if row["campaign_id"] == campaign.id]
        rows.append(
            {
                "campaign_id": campaign.id,
                "campaign": campaign.name,
                "wave": campaign.wave,
                "state": campaign.state,
                "opened_at": campaign.opened_at,
                "closed_at": campaign.closed_at,
                **{name: sum(row[name] for row in campaign_topics) for name in _PLACES},
                "pace": {},
            }
        )
    waves = count_rejections(session, study_id)
    for row in rows:
        row["pace"] = _read_pace(session, row, answers, time)
        row["rejected"] = asdict(waves.get(row["campaign_id"], wilson(0, 0)))
    return {
        "study_id": study_id,
        "study": study.name,
        "counts": count_contents(session, study_id),
        "campaigns": rows,
        "topics": by_topic,
        "alarms": list_alarms(session, study_id, rows, waves, answers, time),
    }


_PLACES = ("documents", "done", "asked", "filled", "open")


def _read_coverage(session: Session, study_id: str) -> list[Row]:
    """Return the places per campaign and topic; places in open batches are not filled."""
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
    tasks = session.execute(
        select(places, Topic.query_id, Topic.title)
        .join(Topic, Topic.id == places.c.topic_id)
        .order_by(places.c.campaign_id, Topic.position)
    )
    rows = []
    for row in tasks:
        being = live.get((row.campaign_id, row.topic_id), 0)
        rows.append(
            {
                "campaign_id": row.campaign_id,
                "query_id": row.query_id,
                "title": row.title,
                "documents": row.documents,
                "done": row.full
                if not being
                else _count_done(session, row.campaign_id, row.topic_id),
                "asked": int(row.asked),
                "filled": int(row.taken) - being,
                "open": being,
            }
        )
    return rows


def _count_done(session: Session, campaign_id: str, topic_id: int) -> int:
    """Return the number of full documents of a topic that nobody is judging now."""
    live = select(Lease.id).where(Lease.task_id == Task.id, Lease.state == "live")
    query = select(func.count()).where(
        Task.campaign_id == campaign_id, Task.topic_id == topic_id, Task.overlap > 0
    )
    return session.scalar(query.where(Task.taken >= Task.overlap, ~live.exists())) or 0


def _read_pace(
    session: Session, campaign: Mapping[str, Any], answers: Sequence[AnswerCount], time: datetime
) -> Row:
    """Return judgments per hour (last 24 h), active time, and the time that the rest will take.

    The 24 hours end now; those of a campaign that is closed or has no place left end with its last
    judgment, so that its pace does not fall with the clock.
    ``hours_left`` is by the clock, at the pace of the last day: places left, times the judgments
    that one filled place has cost so far (gold, corrections and rejected batches cost too), over
    the judgments an hour. ``work_hours_left`` is the same in hours of active work. Both are None
    where nothing says how fast it goes.
    """
    in_campaign = Judgment.campaign_id == campaign["campaign_id"]
    counts = [count for count in answers if count.campaign_id == campaign["campaign_id"]]
    number = sum(count.answers for count in counts)
    timed = sum(count.timed for count in counts)
    active_ms = sum(count.active_ms for count in counts)
    last = session.scalar(select(func.max(Judgment.judged_at)).where(in_campaign))
    left = campaign["asked"] - campaign["filled"]
    is_finished = campaign["state"] == "closed" or (campaign["asked"] > 0 and left == 0)
    end = min(last, time) if is_finished and last is not None else time
    since = end - DAY
    opened = campaign["opened_at"]
    hours = 24.0
    if opened is not None and opened > since:
        hours = max((end - opened) / timedelta(hours=1), 0.25)
    lately = session.scalar(
        select(func.count()).where(
            in_campaign, Judgment.judged_at > since, Judgment.judged_at <= end
        )
    )
    per_hour = (lately or 0) / hours
    seconds = active_ms / 1000 / timed if timed else None
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
