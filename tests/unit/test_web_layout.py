"""Templates and scripts of the pages: short lines, short scripts, all in ARCHITECTURE.md."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WEB = ROOT / "src" / "venire" / "server" / "web"
STATIC = WEB / "static"
SCRIPTS = sorted(STATIC.rglob("*.js"))
TYPES = sorted(STATIC.rglob("*.d.ts"))
TEMPLATES = sorted((WEB / "templates").rglob("*.html"))
TESTS = sorted((ROOT / "tests" / "js").glob("*.js"))
MAX_LINES = 300
MAX_CHARACTERS = 160


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", [*SCRIPTS, *TEMPLATES], ids=name_of)
def test_a_script_or_template_has_at_most_300_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("path", [*SCRIPTS, *TYPES, *TEMPLATES, *TESTS], ids=name_of)
def test_a_line_has_at_most_160_characters(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, 1) if len(line) > MAX_CHARACTERS] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_types_of_a_script_are_checked(path):
    assert path.read_text(encoding="utf-8").startswith("// @ts-check\n")


def test_every_script_is_in_the_architecture():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- `([\w/.-]+\.(?:js|d\.ts))`: ", text, re.MULTILINE)
    scripts = [path.relative_to(STATIC).as_posix() for path in (*SCRIPTS, *TYPES)]
    assert sorted(listed) == sorted(scripts)
