"""One label, or its withdrawal, applied to a lease: its place, its judgment, the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from venire.server.judging.leases import give_back, take
from venire.server.judging.review import is_right, owner_decided, review
from venire.server.judging.settings import CampaignSettings, StudySettings
from venire.server.store.judging import AGAIN, FILLS, Batch, Campaign, Judgment, Lease
from venire.server.store.studies import Gold

STATE = {
    "label": "judged",
    "group": "judged",
    "cannot": "cannot",
    "skip": "skipped",
    "undo": "live",
}


@dataclass
class OpenBatch:
    """A batch while events are applied to it."""

    session: Session
    batch: Batch
    campaign: Campaign
    settings: CampaignSettings
    study: StudySettings
    leases: dict[str, Lease]
    at: datetime


def judge(here: OpenBatch, lease: Lease, event: Mapping[str, Any]) -> dict[str, Any]:
    """Give a lease its new state, take or give back its place, and write the judgment down."""
    new = STATE[event["kind"]]
    if lease.state in ("rejected", "surplus") and here.batch.valid is not None:
        return {"status": "refused", "reason": "this batch is finished"}
    ended = here.batch.state in ("expired", "returned")
    if ended and here.batch.valid is False and owner_decided(here.session, here.batch):
        return {"status": "refused", "reason": "this batch is finished"}
    if new == "live" and (ended or lease.state == "live"):
        return {"status": "refused", "reason": "there is nothing to undo"}
    if not FILLS[lease.state] and FILLS[new] and not _place_again(here, lease):
        return {"status": "refused", "reason": "too late: others have judged this document"}
    if FILLS[lease.state] and not FILLS[new] and lease.task_id is not None:
        give_back(here.session, [lease.task_id])
    judgment = {
        "event_id": event["id"],
        "lease_id": lease.id,
        "annotator_id": lease.annotator_id,
        "campaign_id": here.campaign.id,
        "pair_id": lease.pair_id,
        "label": event["label"] if new == "judged" else None,
        "reason": {"live": "withdrawn", "skipped": "skipped"}.get(new, event["reason"]),
        "active_ms": event["active_ms"],
        "idle_ms": event["idle_ms"],
        "judged_at": _when(here, event["at"]),
    }
    seq = here.session.connection().execute(_NEW, judgment).scalar_one()
    lease.state = new
    lease.judgment_seq = seq if new in ("judged", "cannot") else None
    lease.ended_at = here.at if new != "live" else None
    if ended:
        review(here.session, here.batch, list(here.leases.values()), here.at)
    answer: dict[str, Any] = {"status": "saved", "state": new}
    if here.batch.kind == "practice" and new == "judged":
        answer["feedback"] = _feedback(here, lease, event["label"])
    return answer


_NEW = insert(Judgment).returning(Judgment.seq)


def _place_again(here: OpenBatch, lease: Lease) -> bool:
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


def _when(here: OpenBatch, given: datetime | None) -> datetime:
    """The browser's time where it can be true (offline work comes late), else the server's."""
    if given is None or not here.batch.opened_at <= given <= here.at:
        return here.at
    return given


def _feedback(here: OpenBatch, lease: Lease, label: int) -> dict[str, Any]:
    note = here.session.scalar(select(Gold.note).where(Gold.pair_id == lease.pair_id))
    grade = lease.gold_grade if lease.gold_grade is not None else label
    right = is_right(label, grade, here.settings.gold_match, here.study)
    return {"right": right, "grade": grade, "note": note or ""}
