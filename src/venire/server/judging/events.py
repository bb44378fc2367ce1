"""Record the events of a browser, each at most once. The last event decides the label."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import and_, bindparam, insert, select
from sqlalchemy.orm import Session

from venire.errors import BadSetting, Conflict, NotFound, UnknownName
from venire.server.judging.label_change import OpenBatch, Refusal, judge, refuse
from venire.server.judging.next_batch import end
from venire.server.judging.pausing import check_member
from venire.server.judging.rules import parse_rules
from venire.server.store.judging import Batch, Campaign, Event, Lease
from venire.server.store.people import Membership
from venire.server.store.studies import Study

EVENT_KINDS = (
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
_ON_ONE_LEASE = ("label", "cannot", "skip", "comment")
MOST_EVENTS = 500
_DAY_MS = 86_400_000


def record(
    session: Session,
    batch_id: str,
    annotator_id: str,
    events: Sequence[Mapping[str, Any]],
    now: datetime,
) -> list[dict[str, Any]]:
    """Apply events to a batch, in order, and answer each; a repeated event gets its first answer.

    An event has ``id`` (a UUID made by the browser), ``kind``, and by its kind ``lease`` or
    ``leases`` (one action on a group), ``label``, ``reason``, ``text``, ``active_ms``,
    ``idle_ms``, ``at``. An answer has ``id``, ``lease`` and ``status``: ``saved``, or ``refused``
    with a ``code`` (see :class:`Refusal`) and a ``reason`` in words. Every event is stored,
    refused ones too.

    Raises
    ------
    NotFound
        The batch does not exist or belongs to another annotator, or they have left the study.
    NotAllowed
        The annotator is paused (code ``paused``).
    BadSetting
        Malformed events, which the judge page never sends.
    Conflict
        An event of another batch (code ``other-batch``).
    """
    if len(events) > MOST_EVENTS:
        raise BadSetting(f"must have at most {MOST_EVENTS} (got {len(events)})", argument="events")
    # The campaign and the study are read in the same statement.
    locked = session.execute(_LOCK, {"batch": batch_id}).first()
    if locked is None or locked.Batch.annotator_id != annotator_id:
        raise NotFound("batch", batch_id)
    batch, campaign, study, role, paused_at = locked
    # The answers of a batch for a platform come from its owner, not from the worker.
    if batch.outside is None:
        check_member(role, paused_at, NotFound("batch", batch_id))
    rules = parse_rules(campaign, study)
    leases = session.scalars(_LEASES, {"batch": batch_id}).all()
    open_batch = OpenBatch(session, batch, rules, {lease.id: lease for lease in leases}, now)
    checked = [_check_event(event) for event in events]
    execute = session.connection().execute
    ids = [event["id"] for event in checked]
    recorded = {row.id: (row.batch_id, row.outcome) for row in execute(_RECORDED, {"ids": ids})}
    new: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for event in checked:
        if event["id"] not in recorded:
            new.append(_apply(open_batch, event))
            recorded[event["id"]] = batch_id, new[-1]["outcome"]
        event_batch, outcome = recorded[event["id"]]
        if event_batch != batch_id:
            raise Conflict(
                f"Event {event['id']} belongs to another batch. Reload the page.",
                code="other-batch",
            )
        answers.append({"id": event["id"], **outcome})
    whole_time = timedelta(minutes=rules.settings.minutes)
    # The short time of a newcomer becomes the whole time with the first judgment.
    is_short = batch.expires_at - batch.opened_at < whole_time
    if batch.state == "open" and not (is_short and all(lease.state == "live" for lease in leases)):
        batch.expires_at = now + whole_time
    session.flush()
    if new:
        execute(_NEW_EVENTS, new)
    return answers


# Statements are built once: building one takes longer than running it.
_LOCK = (
    select(Batch, Campaign, Study, Membership.role, Membership.paused_at)
    .join(Campaign, Campaign.id == Batch.campaign_id)
    .join(Study, Study.id == Campaign.study_id)
    .outerjoin(
        Membership,
        and_(Membership.study_id == Study.id, Membership.user_id == Batch.annotator_id),
    )
    .where(Batch.id == bindparam("batch"))
    .with_for_update(of=Batch)
)
_LEASES = select(Lease).where(Lease.batch_id == bindparam("batch"))
_RECORDED = select(Event.id, Event.batch_id, Event.outcome).where(
    Event.id.in_(bindparam("ids", expanding=True))
)
_NEW_EVENTS = insert(Event)


def _check_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event with a UUID as id, a known kind, and values of the right types."""
    try:
        checked: dict[str, Any] = {
            "id": str(uuid.UUID(str(event["id"]))),
            "kind": str(event["kind"]),
        }
    except (KeyError, ValueError):
        raise BadSetting("An event must have an `id` (a UUID) and a `kind`. Add them.") from None
    if checked["kind"] not in EVENT_KINDS:
        raise UnknownName("kind of event", checked["kind"], EVENT_KINDS)
    for name in ("lease", "reason", "text"):
        value = event.get(name)
        if value is not None and (not isinstance(value, str) or len(value) > 10_000):
            raise BadSetting("must be text of at most 10,000 characters", argument=name)
        checked[name] = None if value is None else value.replace("\x00", "")
    checked["leases"] = _check_leases(event.get("leases"))
    for name in ("label", "active_ms", "idle_ms"):
        value = event.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise BadSetting(f"must be a whole number (got {value!r:.80})", argument=name)
        checked[name] = value
    for name in ("active_ms", "idle_ms"):
        if checked[name] is not None:
            checked[name] = min(max(checked[name], 0), _DAY_MS)
    checked["at"] = _check_time(event.get("at"))
    return checked


