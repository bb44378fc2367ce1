"""Campaigns: made, opened, closed; their tasks follow the pool."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from venire.errors import Conflict, DataError, NotFound
from venire.judging.settings import CampaignSettings, StudySettings
from venire.service.studies import get_study
from venire.store.base import now
from venire.store.judging import Campaign, Task
from venire.store.studies import Gold, Pair

_AT_ONCE = 5_000


def create_campaign(
    session: Session, study_id: str, name: str, settings: Mapping[str, Any] | None = None
) -> Campaign:
    """Make a campaign, not open yet, with a task for every pair of the pool."""
    study = get_study(session, study_id)
    if not name.strip():
        raise DataError("a campaign needs a name")
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
    there = select(Campaign.id).where(
        Campaign.study_id == study_id, Campaign.name == name.strip()[:200]
    )
    if session.scalar(there) is not None:
        raise Conflict(f"the study has a campaign {name.strip()!r} already")


def get_campaign(session: Session, campaign_id: str, study_id: str | None = None) -> Campaign:
    """The campaign of that id (of that study)."""
    campaign = session.get(Campaign, campaign_id)
    if campaign is None or (study_id is not None and campaign.study_id != study_id):
        raise NotFound("campaign", campaign_id)
    return campaign


def find_campaign(session: Session, study_id: str, name: str) -> Campaign:
    """The campaign of a study by its name or id."""
    found = session.scalar(
        select(Campaign).where(
            Campaign.study_id == study_id, (Campaign.name == name) | (Campaign.id == name)
        )
    )
    if found is None:
        raise NotFound("campaign", name)
    return found


def open_campaign(session: Session, campaign_id: str) -> Campaign:
    """Let annotators in.

    Raises
    ------
    Conflict
        The pool is empty, or the batches are to hold gold and the study has none.
    """
    campaign = get_campaign(session, campaign_id)
    settings = CampaignSettings.of(campaign.settings)
    sync_tasks(session, campaign)
    if not session.scalar(select(Task.id).where(Task.campaign_id == campaign_id).limit(1)):
        raise Conflict("the pool is empty: build it on the Pool page first")
    gold = session.scalar(
        select(func.count()).where(Gold.study_id == campaign.study_id, Gold.active)
    )
    for what, asked in (
        ("each batch", settings.gold_size),
        ("the qualification", settings.qualification_size),
    ):
        if (gold or 0) < asked:
            raise Conflict(
                f"{what} is to hold {asked} gold documents and the study has {gold or 0}: "
                f"add gold on the Data page, or set the gold of {what.split()[-1]} to 0"
            )
    campaign.state = "open"
    campaign.opened_at = campaign.opened_at or now()
    campaign.closed_at = None
    return campaign


def close_campaign(session: Session, campaign_id: str) -> Campaign:
    """Give out no more batches; those that are open can be finished."""
    campaign = get_campaign(session, campaign_id)
    campaign.state = "closed"
    campaign.closed_at = now()
    return campaign


def change_campaign(
    session: Session, campaign_id: str, settings: Mapping[str, Any], name: str | None = None
) -> Campaign:
    """Change rules and overlap; what was decided before stays decided."""
    campaign = get_campaign(session, campaign_id)
    checked = CampaignSettings.of({**campaign.settings, **settings})
    campaign.settings = checked.to_dict()
    if name is not None and name.strip() and name.strip()[:200] != campaign.name:
        _check_name(session, campaign.study_id, name)
        campaign.name = name.strip()[:200]
    session.flush()
    sync_tasks(session, campaign)
    return campaign


def sync_tasks(session: Session, campaign: Campaign) -> None:
    """Give every pair of the pool that is no gold a task; close the tasks of all others.

    A task that people have begun never loses their places: its overlap falls to what is taken.
    """
    overlap = CampaignSettings.of(campaign.settings).overlap
    gold = select(Gold.pair_id).where(Gold.study_id == campaign.study_id, Gold.active)
    wanted = select(Pair.id).where(
        Pair.study_id == campaign.study_id, Pair.pooled, Pair.id.not_in(gold)
    )
    there = select(Task.pair_id).where(Task.campaign_id == campaign.id)
    new = session.execute(
        select(Pair.id, Pair.topic_id).where(Pair.id.in_(wanted), Pair.id.not_in(there))
    ).all()
    rng = random.Random(f"{campaign.id} {len(new)}")
    rows = [
        {
            "campaign_id": campaign.id,
            "pair_id": pair,
            "topic_id": topic,
            "ring": rng.random(),
            "overlap": overlap,
            "taken": 0,
        }
        for pair, topic in new
    ]
    for start in range(0, len(rows), _AT_ONCE):
        session.execute(insert(Task), rows[start : start + _AT_ONCE])
    ours = Task.campaign_id == campaign.id
    # The rows are locked first, in the order of their ids, as every taker locks them.
    session.execute(select(Task.id).where(ours).order_by(Task.id).with_for_update())
    for rule, places in (
        (Task.pair_id.in_(wanted) & (Task.taken <= overlap), overlap),
        (Task.pair_id.in_(wanted) & (Task.taken > overlap), Task.taken),
        (Task.pair_id.not_in(wanted), Task.taken),
    ):
        session.execute(
            update(Task)
            .where(ours, rule)
            .values(overlap=places)
            .execution_options(synchronize_session=False)
        )
    session.flush()


def sync_study(session: Session, study_id: str) -> None:
    """Bring the tasks of all campaigns that are not closed in line with the pool."""
    for campaign in session.scalars(
        select(Campaign).where(Campaign.study_id == study_id, Campaign.state != "closed")
    ):
        sync_tasks(session, campaign)
