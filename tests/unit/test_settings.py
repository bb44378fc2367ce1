"""Settings: a rule on each field is what checks, describes and completes them."""

import dataclasses
import inspect
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import venire
from venire.errors import BadSetting, UnknownName
from venire.settings import Settings, check_seed, check_value, describe_type, rules, setting


@dataclass(frozen=True, kw_only=True)
class Sampling(Settings):
    rate: float = setting(0.5, words="Share of the pairs.", label="Rate", least=0, most=1)
    depth: int | None = setting(None, words="Pool depth.", least=1)
    order: str = setting("first", words="Which come first.", choices=("first", "last"))
    strata: list[int] = setting(words="Ranks.", default_factory=lambda: [10, 50])
    quiet: bool = setting(False, words="No output.")
    persistence: float = setting(0.8, words="Chance to go on.", above=0, below=1)
    weight: float = setting(1.0, words="Weight of recall.", above=0)
    names: dict[str, str] = setting(words="Names.", default_factory=dict)
    grid: dict[str, list[float]] = setting(words="Values.", default_factory=dict)
    seed: int = setting(0, words="Random seed.", least=0, most=2**31 - 1)


def test_a_rule_is_said_on_the_field():
    rate, depth, order, strata, *_ = rules(Sampling)
    assert (rate.words, rate.label, rate.least, rate.most) == ("Share of the pairs.", "Rate", 0, 1)
    assert (depth.type, depth.optional, depth.default) == (int, True, None)
    assert order.choices == ("first", "last")
    assert Sampling(depth=np.int64(3), rate=np.float32(0.5)).depth == 3
    assert strata.default == [10, 50]
    assert describe_type(depth) == "a whole number >= 1 or null"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rate": 1.5}, "`rate` must be between 0 and 1 (got 1.5)"),
        ({"rate": float("nan")}, "`rate` must be between 0 and 1 (got nan)"),
        ({"rate": True}, "`rate` must be a number between 0 and 1 (got True)"),
        ({"depth": 0}, "`depth` must be >= 1 (got 0)"),
        ({"depth": 1.0}, "`depth` must be a whole number >= 1 or null (got 1.0)"),
        ({"strata": "10"}, "`strata` must be a list of whole numbers (got '10')"),
        ({"strata": [10, 50.5]}, "`strata` must be a list of whole numbers (got [10, 50.5])"),
        ({"names": {"a": 1}}, "`names` must be a table of texts (got {'a': 1})"),
        ({"grid": {"a": 1}}, "`grid` must be a table of lists of numbers (got {'a': 1})"),
        ({"seed": -1}, "`seed` must be between 0 and 2,147,483,647 (got -1)"),
        ({"persistence": 1.0}, "`persistence` must be > 0 and < 1 (got 1.0)"),
        ({"weight": 0}, "`weight` must be > 0 (got 0)"),
        ({"quiet": 1}, "`quiet` must be true or false (got 1)"),
        ({"names": []}, "`names` must be a table of texts (got [])"),
        ({"order": 3}, "`order` must be text (got 3)"),
    ],
)
def test_what_is_not_allowed_is_refused_with_value_and_range(values, message):
    with pytest.raises(BadSetting) as refused:
        Sampling.of(values)
    assert str(refused.value) == message
    assert refused.value.argument == next(iter(values))


def test_names_are_refused_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'depth'"):
        Sampling.of({"dept": 3})
    with pytest.raises(UnknownName, match="Did you mean 'first'"):
        Sampling(order="frist")


def test_a_setting_without_a_default_must_be_given():
    @dataclass(frozen=True, kw_only=True)
    class Needed(Settings):
        path: str = setting(words="A file.")

    assert rules(Needed)[0].default is dataclasses.MISSING
    with pytest.raises(BadSetting, match="`path` is missing"):
        Needed.of({})


@given(st.one_of(st.none(), st.integers(), st.floats(), st.text(), st.booleans()))
def test_a_value_is_taken_exactly_where_it_is_in_range(value):
    rule = rules(Sampling)[0]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    allowed = number and 0 <= value <= 1
    if allowed:
        check_value(rule, value)
    else:
        with pytest.raises(BadSetting):
            check_value(rule, value)


def test_a_choice_of_types_is_named_in_words():
    @dataclass(frozen=True, kw_only=True)
    class Mixed(Settings):
        scale: int | str | None = setting(None, words="A scale.")

    with pytest.raises(BadSetting, match="`scale` must be a whole number or text or null"):
        Mixed.of({"scale": [0, 1]})


@pytest.mark.parametrize("seed", [-1, 1.5, "a", True, None])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(BadSetting, match="`seed` must be a whole number >= 0"):
        check_seed(seed)


def test_every_verb_checks_its_seed():
    verbs = [getattr(venire, name) for name in venire.__all__ if name[0].islower()]
    with_seed = [verb for verb in verbs if "seed" in inspect.signature(verb).parameters]
    assert len(with_seed) > 8
    for verb in with_seed:
        needed = [
            parameter
            for parameter in inspect.signature(verb).parameters.values()
            if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
        ]
        with pytest.raises(BadSetting, match="`seed` must be"):
            verb(**{parameter.name: None for parameter in needed}, seed=-1)
