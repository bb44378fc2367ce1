"""Tables of settings for the reference pages, derived from the fields of their classes.

Run `python tests/docs/settings_tables.py` after a setting has changed: it writes the tables of
docs/reference/study-settings.md, docs/reference/collection-folder.md and docs/reference/jobs.md
anew.
"""

import json
import re
import typing
from collections.abc import Mapping
from dataclasses import MISSING
from functools import partial
from pathlib import Path

from venire import plugins
from venire.formats.study_settings import CampaignSettings, Grade, StudySettings
from venire.formats.study_toml import KEYS
from venire.settings import describe_type, rules

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
PIPE = "\\|"
HEADS = {
    "settings": "| setting | default | allowed | meaning |\n| --- | --- | --- | --- |\n",
    "keys": "| key | allowed | meaning |\n| --- | --- | --- |\n",
}


def list_settings(kind, write=repr):
    """Return the table of a settings class."""
    rows = [
        f"| `{rule.name}` | {write_default(rule, write)} | {write_allowed(rule)} | "
        f"{rule.words.replace('|', PIPE)} |\n"
        for rule in rules(kind)
    ]
    return HEADS["settings"] + "".join(rows)


def list_job_settings(name):
    """Return the table of a kind of job; its defaults are written as JSON."""
    return list_settings(plugins.load("job", name), json.dumps)


def list_keys(keys):
    """Return the table of the keys of study.toml."""
    rows = []
    for key, rule in keys.items():
        inner = rule.items() if isinstance(rule, Mapping) else [("", rule)]
        for name, inner_rule in inner:
            full = f"{key}.{name}" if name else key
            rows.append(f"| `{full}` | {write_allowed(inner_rule)} | {inner_rule.words} |\n")
    return HEADS["keys"] + "".join(rows)


def write_default(rule, write):
    if rule.default is MISSING:
        return "required"
    if rule.name == "grades" and isinstance(rule.default, list):
        return ", ".join(f"{grade['value']} {grade['name']}" for grade in rule.default)
    return f"`{write(rule.default)}`"


def write_allowed(rule):
    if rule.choices:
        return ", ".join(f"`{choice}`" for choice in rule.choices)
    words = describe_type(rule)
    return words if typing.get_origin(rule.type) else words.removesuffix(" or null")


def find_table(page, heading):
    """Return the first table of a section: its place in the text."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(heading)}$.*?(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    table = re.search(r"(?:^\|.*\n)+", section[0], re.MULTILINE)
    return text, section.start() + table.start(), section.start() + table.end()


TABLES = {
    "study-settings.md": (
        ("Settings of a study", partial(list_settings, StudySettings)),
        ("Settings of a campaign", partial(list_settings, CampaignSettings)),
        ("A grade", partial(list_settings, Grade)),
    ),
    "collection-folder.md": (("study.toml", partial(list_keys, KEYS)),),
    "jobs.md": tuple((name, partial(list_job_settings, name)) for name in plugins.names("job")),
}


def main():
    for page, tables in TABLES.items():
        for heading, make in tables:
            text, start, end = find_table(page, heading)
            (REFERENCE / page).write_text(text[:start] + make() + text[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
