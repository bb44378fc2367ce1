"""Forecasts of campaigns: save one, and compare it with what happened."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from venire.errors import NotFound
from venire.server.store.judging import Judgment
from venire.server.store.work import Decision
from venire.server.studies.batches import count_rejections
from venire.server.studies.campaigns import get_campaign


def save_forecast(
    session: Session, campaign_id: str, row: Mapping[str, Any], by: str | None = None
) -> Decision:
    """Save the expected cost and quality of a campaign; the last saved forecast counts."""
    campaign = get_campaign(session, campaign_id)
    decision = Decision(
        study_id=campaign.study_id,
        kind="forecast",
        subject=campaign_id,
        verdict="kept",
        facts=dict(row),
        decided_by=by,
    )
    session.add(decision)
    session.flush()
    return decision


def find_forecast(session: Session, campaign_id: str) -> tuple[dict[str, Any], datetime] | None:
    """Return the last saved forecast of a campaign, and when it was saved."""
    decision = session.scalar(
        select(Decision)
        .where(Decision.kind == "forecast", Decision.subject == campaign_id)
        .order_by(Decision.seq.desc())
        .limit(1)
    )
    return None if decision is None else (decision.facts, decision.decided_at)


def forecast_of(session: Session, campaign_id: str) -> dict[str, Any] | None:
    """Return the last saved forecast of a campaign."""
    forecast = find_forecast(session, campaign_id)
    return None if forecast is None else forecast[0]


def compare_forecast(session: Session, campaign_id: str) -> list[dict[str, Any]]:
    """Compare the forecast of a campaign with what happened: ``what, expected, so_far``.

    Judgments are all that were given, gold and rejected ones too; work hours are hours of active
    work of all annotators, None where no time is known.
    """
    campaign = get_campaign(session, campaign_id)
    forecast = forecast_of(session, campaign_id)
    if forecast is None:
        raise NotFound("forecast of the campaign", campaign_id)
    judgments, ms = session.execute(
        select(func.count(), func.sum(Judgment.active_ms)).where(
            Judgment.campaign_id == campaign_id, Judgment.label.is_not(None)
        )
    ).one()
    rejections = count_rejections(session, campaign.study_id).get(campaign_id)
    so_far = {
        "judgments": judgments,
        "work_hours": None if ms is None else int(ms) / 3_600_000,
        "rejected": None if rejections is None else rejections.value,
    }
    # Forecasts of earlier versions call the work hours "hours".
    forecast = {"work_hours": forecast.get("hours"), **forecast}
    return [
        {"what": what, "expected": forecast.get(what), "so_far": value}
        for what, value in so_far.items()
    ]
