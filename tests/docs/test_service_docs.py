"""The pages about the service name every route and every setting, and no others."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from settings_tables import TABLES, find_table

from venire.server.store.session import Store
from venire.server.web.app import create_app

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"


def test_every_route_of_the_api_is_described(tmp_path):
    store = Store.at(tmp_path)
    paths = create_app(store, media=tmp_path / "media").openapi()["paths"]
    store.close()
    there = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    text = (REFERENCE / "service-api.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([A-Z]+ /\S+)` \|", text, re.MULTILINE)) == there


@pytest.mark.parametrize(
    ("page", "heading", "make"),
    [(page, *table) for page, tables in TABLES.items() for table in tables],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_setting_is_described_as_the_code_says_it(page, heading, make):
    text, start, end = find_table(page, heading)
    assert text[start:end] == make(), "run python tests/docs/settings_tables.py"
