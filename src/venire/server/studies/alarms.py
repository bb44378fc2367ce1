"""Alarms of a study: problems that its owner should look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from sqlalchemy import Integer, func, select
from sqlalchemy.orm import Session

from venire.server.store.judging import Batch, BatchReason, Campaign, Lease
from venire.server.store.people import Membership, User
from venire.server.store.studies import Gold
from venire.server.studies.annotators import AnswerCount, find_flagged
from venire.server.studies.listing import Row
from venire.stats.drift import Departure, departure, estimate_dispersion
from venire.stats.proportion import Proportion
from venire.tables.schema import express

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
BURST = 10
"""New worker IDs from one address within an hour, from which an alarm is raised."""


def _find_departure(
    session: Session, last_id: str, campaign_id: str, last: Proportion, wave: Proportion
) -> Departure | None:
    """Test after each batch whether the rejection rate differs from that of the last wave."""
    if not last.tries or not wave.tries:
        return None
    decided = session.execute(
        select(Batch.campaign_id, Batch.annotator_id, Batch.valid)
        .where(
            Batch.campaign_id.in_((last_id, campaign_id)),
            Batch.kind == "work",
            Batch.valid.is_not(None),
        )
        .order_by(Batch.finished_at, Batch.id)
    ).all()
    counts: dict[str, dict[str, list[int]]] = {last_id: {}, campaign_id: {}}
    for campaign, annotator, valid in decided:
        count = counts[campaign].setdefault(annotator, [0, 0])
        count[0] += not valid
        count[1] += 1
    people = [tuple(zip(*group.values(), strict=True)) for group in counts.values() if group]
    change = departure(
        last.hits,
        last.tries,
        [not valid for campaign, _, valid in decided if campaign == campaign_id],
        dispersion=estimate_dispersion([(hits, tries) for hits, tries in people]),
    )
    return change if change.raised_at is not None else None


def list_alarms(
    session: Session,
    study_id: str,
    campaigns: list[Row],
    waves: Mapping[str, Proportion],
    answers: Sequence[AnswerCount],
    time: datetime,
) -> list[Row]:
    """Return the alarms of a study: ``kind, campaign_id, text``."""
    alarms: list[Row] = []

    def add(kind: str, text: str, campaign: Row | None = None) -> None:
        which = None if campaign is None else campaign["campaign_id"]
        alarms.append({"kind": kind, "campaign_id": which, "text": text})

    last: Proportion | None = None
    last_id = ""
    for row in campaigns:
        wave = waves.get(row["campaign_id"])
        change = None
        if wave is not None and last is not None:
            change = _find_departure(session, last_id, row["campaign_id"], last, wave)
        if change is not None and wave is not None and last is not None:
            add(
                "rejections",
                f"{row['campaign']}: {_format_share(wave)} of batches rejected, against "
                f"{_format_share(last)} in the previous wave (detected after "
                f"{change.raised_at} batches). Review the rejected batches.",
                row,
            )
        if wave is not None:
            last, last_id = wave, row["campaign_id"]
        _add_progress_alarm(add, row, time)
    names = {row["campaign_id"]: row for row in campaigns}
    for campaign_id, number in _count_held(session, study_id):
        row = names[campaign_id]
        add(
            "held",
            f"{row['campaign']}: {express(number, 'batch', 'batches')} held for review: ended "
            "before any gold was judged, or most documents skipped. Their judgments do not count. "
            "Accept or reject them on the Annotators page.",
            row,
        )
    for campaign_id, number in _count_new_workers(session, study_id, time):
        row = names[campaign_id]
        add(
            "workers",
            f"{row['campaign']}: {number} new worker IDs came from one address within an hour. One "
            "person may make up worker IDs: ask for signed links, or lower the limit of new "
            "workers.",
            row,
        )
    for name, seen, total in _find_out_of_gold(session, study_id):
        add("gold", f"{name} has seen all {total} gold documents ({seen} times in all). Add gold.")
    for flag in find_flagged(session, study_id, answers):
        add("annotator", f"{flag['name']}: {flag['text']}")
    return alarms


def _format_share(rate: Proportion) -> str:
    return (
        f"{rate.value or 0:.0%} ({rate.low or 0:.0%} to {rate.high or 0:.0%}, {rate.tries} batches)"
    )


def _add_progress_alarm(add: Any, row: Row, time: datetime) -> None:
    if row["state"] != "open":
        return
    left = row["pace"]["places_left"]
    if not left:
        add(
            "done",
            f"{row['campaign']}: All documents have enough judgments. Close the campaign.",
            row,
        )
        return
    last = max(filter(None, (row["pace"]["last_at"], row["opened_at"])), default=time)
    if time - last > DAY:
        hours = int((time - last) / timedelta(hours=1))
        add(
            "still",
            f"{row['campaign']}: No judgments for {hours} hours. Invite annotators or close it.",
            row,
        )


def _count_held(session: Session, study_id: str) -> list[tuple[str, int]]:
    """Return the number of held batches per campaign."""
    rows = session.execute(
        select(Batch.campaign_id, func.count())
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .where(Campaign.study_id == study_id, Batch.state != "open")
        .where(Batch.valid.is_(None), Batch.reason_code == BatchReason.HELD)
        .group_by(Batch.campaign_id)
        .order_by(Batch.campaign_id)
    )
    return [(campaign_id, number) for campaign_id, number in rows]


def _count_new_workers(session: Session, study_id: str, time: datetime) -> list[tuple[str, int]]:
    """Return campaigns where many new worker IDs came from one address in one hour of the day."""
    rows = session.execute(
        select(User.campaign_id, User.address_hash, User.created_at)
        .join(Campaign, Campaign.id == User.campaign_id)
        .where(Campaign.study_id == study_id, User.address_hash.is_not(None))
        .where(User.created_at > time - DAY)
        .order_by(User.campaign_id, User.address_hash, User.created_at)
    )
    most: dict[str, int] = {}
    for (campaign_id, _), visits in groupby(rows, key=lambda row: (row[0], row[1])):
        times = [row.created_at for row in visits]
        first = 0
        for last, moment in enumerate(times):
            while moment - times[first] > HOUR:
                first += 1
            most[campaign_id] = max(most.get(campaign_id, 0), last - first + 1)
    return [(campaign_id, number) for campaign_id, number in most.items() if number >= BURST]


def _find_out_of_gold(session: Session, study_id: str) -> list[tuple[str, int, int]]:
    """Return annotators of open campaigns who have seen all gold: name, times, gold."""
    hidden = (Gold.study_id == study_id, Gold.active, ~Gold.practice)
    total = session.scalar(select(func.count()).where(*hidden)) or 0
    open_ones = select(Campaign.id).where(Campaign.study_id == study_id, Campaign.state == "open")
    if not total or session.scalar(open_ones.limit(1)) is None:
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
        .where(*hidden)
        .group_by(met.c.annotator_id)
        .subquery()
    )
    rows = session.execute(
        select(User.name, seen.c.times)
        .join(seen, seen.c.annotator_id == User.id)
        .where(seen.c.pairs >= total)
        .order_by(User.name)
    )
    return [(name, times, total) for name, times in rows]
