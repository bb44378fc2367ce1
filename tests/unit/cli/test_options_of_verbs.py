"""Options of commands are the arguments of the verbs, with the same names and defaults."""

import inspect

import click
import pytest

import venire
from venire.cli.main import cli

VERBS = {
    "aggregate": "aggregate",
    "agreement": "measure_agreement",
    "compare": "compare",
    "evaluate": "evaluate",
    "pool": "pool",
    "retrieve": "retrieve",
    "trust": "trust",
    "simulate annotators": "simulate_annotators",
    "simulate assessors": "simulate_assessors",
    "simulate campaign": "simulate_campaign",
    "simulate grouping": "simulate_grouping",
    "simulate pools": "simulate_pools",
}
PRINTING = {"form", "output", "qrels", "rule"}
"""What to write and how to print it; ``qrels`` and ``rule`` where the verb has none."""
VIEWS = {"by"}
"""Which table of the result to print, where the result has them all."""
SWITCHES = {"campaigns", "study", "database", "model", "pairs", "relevant_from", "measures"}
"""Options of ``venire trust --campaign``, which is venire.measure_repeatability."""


def command_of(name):
    command = cli
    for word in name.split():
        command = command.get_command(click.Context(command), word)
    return command


def defaults_of(name):
    """Return what a command takes where nothing but the required is given."""
    words = {"retrieve": ["c", "-o", "out"], "simulate assessors": ["c", "--keep", "1"]}
    command = command_of(name)
    needed = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    return command.make_context(name, words.get(name, ["x"] * len(needed))).params


@pytest.mark.parametrize("name", VERBS)
def test_every_option_is_an_argument_with_the_same_default(name):
    arguments = inspect.signature(getattr(venire, VERBS[name])).parameters
    for option, value in defaults_of(name).items():
        if option not in arguments:
            allowed = PRINTING | VIEWS | (SWITCHES if name == "trust" else set())
            assert option in allowed, f"venire.{VERBS[name]} has no {option}"
            continue
        default = arguments[option].default
        if option in ("runs", "measures", "keep", "settings") or default is inspect.Parameter.empty:
            continue  # required, or nothing given stands for the default
        if name == "simulate campaign" and isinstance(value, tuple) and isinstance(default, int):
            default = (default,)
        assert value == default, option


@pytest.mark.parametrize("name", VERBS)
def test_every_argument_is_an_option_or_of_python_alone(name):
    of_python = {"progress", "vectors_folder", "measure"}
    options = {parameter.name for parameter in command_of(name).params}
    for argument in inspect.signature(getattr(venire, VERBS[name])).parameters:
        assert argument in options | of_python, argument


def test_groups_of_annotators_have_the_options_of_trust():
    options = {parameter.name for parameter in command_of("trust").params}
    arguments = inspect.signature(venire.measure_repeatability).parameters
    assert set(arguments) <= options
