"""Readers see a label of every state, never the state as the database has it."""

import re
from pathlib import Path

import pytest
from sqlalchemy import CheckConstraint

from venire.formats.study_settings import CampaignSettings
from venire.server.store.base import Base
from venire.server.store.judging import FILLS
from venire.server.store.people import ROLES
from venire.server.store.studies import DOCUMENT_KINDS, FILE_KINDS
from venire.server.store.work import JOB_STATES
from venire.server.studies.annotators import FLAG_RULES
from venire.server.web import rendering
from venire.server.web.pages.people import STATES
from venire.settings import rules

TEMPLATES = Path(rendering.__file__).parent / "templates"


def allowed(table, column):
    """The values that the database allows in a column."""
    (text,) = [
        str(constraint.sqltext)
        for constraint in Base.metadata.tables[table].constraints
        if isinstance(constraint, CheckConstraint) and str(constraint.name).endswith(column)
    ]
    return re.findall(r"'([\w-]+)'", text)


@pytest.fixture(scope="module")
def labels():
    template = rendering._load_templates().get_template("labels.html")
    return template.module.TABLE


@pytest.mark.parametrize(
    ("kind", "states"),
    [
        ("job", JOB_STATES),
        ("campaign", allowed("campaign", "state")),
        ("batch", allowed("batch", "state")),
        ("batch-kind", allowed("batch", "kind")),
        ("batch-filter", STATES),
        ("payment", allowed("batch", "payment")),
        ("judgment", FILLS),
        ("role", ROLES),
        ("document", DOCUMENT_KINDS),
        ("file", FILE_KINDS),
        ("flag", FLAG_RULES),
    ],
)
def test_every_state_has_a_label(labels, kind, states):
    assert set(states) == set(labels[kind])


def test_every_choice_of_a_campaign_has_a_label(labels):
    for rule in rules(CampaignSettings):
        if rule.choices:
            assert set(rule.choices) == set(labels[rule.name]), rule.name


def test_no_template_prints_a_state_as_it_is():
    prints = re.compile(r"\{\{\s*(?:[\w.]*\.(state|kind|payment|role)|row\.verdict)\s*\}\}")
    for path in sorted(TEMPLATES.glob("*.html")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if "value=" not in line and "data-" not in line:
                assert not prints.search(line), (path.name, number)


def test_an_unknown_state_stays_as_it_is():
    template = rendering._load_templates().from_string(
        '{% import "labels.html" as labels %}{{ labels.label("job", "lost") }}'
    )
    assert template.render() == "lost"
