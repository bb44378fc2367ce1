import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venire.errors import BadLine, BadSetting
from venire.formats.study_toml import KEYS, parse_study_toml, write_study_toml

FULL = """
name = "Pilot"
instructions = '''
# Judge
Be *fair*.'''
languages = ["en", "de"]
documents = "html"
cannot_judge = ["broken", "wrong language"]
show_links = true

[scale]
values = [0, 1, 2]
names = ["off", "related", "on topic"]
definitions = ["", "x", "y"]
relevant_from = 1

[campaign]
overlap = 3
batch_size = 10
gold_size = 2
practice_size = 5
minutes = 45
gold_errors = 0
gold_match = "near"
min_seconds = 1.5
max_same_share = 0.9
max_skipped_share = 0.4
new_workers_per_hour = 12
signed_links = true
topics = "one"
qualification_size = 6
qualification_needed = 5
qualification_tries = 2
pause_below = 0.6
pause_sure = 0.9
"""


def test_every_key_is_read_and_written_back():
    settings = parse_study_toml(FULL)
    assert set(settings) == set(KEYS)
    for table in ("scale", "campaign"):
        assert set(settings[table]) == set(KEYS[table])
    assert settings == tomllib.loads(FULL)
    assert parse_study_toml(write_study_toml(settings)) == settings
    assert write_study_toml(parse_study_toml(write_study_toml(settings))) == write_study_toml(
        settings
    )


def test_a_scale_is_completed():
    assert parse_study_toml("[scale]\nvalues = [0, 0.5, 1]")["scale"] == {
        "values": [0, 0.5, 1],
        "names": ["0", "0.5", "1"],
        "definitions": ["", "", ""],
        "relevant_from": 0.5,
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('nmae = "x"', "unknown key nmae. Did you mean 'name'?"),
        (
            "[campaign]\noverlpa = 3",
            "unknown key campaign.overlpa. Did you mean 'campaign.overlap'?",
        ),
        ("[xyz]", "unknown key xyz. Choose from name"),
        ("[campaign]\noverlap = 0", "campaign.overlap must be between 1 and 1,000 (got 0)"),
        ("[campaign]\noverlap = true", "a whole number between 1 and 1,000 (got True)"),
        ("[campaign]\noverlap = 2.5", "a whole number between 1 and 1,000 (got 2.5)"),
        (
            "[campaign]\nmax_same_share = 2",
            "campaign.max_same_share must be between 0 and 1 (got 2)",
        ),
        (
            "[campaign]\nmin_seconds = nan",
            "campaign.min_seconds must be between 0 and 3,600 (got nan)",
        ),
        ("campaign = 3", "campaign must be a table (got 3). Write [campaign]"),
        ('languages = "en"', "languages must be a list of texts"),
        ("languages = []", "languages must be a list of different values"),
        ('cannot_judge = ["a", "a"]', "cannot_judge must be a list of different values"),
        ('documents = "pdf"', "Unknown documents 'pdf'. Choose from html, text."),
        ("name = 3", "name must be text (got 3)"),
        ('[scale]\nnames = ["a"]', "scale.values is missing"),
        ("[scale]\nvalues = [1, 0]", "must have increasing grades"),
        ('[scale]\nvalues = [0, 1]\nnames = ["a"]', "one name per grade"),
        (
            '[scale]\nvalues = [0, 1]\ndefinitions = ["a"]',
            "scale.definitions must have one text per grade, 2 in all (got 1)",
        ),
        (
            "[scale]\nvalues = [0, 1]\nrelevant_from = 2",
            "scale.relevant_from must be <= the highest grade, 1 (got 2)",
        ),
        ("[scale]\nvalues = [0, inf]", "must have finite grades"),
    ],
)
def test_a_wrong_setting_is_named_with_what_to_do(text, said):
    with pytest.raises(BadSetting) as caught:
        parse_study_toml(text)
    assert said in str(caught.value)
    assert str(caught.value).startswith("study.toml: ")


@pytest.mark.parametrize(
    ("text", "line"), [("a =", 1), ('\nname = "x\n', 2), ("a = " + "[" * 5000, None)]
)
def test_what_is_no_toml_is_named_with_its_line(text, line):
    with pytest.raises(BadLine, match="is not TOML") as caught:
        parse_study_toml(text)
    assert line is None or caught.value.line == line


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXT, TEXT, st.lists(TEXT.filter(bool), min_size=1, unique=True))
def test_any_text_comes_back(name, instructions, languages):
    settings = {"name": name, "instructions": instructions, "languages": languages}
    assert parse_study_toml(write_study_toml(settings)) == settings
