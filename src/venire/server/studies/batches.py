"""Batches of a study: list and count them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Integer, case, func, select
from sqlalchemy.orm import Session

from venire.errors import NotFound
from venire.server.store.judging import Batch, Campaign
from venire.server.store.people import User
from venire.server.studies.listing import PAGE_ROWS, Row
from venire.stats.proportion import Proportion, wilson


def list_batches(
    session: Session,
    study_id: str,
    *,
    annotator_id: str | None = None,
    state: str | None = None,
    offset: int = 0,
    limit: int = PAGE_ROWS,
) -> list[Row]:
    """Return batches, newest first; ``state`` is open, accepted, rejected or undecided."""
    query = (
        select(Batch, Campaign.name, User.name)
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .join(User, User.id == Batch.annotator_id)
        .where(Campaign.study_id == study_id)
    )
    if annotator_id:
        query = query.where(Batch.annotator_id == annotator_id)
    if state == "open":
        query = query.where(Batch.state == "open")
    elif state == "undecided":
        query = query.where(Batch.state != "open", Batch.valid.is_(None))
    elif state in ("accepted", "rejected"):
        query = query.where(Batch.valid.is_(state == "accepted"), Batch.kind != "practice")
    query = query.order_by(Batch.opened_at.desc(), Batch.id).offset(offset).limit(limit)
    return [
        {
            "batch_id": batch.id,
            "campaign": campaign,
            "annotator_id": batch.annotator_id,
            "annotator": name,
            "kind": batch.kind,
            "state": batch.state,
            "valid": batch.valid,
            "reason": batch.reason,
            "reason_code": batch.reason_code,
            "payment": batch.payment,
            "gold_right": batch.gold_right,
            "gold_asked": batch.gold_asked,
            "opened_at": batch.opened_at,
            "finished_at": batch.finished_at,
        }
        for batch, campaign, name in session.execute(query)
    ]


def count_batches(session: Session, study_id: str) -> Row:
    """Return how many batches are open, accepted, rejected, and neither paid nor refused."""
    ended = Batch.state != "open"
    work = Batch.kind != "practice"

    def count(*where: Any) -> Any:
        rule = where[0]
        for condition in where[1:]:
            rule = rule & condition
        return func.coalesce(func.sum(case((rule, 1), else_=0), type_=Integer), 0)

    row = session.execute(
        select(
            count(~ended),
            count(ended, work, Batch.valid.is_(True)),
            count(ended, work, Batch.valid.is_(False)),
            count(ended, work, Batch.payment == "open"),
        )
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .where(Campaign.study_id == study_id)
    ).one()
    return dict(zip(("open", "accepted", "rejected", "unpaid"), map(int, row), strict=True))


def check_batch(session: Session, study_id: str, batch_id: str) -> None:
    """Refuse a batch that is not of the study."""
    query = (
        select(Batch.id)
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .where(Batch.id == batch_id, Campaign.study_id == study_id)
    )
    if session.scalar(query) is None:
        raise NotFound("batch", batch_id)


def count_rejections(session: Session, study_id: str) -> dict[str, Proportion]:
    """Return the share of rejected batches among those decided, per campaign, with interval."""
    rows = session.execute(
        select(
            Batch.campaign_id,
            func.count(),
            func.sum(case((Batch.valid.is_(True), 0), else_=1), type_=Integer),
        )
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .where(Campaign.study_id == study_id, Batch.kind == "work", Batch.valid.is_not(None))
        .group_by(Batch.campaign_id)
    )
    return {campaign: wilson(int(bad), n) for campaign, n, bad in rows}
