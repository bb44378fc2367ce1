"""The page on the collection folder is held to the code."""

import re
from pathlib import Path

from venire.formats.rdf import SYNTAXES
from venire.formats.study_folder import DOCUMENT_KINDS
from venire.formats.study_parts import IMAGES, TABLE_ENDINGS
from venire.formats.study_toml import parse_study_toml

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "collection-folder.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_example_is_a_study_toml():
    (example,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    assert parse_study_toml(example)["scale"]["relevant_from"] == 1


def test_every_ending_and_kind_is_named():
    for ending in (*SYNTAXES, *TABLE_ENDINGS):
        assert f"`{ending}`" in TEXT
    assert f"`{' '.join(IMAGES)}`" in TEXT
    for kind in DOCUMENT_KINDS:
        assert f"`{kind}`" in TEXT
