"""The terminal names options where Python names arguments."""

from pathlib import Path

import pytest

from venire.cli.main import cli
from venire.cli.shared.error_text import HINTS, find_command, render
from venire.errors import BadSetting, MissingColumns, UnknownLabel

AGGREGATE = find_command(cli, ["aggregate", "--model", "mean", "x.csv"])


def test_every_hint_is_of_a_code_that_the_reference_lists():
    page = Path(__file__).parents[3] / "docs" / "reference" / "errors.md"
    text = page.read_text(encoding="utf-8")
    assert [code for code in HINTS if f"`{code}`" not in text] == []


def test_the_command_of_a_line_is_found():
    assert AGGREGATE.name == "aggregate"
    assert find_command(cli, ["simulate", "pools", "q"]).name == "pools"
    assert find_command(cli, ["--help"]) is cli


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
            "x.csv: missing column label (columns: x). Map column names with --columns "
            "query_id=NAME (a gold file: --gold-columns); ':all' as a name puts that text in every "
            "row.",
        ),
    ],
)
def test_options_stand_in_for_arguments(error, text):
    assert render(error, AGGREGATE) == text
