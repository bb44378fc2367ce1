"""Models by name: settings as users write them, and the reference page derived from them."""

import re
from pathlib import Path

import pytest

from venire import plugins
from venire.aggregation.adapters import CrowdKitStyle, SklearnStyle
from venire.aggregation.registry import (
    ALL_MODELS,
    DEFAULT,
    build,
    describe_settings,
    select_models,
)
from venire.errors import BadSetting, UnknownName

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "models.md"


@pytest.mark.parametrize("name", plugins.names("aggregator"))
def test_a_model_has_the_name_under_which_it_is_registered(name):
    assert build(name).name == name


@pytest.mark.parametrize("name", plugins.names("aggregator"))
def test_the_reference_page_has_the_table_of_settings(name):
    section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)[1]
    table = "".join(
        f"| `{row['setting']}` | `{row['default']}` | {row['meaning']} |\n"
        for row in describe_settings(name)
    )
    wanted = f"| setting | default | meaning |\n| --- | --- | --- |\n{table}" if table else ""
    assert wanted in section, f"the table of {name} on the page should be\n{wanted}"


def test_values_are_converted_to_the_type_of_the_setting():
    assert build("dawid-skene", {"strength": 2}).strength == 2.0
    assert build("annotator-types", {"difficulties": 1}).difficulties == "1"
    assert build("committee", {"shards": None}).shards is None


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("majority", {"strength": 1}, "`strength` is not a setting: majority has none"),
        ("dawid-skene", {"strength": "much"}, "`strength` must be a number >= 0 (got 'much')"),
        ("glad", {"max_iterations": 2.5}, "`max_iterations` must be a whole number >= 1 (got 2.5)"),
        ("annotator-types", {"bias": 1}, "`bias` must be true or false (got 1)"),
    ],
)
def test_values_of_another_type_are_refused(name, settings, message):
    with pytest.raises(BadSetting, match=re.escape(message)):
        build(name, settings)


def test_an_unknown_setting_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match=r"setting of glad 'tolerence'.*'tolerance'"):
        build("glad", {"tolerence": 1})
    with pytest.raises(UnknownName, match="Unknown setting 'strengths'"):
        select_models(ALL_MODELS, {"strengths": 1})


def test_all_models_take_the_settings_that_they_have():
    models = dict(select_models(ALL_MODELS, {"max_iterations": 7, "strength": 2}))
    assert [name for name in models if name.startswith("ordinal-mixture")] == [
        "ordinal-mixture (none)", "ordinal-mixture (query)", "ordinal-mixture (item)",
    ]  # fmt: skip
    assert models["glad"].max_iterations == 7
    assert models["binary"].strength == 2.0
    one = dict(select_models(ALL_MODELS, {"difficulty": "item"}))
    assert one["ordinal-mixture"].difficulty == "item"


def test_adapters_take_the_default_model():
    rows = [(item, who, label) for item, label in (("a", 0), ("b", 1)) for who in "xyz"]
    assert SklearnStyle().fit(rows).posterior_.model == DEFAULT
    frame = {"task": ["a"] * 3, "worker": list("xyz"), "label": [1, 1, 0]}
    assert CrowdKitStyle().fit(frame).posterior_.model == DEFAULT
