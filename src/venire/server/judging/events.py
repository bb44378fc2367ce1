"""Events of a browser, each applied at most once; the current label is a fold over them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, insert, select
from sqlalchemy.orm import Session

from venire.errors import BadSetting, Conflict, NotFound
from venire.server.judging.label_change import OpenBatch, judge
from venire.server.judging.next_batch import end
from venire.server.judging.review import review
from venire.server.judging.settings import CampaignSettings, StudySettings
from venire.server.store.judging import Batch, Campaign, Event, Lease
from venire.server.store.studies import Study

KINDS = (
    "label",
    "group",
    "split",
    "cannot",
    "skip",
    "undo",
    "comment",
    "look",
    "note",
    "finish",
    "leave",
)
_ON_A_LEASE = ("label", "cannot", "skip", "comment")
_ON_MANY = ("group", "split", "undo", "look")
MOST_AT_ONCE = 500
_DAY_MS = 86_400_000


def record(
    session: Session,
    batch_id: str,
    annotator_id: str,
    events: Sequence[Mapping[str, Any]],
    at: datetime,
) -> list[dict[str, Any]]:
    """Apply events to a batch, in order, and answer each; a repeat gets its first answer.

    An event has ``id`` (a UUID made by the browser), ``kind``, and by its kind ``lease`` or
    ``leases`` (one action on a group), ``label``, ``reason``, ``text``, ``active_ms``,
    ``idle_ms``, ``at``. An answer has ``id``, ``status`` and ``lease``: ``saved``, or ``refused``
    with a ``reason`` in words. Every event is kept, also one that was refused.

    Raises
    ------
    NotFound
        The batch does not exist or is somebody else's.
    BadSetting
        An event that no browser of ours sends.
    """
    if len(events) > MOST_AT_ONCE:
        raise BadSetting(f"{len(events)} events at once; at most {MOST_AT_ONCE} are taken")
    # Its campaign and its study come with it: whatever looks them up later finds them there.
    held = session.execute(_HOLD, {"batch": batch_id}).first()
    if held is None or held.Batch.annotator_id != annotator_id:
        raise NotFound("batch", batch_id)
    batch, campaign, study = held
    leases = session.scalars(_LEASES, {"batch": batch_id}).all()
    here = OpenBatch(
        session,
        batch,
        campaign,
        CampaignSettings.of(campaign.settings),
        StudySettings.of(study.settings),
        {lease.id: lease for lease in leases},
        at,
    )
    checked = [_checked(event) for event in events]
    execute = session.connection().execute
    ids = [event["id"] for event in checked]
    before = {one.id: (one.batch_id, one.outcome) for one in execute(_BEFORE, {"ids": ids})}
    new: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for event in checked:
        if event["id"] not in before:
            new.append(_apply(here, event))
            before[event["id"]] = batch_id, new[-1]["outcome"]
        of, outcome = before[event["id"]]
        if of != batch_id:
            raise Conflict(f"the event {event['id']} belongs to another batch")
        answers.append({"id": event["id"], **outcome})
    if batch.state == "open":
        batch.expires_at = at + timedelta(minutes=here.settings.minutes)
    session.flush()
    if new:
        execute(_NEW, new)
    return answers


# Made once: making a statement takes longer than running it.
_HOLD = (
    select(Batch, Campaign, Study)
    .join(Campaign, Campaign.id == Batch.campaign_id)
    .join(Study, Study.id == Campaign.study_id)
    .where(Batch.id == bindparam("batch"))
    .with_for_update(of=Batch)
)
_LEASES = select(Lease).where(Lease.batch_id == bindparam("batch"))
_BEFORE = select(Event.id, Event.batch_id, Event.outcome).where(
    Event.id.in_(bindparam("ids", expanding=True))
)
_NEW = insert(Event)


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
    made["leases"] = _several(event.get("leases"))
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


def _several(value: Any) -> list[str] | None:
    """Ids of leases that one action is about, each once."""
    if value is None:
        return None
    if (
        not isinstance(value, list)
        or not 1 <= len(value) <= MOST_AT_ONCE
        or not all(isinstance(one, str) and len(one) <= 64 for one in value)
    ):
        raise BadSetting(f"leases of an event are 1 to {MOST_AT_ONCE} ids")
    return list(dict.fromkeys(value))


def _apply(here: OpenBatch, event: dict[str, Any]) -> dict[str, Any]:
    """Apply an event; what is kept of it."""
    lease = here.leases.get(event["lease"] or "")
    if event["kind"] in _ON_A_LEASE and lease is None:
        raise NotFound("document in this batch", str(event["lease"]))
    unknown = [one for one in event["leases"] or () if one not in here.leases]
    if unknown:
        raise NotFound("document in this batch", unknown[0])
    outcome = _outcome(here, lease, event)
    return {
        "id": event["id"],
        "batch_id": here.batch.id,
        "lease_id": lease.id if lease else None,
        "annotator_id": here.batch.annotator_id,
        "kind": event["kind"],
        "payload": {name: event[name] for name in _KEPT if event[name] is not None},
        "outcome": {"lease": lease.id if lease else None, **outcome},
        "client_at": event["at"],
        "received_at": here.at,
    }


_KEPT = ("leases", "label", "reason", "text", "active_ms", "idle_ms")


def _outcome(here: OpenBatch, lease: Lease | None, event: dict[str, Any]) -> dict[str, Any]:
    kind = event["kind"]
    if kind in ("look", "note", "comment"):
        return {"status": "saved"}
    if kind == "finish":
        return _finish(here)
    if kind == "leave":
        if here.batch.state == "open":
            end(here.session, here.batch, "returned", here.at)
        return {"status": "saved"}
    leases = [here.leases[one] for one in event["leases"] or ()] or ([lease] if lease else [])
    if not leases:
        raise NotFound("document in this batch", str(event["lease"]))
    if here.batch.state == "finished":
        return {"status": "refused", "reason": "this batch is finished"}
    if kind == "split":
        return _split(here, leases)
    if kind in ("label", "group") and event["label"] not in here.study.values:
        return {"status": "refused", "reason": f"there is no grade {event['label']}"}
    if kind == "cannot" and event["reason"] not in here.study.cannot_judge:
        return {"status": "refused", "reason": "that reason is not one of the study's"}
    if len(leases) == 1:
        return judge(here, leases[0], event)
    return _judge_many(here, leases, event)


def _judge_many(here: OpenBatch, leases: list[Lease], event: dict[str, Any]) -> dict[str, Any]:
    """One action on several documents; its time is shared among them."""
    shares = {
        name: None if event[name] is None else event[name] // len(leases)
        for name in ("active_ms", "idle_ms")
    }
    answers = {one.id: judge(here, one, {**event, **shares}) for one in leases}
    refused = {one: answer for one, answer in answers.items() if answer["status"] == "refused"}
    if len(refused) == len(leases):
        return next(iter(refused.values()))
    answer: dict[str, Any] = {"status": "saved"}
    if refused:
        answer["refused"] = {one: told["reason"] for one, told in refused.items()}
    return answer


def _split(here: OpenBatch, leases: list[Lease]) -> dict[str, Any]:
    """Make a group of its own of some documents; one alone is no group."""
    taken = [one.cluster for one in here.leases.values() if one.cluster is not None]
    number = max(taken, default=-1) + 1 if len(leases) > 1 else None
    for lease in leases:
        lease.cluster = number
    here.session.flush()
    return {"status": "saved", "cluster": number}


def _finish(here: OpenBatch) -> dict[str, Any]:
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
