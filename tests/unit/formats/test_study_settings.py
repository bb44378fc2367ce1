"""Settings of studies and campaigns: each is checked, and errors say what is allowed."""

import pytest

from venire.errors import BadSetting, UnknownName, VenireError
from venire.formats.study_settings import CampaignSettings, Grade, StudySettings


def grades(*values):
    return [{"value": value, "name": str(value)} for value in values]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"overlap": 0}, "`overlap` must be between 1 and 1,000 (got 0)"),
        ({"overlap": True}, "`overlap` must be a whole number between 1 and 1,000 (got True)"),
        ({"overlap": "3"}, "`overlap` must be a whole number between 1 and 1,000 (got '3')"),
        ({"minutes": 43_201}, "`minutes` must be between 1 and 43,200 (got 43201)"),
        ({"pause_sure": 0.4}, "`pause_sure` must be between 0.5 and 1 (got 0.4)"),
        (
            {"topics": "on"},
            "Unknown topics 'on'. Choose from auto, mixed, one. Did you mean 'one'?",
        ),
        ({"overlpa": 2}, "Did you mean 'overlap'?"),
        (
            {"qualification_size": 2, "qualification_needed": 3},
            "`qualification_needed` must be <= `qualification_size`, which is 2 (got 3)",
        ),
    ],
)
def test_a_wrong_setting_of_a_campaign_is_refused(settings, words):
    with pytest.raises(VenireError) as caught:
        CampaignSettings.of(settings)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"grades": grades(0)}, "`grades` must have between 2 and 10 grades (got 1)"),
        ({"grades": grades(*range(11))}, "`grades` must have between 2 and 10 grades (got 11)"),
        ({"grades": grades(0, 2, 1)}, "`grades` must have increasing values (got 0, 2, 1)"),
        ({"grades": grades(0, 0)}, "`grades` must have increasing values (got 0, 0)"),
        ({"grades": grades(0, 1001)}, "`value` must be between -100 and 1,000 (got 1001)"),
        ({"grades": [{"value": 0, "name": " "}, *grades(1)]}, "`grades` has no name for 0"),
        ({"grades": [{"value": 0}, *grades(1)]}, "`name` is missing"),
        ({"grades": [{"value": 0, "nam": "a"}, *grades(1)]}, "Did you mean 'name'?"),
        ({"relevant_from": 3}, "`relevant_from` must be between 0 and 2"),
        ({"cannot_judge": []}, "`cannot_judge` must have at least one reason"),
        ({"cannot_judge": ["a", " "]}, "`cannot_judge` must have at least one reason"),
        ({"languages": "en"}, "`languages` must be a list of texts (got 'en')"),
        ({"show_links": 1}, "`show_links` must be true or false (got 1)"),
        ({"campaign": {"overlap": 0}}, "`overlap` must be between 1 and 1,000 (got 0)"),
    ],
)
def test_a_wrong_setting_of_a_study_is_refused(settings, words):
    with pytest.raises((BadSetting, UnknownName)) as caught:
        StudySettings.of(settings)
    assert words in str(caught.value)


def test_grades_are_whole_wherever_they_come_from():
    settings = StudySettings.of({"grades": grades(0, 5), "relevant_from": 5})
    assert settings.grades == [
        {"value": 0, "name": "0", "definition": ""},
        {"value": 5, "name": "5", "definition": ""},
    ]
    assert settings.values == [0, 5]
    assert StudySettings.of(settings.to_dict()) == settings


def test_settings_come_back_from_their_plain_values():
    for settings in (CampaignSettings(overlap=5), StudySettings(), Grade(value=1, name="x")):
        assert type(settings).of(settings.to_dict()) == settings
    assert CampaignSettings(min_seconds=3).min_seconds == 3
