import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venire.errors import BadLine, BadSetting
from venire.formats.study_settings import KEYS, parse_settings, write_settings

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
topics = "one"
qualification_size = 6
qualification_needed = 5
qualification_tries = 2
pause_below = 0.6
pause_sure = 0.9
"""


def test_every_key_is_read_and_written_back():
    settings = parse_settings(FULL)
    assert set(settings) == set(KEYS)
    for table in ("scale", "campaign"):
        assert set(settings[table]) == set(KEYS[table])
    assert settings == tomllib.loads(FULL)
    assert parse_settings(write_settings(settings)) == settings
    assert write_settings(parse_settings(write_settings(settings))) == write_settings(settings)


def test_a_scale_is_completed():
    assert parse_settings("[scale]\nvalues = [0, 0.5, 1]")["scale"] == {
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
        ("[campaign]\noverlap = 0", "campaign.overlap is a whole number from 1 to 1,000, not 0"),
        ("[campaign]\noverlap = true", "not True"),
        ("[campaign]\noverlap = 2.5", "not 2.5"),
        ("[campaign]\nmax_same_share = 2", "a number from 0 to 1"),
        ("[campaign]\nmin_seconds = nan", "a number from 0"),
        ("campaign = 3", "campaign is a table"),
        ('languages = "en"', "languages is a list"),
        ("languages = []", "languages is a list"),
        ('cannot_judge = ["a", "a"]', "cannot_judge is a list"),
        ('documents = "pdf"', 'documents is "text" or "html"'),
        ("name = 3", "name is a text in quotes"),
        ('[scale]\nnames = ["a"]', "scale.values is missing"),
        ("[scale]\nvalues = [1, 0]", "must rise"),
        ('[scale]\nvalues = [0, 1]\nnames = ["a"]', "one name a grade"),
        ('[scale]\nvalues = [0, 1]\ndefinitions = ["a"]', "1 texts for 2 grades"),
        ("[scale]\nvalues = [0, 1]\nrelevant_from = 2", "above the highest grade"),
        ("[scale]\nvalues = [0, inf]", "a list of numbers"),
    ],
)
def test_a_wrong_setting_is_named_with_what_to_do(text, said):
    with pytest.raises(BadSetting) as caught:
        parse_settings(text)
    assert said in str(caught.value)
    assert str(caught.value).startswith("study.toml: ")


@pytest.mark.parametrize(
    ("text", "line"), [("a =", 1), ('\nname = "x\n', 2), ("a = " + "[" * 5000, None)]
)
def test_what_is_no_toml_is_named_with_its_line(text, line):
    with pytest.raises(BadLine, match="is no TOML") as caught:
        parse_settings(text)
    assert line is None or caught.value.line == line


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXT, TEXT, st.lists(TEXT.filter(bool), min_size=1, unique=True))
def test_any_text_comes_back(name, instructions, languages):
    settings = {"name": name, "instructions": instructions, "languages": languages}
    assert parse_settings(write_settings(settings)) == settings