def _check_time(value: Any) -> datetime | None:
    try:
        return None if value is None else datetime.fromisoformat(str(value)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadSetting(
            f"must be a time such as 2026-01-31T12:00:00Z (got {value!r:.80})", argument="at"
        ) from None


def _check_leases(value: Any) -> list[str] | None:
    """Return the ids of the leases of one action, each once."""
    if value is None:
        return None
    if (
        not isinstance(value, list)
        or not 1 <= len(value) <= MOST_EVENTS
        or not all(isinstance(lease, str) and len(lease) <= 64 for lease in value)
    ):
        raise BadSetting(f"must be a list of 1 to {MOST_EVENTS} IDs", argument="leases")
    return list(dict.fromkeys(value))


def _apply(open_batch: OpenBatch, event: dict[str, Any]) -> dict[str, Any]:
    """Apply an event, and return its row."""
    lease = open_batch.leases.get(event["lease"] or "")
    if event["kind"] in _ON_ONE_LEASE and lease is None:
        raise NotFound("document in this batch", str(event["lease"]))
    unknown = [lease_id for lease_id in event["leases"] or () if lease_id not in open_batch.leases]
    if unknown:
        raise NotFound("document in this batch", unknown[0])
    outcome = _answer(open_batch, lease, event)
    return {
        "id": event["id"],
        "batch_id": open_batch.batch.id,
        "lease_id": lease.id if lease else None,
        "annotator_id": open_batch.batch.annotator_id,
        "kind": event["kind"],
        "payload": {name: event[name] for name in _PAYLOAD if event[name] is not None},
        "outcome": {"lease": lease.id if lease else None, **outcome},
        "client_at": event["at"],
        "received_at": open_batch.now,
    }


_PAYLOAD = ("leases", "label", "reason", "text", "active_ms", "idle_ms")


def _answer(open_batch: OpenBatch, lease: Lease | None, event: dict[str, Any]) -> dict[str, Any]:
    """Do what an event asks for, and return the answer."""
    kind, rules = event["kind"], open_batch.rules
    if kind in ("look", "note", "comment"):
        return {"status": "saved"}
    if kind == "finish":
        return _finish(open_batch)
    if kind == "leave":
        if open_batch.batch.state == "open":
            end(open_batch.session, open_batch.batch, "returned", rules, open_batch.now)
        return {"status": "saved"}
    leases = [open_batch.leases[lease_id] for lease_id in event["leases"] or ()]
    leases = leases or ([lease] if lease else [])
    if not leases:
        raise NotFound("document in this batch", str(event["lease"]))
    if open_batch.batch.state == "finished":
        return refuse(Refusal.BATCH_OVER)
    if kind == "split":
        return _split(open_batch, leases)
    if kind in ("label", "group") and event["label"] not in rules.study.values:
        return refuse(Refusal.UNKNOWN_GRADE)
    if kind == "cannot" and event["reason"] not in rules.study.cannot_judge:
        return refuse(Refusal.UNKNOWN_REASON)
    if len(leases) == 1:
        return judge(open_batch, leases[0], event)
    return _judge_many(open_batch, leases, event)


def _judge_many(
    open_batch: OpenBatch, leases: list[Lease], event: dict[str, Any]
) -> dict[str, Any]:
    """Apply one action to several documents, and divide its time among them."""
    shares = {
        name: None if event[name] is None else event[name] // len(leases)
        for name in ("active_ms", "idle_ms")
    }
    answers = {lease.id: judge(open_batch, lease, {**event, **shares}) for lease in leases}
    refused = {
        lease_id: answer for lease_id, answer in answers.items() if answer["status"] == "refused"
    }
    if len(refused) == len(leases):
        return next(iter(refused.values()))
    answer: dict[str, Any] = {"status": "saved"}
    if refused:
        answer["refused"] = {lease_id: refusal["reason"] for lease_id, refusal in refused.items()}
        answer["codes"] = {lease_id: refusal["code"] for lease_id, refusal in refused.items()}
    return answer


def _split(open_batch: OpenBatch, leases: list[Lease]) -> dict[str, Any]:
    """Put documents into a new group; a single document belongs to no group."""
    clusters = [lease.cluster for lease in open_batch.leases.values() if lease.cluster is not None]
    number = max(clusters, default=-1) + 1 if len(leases) > 1 else None
    for lease in leases:
        lease.cluster = number
    open_batch.session.flush()
    return {"status": "saved", "cluster": number}


def _finish(open_batch: OpenBatch) -> dict[str, Any]:
    """Hand in the batch, if every document is answered."""
    batch = open_batch.batch
    if batch.state == "finished":
        return {"status": "saved"}
    if batch.state != "open":
        return refuse(Refusal.TIME_OVER)
    left = sum(lease.state == "live" for lease in open_batch.leases.values())
    if left:
        return refuse(
            Refusal.NOT_ALL_JUDGED,
            f"{left} documents are not judged yet. Judge or skip them first.",
        )
    batch.state = "finished"
    batch.finished_at = open_batch.now
    open_batch.review()
    return {"status": "saved"}
