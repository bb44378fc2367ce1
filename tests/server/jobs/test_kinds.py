"""Kinds of jobs: what their settings are called, and that the API describes them by their rules."""

import dataclasses

import pytest

from venire import plugins
from venire.errors import BadSetting, UnknownName
from venire.server.jobs.forecast import CrowdSettings, ForecastJob
from venire.server.jobs.kinds import JobKind, find_kind, find_rules, list_kinds
from venire.server.jobs.simulate import SimulateJob
from venire.server.web.api.job_forms import NewJob
from venire.settings import rules

SETTINGS = {
    "aggregate": "model settings campaign use_gold seed",
    "agreement": "campaign bootstrap seed",
    "annotators": "most rule draws target_tau target_sd price campaign runs measures seed",
    "encode": "encoder hashes",
    "evaluate": "grades measures runs topics ties",
    "forecast": "grades designs crowd pilot runs measure replays seed",
    "next-best": "campaign budget by runs",
    "regroup": "setting encoder",
    "repeatability": "groups measures runs model pairs relevant_from permutations bootstrap seed",
    "simulate": "truth campaign encoder methods caps annotators queries repetitions bootstrap seed",
    "trust": "grades measure runs judges depth permutations seed",
}
"""Names of settings in databases of 0.1.0: a job that waits there must still run."""


def test_the_kinds_and_the_names_of_their_settings_stay():
    assert set(list_kinds()) >= set(SETTINGS)
    for kind, names in SETTINGS.items():
        assert list(find_rules(kind)) == names.split(), kind


@pytest.mark.parametrize("name", SETTINGS)
def test_a_kind_is_a_frozen_dataclass_whose_settings_have_words_and_defaults(name):
    kind = find_kind(name)
    assert issubclass(kind, JobKind)
    job = kind.of({})
    with pytest.raises(dataclasses.FrozenInstanceError):
        job.seed = 1
    for rule in rules(kind):
        assert rule.words.endswith(".")
        assert rule.label
    assert kind.of(job.to_dict()) == job


def test_the_api_describes_every_kind_by_the_rules_of_its_settings():
    schemas = {schema["title"]: schema for schema in NewJob.model_json_schema()["oneOf"]}
    assert list(schemas) == list_kinds()
    for name, schema in schemas.items():
        assert schema["properties"]["kind"] == {"const": name}
        settings = schema["properties"]["settings"]
        assert settings["additionalProperties"] is False
        for rule in rules(find_kind(name)):
            described = settings["properties"][rule.name]
            assert described["description"] == rule.words
            assert described["default"] == rule.default
            assert described.get("minimum") == rule.least
            assert described.get("maximum") == rule.most
            assert described.get("enum", []) == list(rule.choices)


def test_a_kind_of_another_package_is_found_and_described():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class SleepJob(JobKind):
        """Sleep."""

        def run(self, work, progress):
            return {}

    plugins.register("job", "sleep", SleepJob)
    try:
        assert find_kind("sleep") is SleepJob
        titles = [schema["title"] for schema in NewJob.model_json_schema()["oneOf"]]
        assert titles[-1] == "sleep"
    finally:
        plugins.unregister("job", "sleep")
    with pytest.raises(UnknownName, match="Unknown kind of job 'sleep'"):
        find_kind("sleep")


def test_an_empty_field_of_a_form_has_its_default():
    job = NewJob(kind="trust", settings={"measure": "", "runs": None, "depth": 5})
    assert job.list_values() == {"depth": 5}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"spam": 1}, "`spam` must be >= 0 and < 1 (got 1)"),
        ({"accuracy": 0}, "`accuracy` must be > 0 and <= 1 (got 0)"),
        ({"price": -0.01}, "`price` must be >= 0 (got -0.01)"),
    ],
)
def test_an_impossible_crowd_is_refused_with_the_range(values, message):
    with pytest.raises(BadSetting) as refused:
        CrowdSettings.of(values)
    assert str(refused.value) == message


def test_a_crowd_keeps_what_is_named_and_refuses_unknown_names():
    assert CrowdSettings.of({"spam": 0.2, "seconds": None}).drop_nulls() == {"spam": 0.2}
    with pytest.raises(UnknownName, match="Did you mean 'accuracy'"):
        ForecastJob.of({"crowd": {"acuracy": 1}}).check(None, "study")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"annotators": [{"name": str(n)} for n in range(51)]}, "at most 50 types (got 51)"),
        ({"methods": "x" * 10_001}, "at most 10,000 characters (got 10,001)"),
        ({"repetitions": 101}, "`repetitions` must be between 1 and 100 (got 101)"),
        ({"queries": 0}, "`queries` must be between 1 and 100,000 (got 0)"),
    ],
)
def test_a_simulation_has_a_largest_size(values, message):
    with pytest.raises(BadSetting) as refused:
        SimulateJob.of(values)
    assert message in str(refused.value)
