"""A setting is said once, on its field: requests, OpenAPI, study.toml, page and docs follow."""

import sys
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
from pydantic import BaseModel

from venire.errors import BadSetting, UnknownName
from venire.formats import study_toml
from venire.formats.study_settings import CampaignSettings, Grade, StudySettings
from venire.server.store.session import Store
from venire.server.web.api.forms import CampaignRules, StudyRules
from venire.server.web.api.settings_models import make_model
from venire.server.web.app import create_app
from venire.server.web.pages.setup import group_rules
from venire.server.web.rendering import _load_templates
from venire.settings import rules, setting

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
from settings_tables import list_keys, list_settings

MODELS = {"CampaignRules": CampaignSettings, "StudyRules": StudySettings, "Grade": Grade}
NUMBERS = [rule for rule in rules(CampaignSettings) if rule.least is not None]


@pytest.fixture(scope="module")
def schemas(tmp_path_factory):
    """What OpenAPI says about the requests."""
    folder = tmp_path_factory.mktemp("api")
    store = Store.at(folder)
    schemas = create_app(store, media=folder / "media").openapi()["components"]["schemas"]
    store.close()
    return schemas


@pytest.mark.parametrize("name", MODELS)
def test_openapi_says_defaults_ranges_choices_and_words(schemas, name):
    kind = MODELS[name]
    said = schemas[name]["properties"]
    assert list(said) == [field.name for field in fields(kind)]
    assert schemas[name]["additionalProperties"] is False
    for rule in rules(kind):
        schema = said[rule.name]
        assert schema["description"] == rule.words
        assert schema["title"] == rule.label
        assert schema.get("minimum") == rule.least
        assert schema.get("maximum") == rule.most
        assert schema.get("enum", []) == list(rule.choices)
        if rule.name not in ("value", "name"):
            assert schema["default"] == rule.default, rule.name
        else:
            assert rule.name in schemas[name]["required"]


def test_a_request_names_only_what_it_changes():
    assert CampaignRules().model_dump() == CampaignSettings().to_dict()
    assert StudyRules().model_dump()["grades"] == StudySettings().grades
    assert CampaignRules(overlap=5).model_dump(exclude_unset=True) == {"overlap": 5}
    assert StudyRules().model_dump(exclude_unset=True) == {}


@pytest.mark.parametrize("rule", NUMBERS, ids=lambda rule: rule.name)
def test_a_range_is_the_same_everywhere(rule, schemas):
    """The ends are allowed, what is beyond is not: in the class and in study.toml."""
    step = 1 if rule.type is int else 0.01
    page = render(group_rules(CampaignSettings), CampaignSettings().to_dict())
    assert f'name="settings.{rule.name}" type="number" required min="{rule.least}" ' \
           f'max="{rule.most}"' in page  # fmt: skip
    for value in (rule.least, rule.most):
        values = {rule.name: value}
        if rule.name == "qualification_needed":
            values["qualification_size"] = 100
        assert getattr(CampaignSettings.of(values), rule.name) == value
        assert study_toml.check_study_toml({"campaign": {rule.name: value}})
    for value in (rule.least - step, rule.most + step):
        with pytest.raises(BadSetting, match=rf"`{rule.name}` must be between"):
            CampaignSettings.of({rule.name: value})
        with pytest.raises(BadSetting, match=rf"campaign\.{rule.name} must be between"):
            study_toml.check_study_toml({"campaign": {rule.name: value}})


@pytest.mark.parametrize("name", ["topics", "gold_match"])
def test_choices_are_the_same_everywhere(name):
    (rule,) = [rule for rule in rules(CampaignSettings) if rule.name == name]
    page = render(group_rules(CampaignSettings), CampaignSettings().to_dict())
    for choice in rule.choices:
        assert f'<option value="{choice}"' in page
        assert study_toml.check_study_toml({"campaign": {name: choice}})
    with pytest.raises(UnknownName, match="Did you mean"):
        CampaignSettings.of({name: f"{rule.choices[0]}x"})
    with pytest.raises(BadSetting, match=rf"Unknown campaign\.{name} .* Did you mean"):
        study_toml.check_study_toml({"campaign": {name: f"{rule.choices[0]}x"}})


def render(groups, values):
    """The fields of the Annotation page, as HTML."""
    parts = _load_templates().get_template("parts.html").module
    return str(parts.setting_fields(groups, values, "settings.", "c"))


@dataclass(frozen=True, kw_only=True)
class OneMore(CampaignSettings):
    """The settings of a campaign, and a new one."""

    breaks: int = setting(
        4, words="Breaks per day.", label="Breaks", group="Well-being", least=1, most=9
    )


def test_a_setting_that_is_added_is_there_everywhere(monkeypatch):
    schema = make_model(OneMore, "Rules", BaseModel, "").model_json_schema()["properties"]["breaks"]
    assert schema == {
        "default": 4, "description": "Breaks per day.", "maximum": 9, "minimum": 1,
        "title": "Breaks", "type": "integer",
    }  # fmt: skip
    page = render(group_rules(OneMore), OneMore().to_dict())
    assert "<legend>Well-being</legend>" in page
    assert '<label for="c-breaks">Breaks</label>' in page
    assert (
        'name="settings.breaks" type="number" required min="1" max="9" step="1" value="4"' in page
    )
    assert '<span class="help">Breaks per day.</span>' in page
    meaning = "| a whole number between 1 and 9 | Breaks per day. |"
    assert f"| `breaks` | `4` {meaning}" in list_settings(OneMore)
    monkeypatch.setattr(study_toml, "CampaignSettings", OneMore)
    keys = study_toml._list_keys()
    assert f"| `campaign.breaks` {meaning}" in list_keys(keys)
    monkeypatch.setattr(study_toml, "KEYS", keys)
    text = study_toml.write_study_toml({"campaign": {"breaks": 2}})
    assert study_toml.parse_study_toml(text) == {"campaign": {"breaks": 2}}
    with pytest.raises(BadSetting, match=r"campaign\.breaks must be between 1 and 9 \(got 10\)"):
        study_toml.check_study_toml({"campaign": {"breaks": 10}})
    with pytest.raises(BadSetting, match=r"Did you mean 'campaign\.breaks'"):
        study_toml.check_study_toml({"campaign": {"break": 3}})
