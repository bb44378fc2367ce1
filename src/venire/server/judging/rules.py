"""The rules of a campaign: its row, its settings and those of its study, parsed once."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from venire.formats.study_settings import CampaignSettings, StudySettings
from venire.server.store.judging import Campaign
from venire.server.store.studies import Study


@dataclass(frozen=True)
class JudgingRules:
    """A campaign with the settings that its batches are judged and reviewed by."""

    campaign: Campaign
    settings: CampaignSettings
    study: StudySettings


def read_rules(session: Session, campaign_id: str) -> JudgingRules:
    """Return the rules of a campaign."""
    campaign = session.get_one(Campaign, campaign_id)
    return parse_rules(campaign, session.get_one(Study, campaign.study_id))


def parse_rules(campaign: Campaign, study: Study) -> JudgingRules:
    """Return the rules of a campaign that was read together with its study."""
    settings = CampaignSettings.of(campaign.settings)
    return JudgingRules(campaign, settings, StudySettings.of(study.settings))
