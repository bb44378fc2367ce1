"""An annotator whose gold says enough is given no more batches."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from venire.server.judging.settings import CampaignSettings
from venire.server.store.judging import Batch, Campaign
from venire.server.store.people import Membership
from venire.server.store.work import Decision
from venire.stats.drift import chance_below


def pause_where_needed(session: Session, batch: Batch, campaign: Campaign, at: datetime) -> bool:
    """Pause the annotator of a batch that was just reviewed, by the campaign's rule.

    The accuracy on gold in the campaign's work has the posterior ``Beta(1 + right, 1 + wrong)``;
    the annotator is paused where its chance of being below ``pause_below`` is ``pause_sure`` or
    more. Owners are never paused by a rule, and who was resumed is judged by later gold only.
    """
    settings = CampaignSettings.of(campaign.settings)
    member = session.get(Membership, (campaign.study_id, batch.annotator_id))
    if not settings.pause_below or member is None or member.paused_at is not None:
        return False
    if member.role != "annotator":
        return False
    resumed = session.scalar(
        select(func.max(Decision.decided_at)).where(
            Decision.study_id == campaign.study_id,
            Decision.kind == "annotator",
            Decision.subject == batch.annotator_id,
            Decision.verdict == "resumed",
        )
    )
    query = select(
        func.coalesce(func.sum(Batch.gold_right), 0), func.coalesce(func.sum(Batch.gold_asked), 0)
    ).where(
        Batch.campaign_id == campaign.id,
        Batch.annotator_id == batch.annotator_id,
        Batch.kind == "work",
        Batch.valid.is_not(None),
    )
    if resumed is not None:
        query = query.where(Batch.finished_at > resumed)
    right, asked = (int(one) for one in session.execute(query).one())
    chance = chance_below(right, asked, settings.pause_below)
    if not asked or chance < settings.pause_sure:
        return False
    reason = (
        f"{right} of {asked} gold right: with {chance:.0%} the accuracy is below "
        f"{settings.pause_below:.0%}"
    )
    member.paused_at = at
    member.pause_reason = reason
    session.add(
        Decision(
            study_id=campaign.study_id,
            kind="annotator",
            subject=batch.annotator_id,
            verdict="paused",
            reason=reason,
            facts={"gold_right": right, "gold_asked": asked, "chance": chance},
            decided_by=None,
            decided_at=at,
        )
    )
    session.flush()
    return True
