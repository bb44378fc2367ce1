"""The house stays a house: no file over 400 lines, no folder over 12 files, two floors."""

from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "venire"
FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_has_at_most_400_lines(path):
    assert len(path.read_text().splitlines()) <= 400


def test_a_folder_has_at_most_12_modules():
    for folder in {path.parent for path in FILES}:
        modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        assert len(modules) <= 12, folder


def test_the_depth_is_two():
    assert all(len(path.relative_to(SOURCE).parts) <= 2 for path in FILES)
