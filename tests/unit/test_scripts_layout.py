"""The scripts of the pages: short files, short lines, each with its line in ARCHITECTURE.md."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src" / "venire" / "server" / "web" / "static"
SCRIPTS = sorted([*STATIC.rglob("*.js"), *STATIC.rglob("*.d.ts")])
TESTS = sorted((ROOT / "tests" / "js").glob("*.js"))
MOST_LINES = 300
MOST_CHARACTERS = 160


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", [path for path in SCRIPTS if path.suffix == ".js"], ids=name_of)
def test_a_script_has_at_most_300_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", [*SCRIPTS, *TESTS], ids=name_of)
def test_a_line_of_a_script_has_at_most_160_characters(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, 1) if len(line) > MOST_CHARACTERS] == []


@pytest.mark.parametrize("path", [path for path in SCRIPTS if path.suffix == ".js"], ids=name_of)
def test_types_of_a_script_are_checked(path):
    assert path.read_text(encoding="utf-8").startswith("// @ts-check\n")


def test_every_script_is_in_the_architecture():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- `([\w/.-]+\.(?:js|d\.ts))`: ", text, re.MULTILINE)
    assert sorted(listed) == sorted(path.relative_to(STATIC).as_posix() for path in SCRIPTS)
