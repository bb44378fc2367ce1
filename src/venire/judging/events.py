"""Events of a browser, each applied at most once; the current label is a fold over them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import BadSetting, Conflict, NotFound
from venire.judging.batches import end
from venire.judging.places import give_back, take
from venire.judging.review import is_right, review
from venire.judging.settings import CampaignSettings, StudySettings
from venire.store.judging import AGAIN, FILLS, Batch, Campaign, Event, Judgment, Lease
from venire.store.studies import Gold, Study

KINDS = ("label", "cannot", "skip", "undo", "comment", "look", "note", "finish", "leave")
_ON_A_LEASE = ("label", "cannot", "skip", "undo", "comment")
MOST_AT_ONCE = 500
_DAY_MS = 86_400_000


@dataclass
class _Open:
    """A batch while events are applied to it."""

    session: Session
    batch: Batch
    campaign: Campaign
    settings: CampaignSettings
    study: StudySettings
    leases: dict[str, Lease]
    at: datetime


def record(
    session: Session,
    batch_id: str,
    annotator_id: str,
    events: Sequence[Mapping[str, Any]],
    at: datetime,
) -> list[dict[str, Any]]:
    """Apply events to a batch, in order, and answer each; a repeat gets its first answer.

    An event has ``id`` (a UUID made by the browser), ``kind``, and by its kind ``lease``,
    ``label``, ``reason``, ``text``, ``active_ms``, ``idle_ms``, ``at``. An answer has ``id``,
    ``status`` and ``lease``: ``saved``, or ``refused`` with a ``reason`` in words. Every event
    is kept, also one that was refused.

    Raises
    ------
    NotFound
        The batch does not exist or is somebody else's.
    BadSetting
        An event that no browser of ours sends.
    """
    if len(events) > MOST_AT_ONCE:
        raise BadSetting(f"{len(events)} events at once; at most {MOST_AT_ONCE} are taken")
    batch = session.scalar(select(Batch).where(Batch.id == batch_id).with_for_update())
    if batch is None or batch.annotator_id != annotator_id:
        raise NotFound("batch", batch_id)
    campaign = session.get_one(Campaign, batch.campaign_id)
    study = session.get_one(Study, campaign.study_id)
    leases = session.scalars(select(Lease).where(Lease.batch_id == batch_id)).all()
    here = _Open(
        session,
        batch,
        campaign,
        CampaignSettings.of(campaign.settings),
        StudySettings.of(study.settings),
        {lease.id: lease for lease in leases},
        at,
    )
    checked = [_checked(event) for event in events]
    ids = [event["id"] for event in checked]
    before = {one.id: one for one in session.scalars(select(Event).where(Event.id.in_(ids)))}
    answers: list[dict[str, Any]] = []
    for event in checked:
        known = before.get(event["id"])
        if known is None:
            known = before[event["id"]] = _apply(here, event)
        elif known.batch_id != batch_id:
            raise Conflict(f"the event {event['id']} belongs to another batch")
        answers.append({"id": known.id, **known.outcome})
    if batch.state == "open":
        batch.expires_at = at + timedelta(minutes=here.settings.minutes)
    session.flush()
    return answers


def _checked(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event with an id that is a UUID, a known kind, and values of the right types."""
    try:
        made: dict[str, Any] = {"id": str(uuid.UUID(str(event["id"]))), "kind": str(event["kind"])}
    except (KeyError, ValueError):
        raise BadSetting("an event needs an id that is a UUID, and a kind") from None
    if made["kind"] not in KINDS:
        raise BadSetting(f"unknown kind of event {made['kind']!r} (known: {', '.join(KINDS)})")
    for name in ("lease", "reason", "text"):
        value = event.get(name)
        if value is not None and (not isinstance(value, str) or len(value) > 10_000):
            raise BadSetting(f"{name} of an event is text of at most 10,000 characters")
        made[name] = None if value is None else value.replace("\x00", "")
    for name in ("label", "active_ms", "idle_ms"):
        value = event.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise BadSetting(f"{name} of an event is a whole number")
        made[name] = value
    for name in ("active_ms", "idle_ms"):
        if made[name] is not None:
            made[name] = min(max(made[name], 0), _DAY_MS)
    try:
        given = event.get("at")
        made["at"] = None if given is None else datetime.fromisoformat(str(given)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadSetting("the time of an event is written as 2026-01-31T12:00:00Z") from None
    return made


def _apply(here: _Open, event: dict[str, Any]) -> Event:
    lease = here.leases.get(event["lease"] or "")
    if event["kind"] in _ON_A_LEASE and lease is None:
        raise NotFound("document in this batch", str(event["lease"]))
    kept = Event(
        id=event["id"],
        batch_id=here.batch.id,
        lease_id=lease.id if lease else None,
        annotator_id=here.batch.annotator_id,
        kind=event["kind"],
        payload={
            name: event[name]
            for name in ("label", "reason", "text", "active_ms", "idle_ms")
            if event[name] is not None
        },
        outcome={},
        client_at=event["at"],
        received_at=here.at,
    )
    outcome = _outcome(here, lease, event)
    kept.outcome = {"lease": lease.id if lease else None, **outcome}
    here.session.add(kept)
    here.session.flush()
    return kept


def _outcome(here: _Open, lease: Lease | None, event: dict[str, Any]) -> dict[str, Any]:
    kind = event["kind"]
    if kind in ("look", "note", "comment"):
        return {"status": "saved"}
    if kind == "finish":
        return _finish(here)
    if kind == "leave":
        if here.batch.state == "open":
            end(here.session, here.batch, "returned", here.at)
        return {"status": "saved"}
    if lease is None:
        raise NotFound("document in this batch", "")
    if here.batch.state == "finished" or lease.state in ("rejected", "surplus"):
        return {"status": "refused", "reason": "this batch is finished"}
    if kind == "label" and event["label"] not in here.study.values:
        return {"status": "refused", "reason": f"there is no grade {event['label']}"}
    if kind == "cannot" and event["reason"] not in here.study.cannot_judge:
        return {"status": "refused", "reason": "that reason is not one of the study's"}
    return _judge(here, lease, event)


def _judge(here: _Open, lease: Lease, event: dict[str, Any]) -> dict[str, Any]:
    """Give a lease its new state, take or give back its place, and write the judgment down."""
    state = {"label": "judged", "cannot": "cannot", "skip": "skipped", "undo": "live"}
    new = state[event["kind"]]
    ended = here.batch.state in ("expired", "returned")
    if new == "live" and (ended or lease.state == "live"):
        return {"status": "refused", "reason": "there is nothing to undo"}
    if not FILLS[lease.state] and FILLS[new] and not _place_again(here, lease):
        return {"status": "refused", "reason": "too late: others have judged this document"}
    if FILLS[lease.state] and not FILLS[new] and lease.task_id is not None:
        give_back(here.session, [lease.task_id])
    judgment = Judgment(
        event_id=event["id"],
        lease_id=lease.id,
        annotator_id=lease.annotator_id,
        campaign_id=here.campaign.id,
        pair_id=lease.pair_id,
        label=event["label"] if new == "judged" else None,
        reason={"live": "withdrawn", "skipped": "skipped"}.get(new, event["reason"]),
        active_ms=event["active_ms"],
        idle_ms=event["idle_ms"],
        judged_at=_when(here, event["at"]),
    )
    here.session.add(judgment)
    here.session.flush()
    lease.state = new
    lease.judgment_seq = judgment.seq if new in ("judged", "cannot") else None
    lease.ended_at = here.at if new != "live" else None
    if ended:
        review(here.session, here.batch, list(here.leases.values()), here.at)
    answer: dict[str, Any] = {"status": "saved", "state": new}
    if here.batch.kind == "practice" and new == "judged":
        answer["feedback"] = _feedback(here, lease, event["label"])
    return answer


def _place_again(here: _Open, lease: Lease) -> bool:
    """Take the place of a lease that had lost it, unless it is filled or met again since."""
    if lease.task_id is None:
        return True
    other = select(Lease.id).where(
        Lease.task_id == lease.task_id,
        Lease.annotator_id == lease.annotator_id,
        Lease.id != lease.id,
        Lease.state.not_in(AGAIN),
    )
    if here.session.scalar(other) is not None:
        return False
    return bool(take(here.session, [lease.task_id]))


def _when(here: _Open, given: datetime | None) -> datetime:
    """The browser's time where it can be true (offline work comes late), else the server's."""
    if given is None or not here.batch.opened_at <= given <= here.at:
        return here.at
    return given


def _feedback(here: _Open, lease: Lease, label: int) -> dict[str, Any]:
    note = here.session.scalar(select(Gold.note).where(Gold.pair_id == lease.pair_id))
    grade = lease.gold_grade if lease.gold_grade is not None else label
    right = is_right(label, grade, here.settings.gold_match, here.study)
    return {"right": right, "grade": grade, "note": note or ""}


def _finish(here: _Open) -> dict[str, Any]:
    if here.batch.state == "finished":
        return {"status": "saved"}
    if here.batch.state != "open":
        return {"status": "refused", "reason": "the time for this batch has run out"}
    left = sum(lease.state == "live" for lease in here.leases.values())
    if left:
        return {"status": "refused", "reason": f"{left} documents are not judged yet"}
    here.batch.state = "finished"
    here.batch.finished_at = here.at
    review(here.session, here.batch, list(here.leases.values()), here.at)
    return {"status": "saved"}
