"""docs/reference/measures.md is held to the families of measures."""

import re
from pathlib import Path

import pytest

from venire.measures.family import list_families
from venire.settings import describe_range

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/measures.md").read_text("utf-8")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]
ROWS = {cells[0]: cells[1:] for cells in ROWS}


@pytest.mark.parametrize("family", list_families(), ids=lambda family: family.name)
def test_every_measure_has_its_row(family):
    spellings = next(name for name in ROWS if re.search(rf"`{family.name}[`@]", name))
    value, parameters, source = ROWS[spellings]
    assert parameters == (", ".join(f"`{name}`" for name in family.rules) or "none")
    assert source == family.source
    assert ("@" in spellings) == (family.cutoff is not None)
    if family.cutoff is not None:
        assert (f"`{family.name}`" in spellings) == (family.cutoff.default is None)
    assert all(f"`{alias}`" in value for alias in family.aliases)


def test_every_parameter_has_its_row():
    for family in list_families():
        for rule in family.parameters:
            default, allowed, meaning = ROWS[f"`{rule.name}`"]
            assert (repr(rule.default) if rule.type is str else str(rule.default)) in default
            if rule.choices:
                assert allowed == ", ".join(f"`{choice!r}`" for choice in rule.choices)
            elif rule.type is bool:
                assert allowed == "True, False"
            elif rule.name == "highest":
                assert (allowed, rule.least, rule.most) == ("1 to 50", 1, 50)
            else:
                assert allowed == (describe_range(rule) or "a whole number")
            if not rule.optional:
                assert meaning.replace("`", "").startswith(rule.words.rstrip("."))
