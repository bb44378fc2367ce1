"""The page on the collection folder is held to the code."""

import re
from collections.abc import Mapping
from pathlib import Path

from venire.formats.rdf import SYNTAXES
from venire.formats.study_folder import KINDS
from venire.formats.study_parts import IMAGES, TABLES
from venire.formats.study_settings import KEYS, parse_settings

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "collection-folder.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_every_setting_has_its_line_and_no_other():
    wanted = [
        f"{key}.{inner}" if inner else key
        for key, check in KEYS.items()
        for inner in (check if isinstance(check, Mapping) else [""])
    ]
    table = TEXT.split("## study.toml")[1].split("## Reading")[0]
    assert re.findall(r"^\| `([\w.]+)` \|", table, re.MULTILINE) == wanted


def test_the_example_is_a_study_toml():
    (example,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    assert parse_settings(example)["scale"]["relevant_from"] == 1


def test_every_ending_and_kind_is_named():
    for ending in (*SYNTAXES, *TABLES):
        assert f"`{ending}`" in TEXT
    assert f"`{' '.join(IMAGES)}`" in TEXT
    for kind in KINDS:
        assert f"`{kind}`" in TEXT
