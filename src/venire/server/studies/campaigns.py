"""Campaigns of a study: create, change, open, close, find and list them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from venire.errors import BadSetting, Conflict, NotFound
from venire.formats.study_settings import CampaignSettings, StudySettings
from venire.server.store.base import now
from venire.server.store.judging import Campaign, Task
from venire.server.store.studies import Gold
from venire.server.studies.listing import Row
from venire.server.studies.studies import get_study
from venire.server.studies.tasks import sync_tasks


def create_campaign(
    session: Session, study_id: str, name: str, settings: Mapping[str, Any] | None = None
) -> Campaign:
    """Create a campaign that is not open yet, with one task per pair of the pool."""
    study = get_study(session, study_id)
    if not name.strip():
        raise BadSetting("is empty. Enter a name for the campaign.", argument="name")
    _check_name(session, study_id, name)
    defaults = StudySettings.of(study.settings).campaign
    checked = CampaignSettings.of({**defaults, **(settings or {})})
    waves = session.scalar(select(func.max(Campaign.wave)).where(Campaign.study_id == study_id))
    campaign = Campaign(
        study_id=study_id,
        name=name.strip()[:200],
        wave=(waves or 0) + 1,
        settings=checked.to_dict(),
    )
    session.add(campaign)
    session.flush()
    sync_tasks(session, campaign)
    return campaign


def _check_name(session: Session, study_id: str, name: str) -> None:
    query = select(Campaign.id).where(
        Campaign.study_id == study_id, Campaign.name == name.strip()[:200]
    )
    if session.scalar(query) is not None:
        raise Conflict(
            f"A campaign named {name.strip()!r} already exists in this study. Choose another name."
        )


def get_campaign(session: Session, campaign_id: str, study_id: str | None = None) -> Campaign:
    """Return the campaign with that ID (in that study)."""
    campaign = session.get(Campaign, campaign_id)
    if campaign is None or (study_id is not None and campaign.study_id != study_id):
        raise NotFound("campaign", campaign_id)
    return campaign


def find_campaign(session: Session, study_id: str, name: str) -> Campaign:
    """Return the campaign of a study with that name or ID."""
    campaign = session.scalar(
        select(Campaign).where(
            Campaign.study_id == study_id, (Campaign.name == name) | (Campaign.id == name)
        )
    )
    if campaign is None:
        raise NotFound("campaign", name)
    return campaign


def open_campaign(session: Session, campaign_id: str) -> Campaign:
    """Open a campaign for annotators.

    Raises
    ------
    Conflict
        The pool is empty, or the batches are to hold gold and the study has none.
    """
    campaign = get_campaign(session, campaign_id)
    settings = CampaignSettings.of(campaign.settings)
    sync_tasks(session, campaign)
    if not session.scalar(select(Task.id).where(Task.campaign_id == campaign_id).limit(1)):
        raise Conflict("The pool is empty. Build it on the Pool page.")
    gold = session.scalar(
        select(func.count()).where(Gold.study_id == campaign.study_id, Gold.active)
    )
    for place, size in (
        ("Each batch", settings.gold_size),
        ("The qualification", settings.qualification_size),
    ):
        if (gold or 0) < size:
            raise Conflict(
                f"{place} needs {size} gold documents, and the study has {gold or 0}. Add gold "
                "on the Data page, or set the number to 0."
            )
    campaign.state = "open"
    campaign.opened_at = campaign.opened_at or now()
    campaign.closed_at = None
    return campaign


def close_campaign(session: Session, campaign_id: str) -> Campaign:
    """Close a campaign: no new batches; open batches can be finished."""
    campaign = get_campaign(session, campaign_id)
    campaign.state = "closed"
    campaign.closed_at = now()
    return campaign


def change_campaign(
    session: Session, campaign_id: str, settings: Mapping[str, Any], name: str | None = None
) -> Campaign:
    """Change the settings of a campaign; earlier decisions stay."""
    campaign = get_campaign(session, campaign_id)
    checked = CampaignSettings.of({**campaign.settings, **settings})
    campaign.settings = checked.to_dict()
    if name is not None and name.strip() and name.strip()[:200] != campaign.name:
        _check_name(session, campaign.study_id, name)
        campaign.name = name.strip()[:200]
    session.flush()
    sync_tasks(session, campaign)
    return campaign


def list_campaigns(session: Session, study_id: str) -> list[Row]:
    """Return the campaigns of a study in the order of their waves."""
    places = (
        select(
            Task.campaign_id,
            func.count().label("documents"),
            func.sum(Task.overlap).label("asked"),
            func.sum(Task.taken).label("taken"),
        )
        .where(Task.overlap > 0)
        .group_by(Task.campaign_id)
        .subquery()
    )
    query = (
        select(Campaign, places.c.documents, places.c.asked, places.c.taken)
        .outerjoin(places, places.c.campaign_id == Campaign.id)
        .where(Campaign.study_id == study_id)
        .order_by(Campaign.wave)
    )
    return [
        {
            "campaign_id": campaign.id,
            "name": campaign.name,
            "wave": campaign.wave,
            "state": campaign.state,
            "settings": campaign.settings,
            "code_done": campaign.code_done,
            "code_failed": campaign.code_failed,
            "created_at": campaign.created_at,
            "opened_at": campaign.opened_at,
            "closed_at": campaign.closed_at,
            "documents": n or 0,
            "asked": int(asked or 0),
            "taken": int(taken or 0),
        }
        for campaign, n, asked, taken in session.execute(query)
    ]
