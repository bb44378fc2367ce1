"""Who may judge: refuse paused people, and pause annotators who get too much gold wrong."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from venire.errors import NotAllowed, NotFound
from venire.server.judging.rules import JudgingRules
from venire.server.store.judging import Batch
from venire.server.store.people import Membership
from venire.server.store.work import Decision
from venire.stats.drift import chance_below

PAUSED = "Your work in this study is paused. Ask the owner of the study why."


def check_member(role: str | None, paused_at: datetime | None, absent: NotFound) -> None:
    """Refuse who is no longer in the study or only looks, and who is paused.

    Raises
    ------
    NotFound
        ``absent``: the user may not judge in the study.
    NotAllowed
        The work of the user is paused (code ``paused``).
    """
    if role is None or role == "viewer":
        raise absent
    if paused_at is not None:
        raise NotAllowed(PAUSED, code="paused")


def pause_where_needed(session: Session, batch: Batch, rules: JudgingRules, now: datetime) -> bool:
    """Pause the annotator of a reviewed batch, by the rule of the campaign.

    The accuracy on gold in the campaign's work batches has the posterior
    ``Beta(1 + right, 1 + wrong)``. The annotator is paused where its probability of being below
    ``pause_below`` is at least ``pause_sure``. Owners are never paused by the rule, and only gold
    since the last resumption counts.
    """
    settings, study_id = rules.settings, rules.campaign.study_id
    member = session.get(Membership, (study_id, batch.annotator_id))
    if not settings.pause_below or member is None or member.paused_at is not None:
        return False
    if member.role != "annotator":
        return False
    resumed_at = session.scalar(
        select(func.max(Decision.decided_at)).where(
            Decision.study_id == study_id,
            Decision.kind == "annotator",
            Decision.subject == batch.annotator_id,
            Decision.verdict == "resumed",
        )
    )
    query = select(
        func.coalesce(func.sum(Batch.gold_right), 0), func.coalesce(func.sum(Batch.gold_asked), 0)
    ).where(
        Batch.campaign_id == rules.campaign.id,
        Batch.annotator_id == batch.annotator_id,
        Batch.kind == "work",
        Batch.valid.is_not(None),
    )
    if resumed_at is not None:
        query = query.where(Batch.finished_at > resumed_at)
    right, asked = (int(count) for count in session.execute(query).one())
    chance = chance_below(right, asked, settings.pause_below)
    if not asked or chance < settings.pause_sure:
        return False
    reason = (
        f"{right} of {asked} gold right: accuracy is below {settings.pause_below:.0%} with "
        f"probability {chance:.0%}"
    )
    member.paused_at = now
    member.pause_reason = reason
    session.add(
        Decision(
            study_id=study_id,
            kind="annotator",
            subject=batch.annotator_id,
            verdict="paused",
            reason=reason,
            facts={"gold_right": right, "gold_asked": asked, "chance": chance},
            decided_by=None,
            decided_at=now,
        )
    )
    session.flush()
    return True
