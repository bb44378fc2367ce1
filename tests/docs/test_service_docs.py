"""The pages about the service name every route and every setting, and no others."""

import re
from dataclasses import fields
from pathlib import Path

from venire.server.judging.settings import CampaignSettings, StudySettings
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


def test_every_setting_is_described():
    text = (REFERENCE / "study-settings.md").read_text(encoding="utf-8")
    _, study, campaign = re.split(r"^## Settings of .*$", text, flags=re.MULTILINE)
    for part, settings in ((study, StudySettings), (campaign, CampaignSettings)):
        rows = re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)
        assert rows == [one.name for one in fields(settings)]
