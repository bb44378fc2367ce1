"""A setting has one name and one default, wherever it is said: request, folder, page."""

from dataclasses import asdict, fields

from venire.formats.study_settings import KEYS
from venire.server.judging.settings import CampaignSettings, StudySettings
from venire.server.web.api.forms import CampaignRules, StudyRules
from venire.server.web.pages.setup import FIELDS


def test_settings_of_a_campaign_are_known_everywhere():
    defaults = asdict(CampaignSettings())
    assert CampaignRules().model_dump() == defaults
    assert set(KEYS["campaign"]) == set(defaults)
    assert {name for name, *_ in FIELDS} == set(defaults)


def test_every_default_of_a_campaign_may_stand_in_a_folder():
    for name, check in KEYS["campaign"].items():
        assert check(getattr(CampaignSettings(), name)) is None, name


def test_settings_of_a_study_can_be_asked_for():
    assert set(StudyRules.model_fields) == {one.name for one in fields(StudySettings)}
