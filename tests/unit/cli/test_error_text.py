"""The terminal names options where Python names arguments."""

from pathlib import Path

import click
import pytest

from venire.cli.main import cli
from venire.cli.shared.error_text import HINTS, choose_hint, find_command, option_names, render
from venire.errors import BadSetting, MissingColumns, UnknownLabel, VenireError
from venire.tables.scale import WordLabel

AGGREGATE = find_command(cli, ["aggregate", "--model", "mean", "x.csv"])


def test_every_hint_is_of_a_code_that_the_reference_lists():
    page = Path(__file__).parents[3] / "docs" / "reference" / "errors.md"
    text = page.read_text(encoding="utf-8")
    assert [code for code in HINTS if f"`{code}`" not in text] == []


def test_the_command_of_a_line_is_found():
    assert AGGREGATE.name == "aggregate"
    assert find_command(cli, ["simulate", "pools", "q"]).name == "pools"
    assert find_command(cli, ["--help"]) is cli


def list_commands(group):
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from list_commands(command)
        else:
            yield command


class AnyError(VenireError):
    """An error with every attribute that a hint reads."""

    label, words, has_numbers = "x", ("x",), False
    likely_label, likely_platform, missing = "Toloka", "", ("x",)
    mapping, column, constant, renamed = "columns", "label", "", True


@pytest.mark.parametrize("code", [*HINTS, "missing-columns"])
def test_a_hint_names_only_options_that_the_command_has(code):
    for command in list_commands(cli):
        options = option_names(command)
        errors = [AnyError("x", code=code)]
        if code == "missing-columns":
            names = ("columns", "gold_columns", "qrels_columns", "")
            errors = [MissingColumns(["label"], [], mapping=name) for name in names]
        for error in errors:
            hint = choose_hint(error, options) or ""
            named = {word.strip(".,;:") for word in hint.split() if word.startswith("--")}
            if "venire aggregate" not in hint:
                assert named <= set(options.values()), (command.name, hint)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (BadSetting("must be >= 0 (got -1)", argument="seed"), "--seed must be >= 0 (got -1)"),
        (
            UnknownLabel("7", ("0", "1"), "x.csv", 3),
            "x.csv, line 3: label '7' is not on the scale 0, 1. Leave it out with --drop-label 7, "
            "or pass the whole scale, for example --scale 0,1,2.",
        ),
        (
            MissingColumns(["label"], ["x"], "x.csv"),
            "x.csv: missing column label (columns: x). Map column names with --columns label=NAME.",
        ),
        (
            MissingColumns(["query_id"], [], "x.csv"),
            "x.csv: missing column query_id (columns: none). Map column names with --columns "
            "query_id=NAME; ':all' as a name puts the text all in every row.",
        ),
        (
            MissingColumns(["relevance"], ["x"], "x.csv", mapping="gold_columns"),
            "x.csv: missing column relevance (columns: x). Map column names with --gold-columns "
            "relevance=NAME.",
        ),
        (
            MissingColumns(["relevance"], ["x"], "x.csv", mapping="qrels_columns"),
            "x.csv: missing column relevance (columns: x). Rename the columns in the file.",
        ),
        (
            WordLabel(["bad", "good"], "x.csv", 2, has_numbers=False),
            "x.csv, line 2: label must be a finite number (got 'bad'). Pass them worst first, for "
            "example --scale bad,good.",
        ),
    ],
)
def test_options_stand_in_for_arguments(error, text):
    assert render(error, AGGREGATE) == text
