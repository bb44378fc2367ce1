"""Apply a label, or its withdrawal, to a lease: its place, its judgment, the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from venire.server.judging.leases import free_places, take_places
from venire.server.judging.review import is_decided_by_owner, is_right, review
from venire.server.judging.rules import JudgingRules
from venire.server.store.judging import AGAIN, FILLS, Batch, Judgment, Lease, NoLabel, Task
from venire.server.store.studies import Gold

STATE_AFTER = {
    "label": "judged",
    "group": "judged",
    "cannot": "cannot",
    "skip": "skipped",
    "undo": "live",
}
"""Kind of an event -> state of its lease after it."""


class Refusal(StrEnum):
    """Why an event was refused; the judge page tells the cases apart by this code."""

    BATCH_OVER = "batch-over"
    TIME_OVER = "time-over"
    PLACE_TAKEN = "place-taken"
    NOTHING_TO_UNDO = "nothing-to-undo"
    UNKNOWN_GRADE = "unknown-grade"
    UNKNOWN_REASON = "unknown-reason"
    NOT_ALL_JUDGED = "not-all-judged"


REFUSALS = {
    Refusal.BATCH_OVER: "This batch is finished. Start a new batch.",
    Refusal.TIME_OVER: "The time for this batch is over. Start a new batch.",
    Refusal.PLACE_TAKEN: "Too late: Others have already judged this document.",
    Refusal.NOTHING_TO_UNDO: "There is nothing to undo.",
    Refusal.UNKNOWN_GRADE: "This grade is not on the scale. Reload the page.",
    Refusal.UNKNOWN_REASON: "This reason is not in the list. Reload the page.",
}
"""What the annotator reads about a refusal."""


@dataclass
class OpenBatch:
    """A batch while events are applied to it."""

    session: Session
    batch: Batch
    rules: JudgingRules
    leases: dict[str, Lease]
    now: datetime

    def review(self) -> None:
        """Decide whether the batch counts."""
        review(self.session, self.batch, list(self.leases.values()), self.rules, self.now)


def refuse(code: Refusal, reason: str = "") -> dict[str, Any]:
    """Return the answer to an event that is refused."""
    return {"status": "refused", "code": code, "reason": reason or REFUSALS[code]}


def judge(open_batch: OpenBatch, lease: Lease, event: Mapping[str, Any]) -> dict[str, Any]:
    """Set the new state of a lease, take or free its place, and add the judgment."""
    session, batch = open_batch.session, open_batch.batch
    state = STATE_AFTER[event["kind"]]
    if lease.state in ("rejected", "surplus") and batch.valid is not None:
        return refuse(Refusal.BATCH_OVER)
    ended = batch.state in ("expired", "returned")
    if ended and batch.valid is False and is_decided_by_owner(batch):
        return refuse(Refusal.BATCH_OVER)
    if state == "live" and (ended or lease.state == "live"):
        return refuse(Refusal.NOTHING_TO_UNDO)
    if not FILLS[lease.state] and FILLS[state] and not _take_place_again(open_batch, lease):
        return refuse(Refusal.PLACE_TAKEN)
    if FILLS[lease.state] and not FILLS[state] and lease.task_id is not None:
        free_places(session, [lease.task_id])
    judgment = {
        "event_id": event["id"],
        "lease_id": lease.id,
        "annotator_id": lease.annotator_id,
        "campaign_id": open_batch.rules.campaign.id,
        "pair_id": lease.pair_id,
        "label": event["label"] if state == "judged" else None,
        "reason": _NO_LABEL.get(state, event["reason"]),
        "active_ms": event["active_ms"],
        "idle_ms": event["idle_ms"],
        "judged_at": _judged_at(open_batch, event["at"]),
    }
    seq = session.connection().execute(_NEW_JUDGMENT, judgment).scalar_one()
    lease.state = state
    lease.judgment_seq = seq if state in ("judged", "cannot") else None
    lease.ended_at = open_batch.now if state != "live" else None
    if ended:
        open_batch.review()
    answer: dict[str, Any] = {"status": "saved", "state": state}
    if batch.kind == "practice" and state == "judged":
        answer["feedback"] = _give_feedback(open_batch, lease, event["label"])
    return answer


_NO_LABEL = {"live": NoLabel.WITHDRAWN, "skipped": NoLabel.SKIPPED}
_NEW_JUDGMENT = insert(Judgment).returning(Judgment.seq)


def _take_place_again(open_batch: OpenBatch, lease: Lease) -> bool:
    """Take the place that a lease has lost, unless it is filled or the annotator got it again.

    Gold has no places. It follows a real document of its batch: a refusal that only real documents
    meet would tell which ones are gold.
    """
    session = open_batch.session
    if lease.task_id is None:
        return _is_open_again(open_batch, lease)
    return not _has_again(session, lease) and bool(take_places(session, [lease.task_id]))


def _is_open_again(open_batch: OpenBatch, gold: Lease) -> bool:
    """Return whether the real document that a gold lease follows can be judged again.

    The ID of the pair, which no browser sees, decides which document it is: always the same one.
    """
    real = [lease for lease in open_batch.leases.values() if lease.task_id is not None]
    if not real:
        return True
    real.sort(key=lambda lease: lease.position)
    lease = real[gold.pair_id % len(real)]
    if FILLS[lease.state]:
        return True
    task = open_batch.session.get_one(Task, lease.task_id, populate_existing=True)
    return task.taken < task.overlap and not _has_again(open_batch.session, lease)


def _has_again(session: Session, lease: Lease) -> bool:
    """Return whether the annotator got the document of an ended lease once more."""
    other = select(Lease.id).where(
        Lease.task_id == lease.task_id,
        Lease.annotator_id == lease.annotator_id,
        Lease.id != lease.id,
        Lease.state.not_in(AGAIN),
    )
    return session.scalar(other) is not None


def _judged_at(open_batch: OpenBatch, browser_time: datetime | None) -> datetime:
    """Return the browser's time where it is plausible (offline work arrives late), else now."""
    if browser_time is None or not open_batch.batch.opened_at <= browser_time <= open_batch.now:
        return open_batch.now
    return browser_time


def _give_feedback(open_batch: OpenBatch, lease: Lease, label: int) -> dict[str, Any]:
    note = open_batch.session.scalar(select(Gold.note).where(Gold.pair_id == lease.pair_id))
    grade = lease.gold_grade if lease.gold_grade is not None else label
    rules = open_batch.rules
    right = is_right(label, grade, rules.settings.gold_match, rules.study)
    return {"right": right, "grade": grade, "note": note or ""}
