"""The layout: no file over 400 lines, three levels below the package, four under ``server``."""

from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "venire"
FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_has_at_most_400_lines(path):
    assert len(path.read_text().splitlines()) <= 400


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_lies_at_most_three_levels_deep_and_four_in_the_server(path):
    parts = path.relative_to(SOURCE).parts
    assert len(parts) <= (4 if parts[0] == "server" else 3)
