import sys

import polars as pl
import pytest

from venire.errors import BadSetting, MissingExtra, UnknownName
from venire.retrieval.analysis import LUCENE_STOP_WORDS, Analyzer


def terms(text, **settings):
    return Analyzer(**settings).split_terms(pl.Series([text]))["term"].to_list()


def test_lucene_has_33_stop_words():
    assert len(set(LUCENE_STOP_WORDS)) == 33
    assert terms(" ".join(LUCENE_STOP_WORDS)) == []


# From Porter (1980), the examples of its steps.
@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("relational", "relat"),
        ("conditional", "condit"),
        ("hopping", "hop"),
        ("generalizations", "gener"),
        ("oscillators", "oscil"),
    ],
)
def test_the_stemmer_is_the_original_porter(word, stem):
    assert terms(word) == [stem]


def test_snowball_english_would_differ():
    # "generously": Porter's "gener", Snowball's English "generous".
    assert terms("generously") == ["gener"]


def test_each_step_is_a_setting():
    text = "The WINGS of X-15"
    assert terms(text) == ["wing", "x", "15"]
    assert terms(text, stemmer="none") == ["wings", "x", "15"]
    assert terms(text, stop_words=(), stemmer="none") == ["the", "wings", "of", "x", "15"]
    assert terms(text, lower_case=False, stemmer="none") == ["he", "15"]
    assert terms(text, token=r"[a-z0-9-]+", stemmer="none") == ["wings", "x-15"]


def test_stop_words_go_before_stemming():
    assert terms("thes its", stop_words=("thes",)) == ["it"]


def test_rows_without_terms_are_not_there():
    frame = Analyzer().split_terms(pl.Series(["wing", "", None, "the", "lift wing"]))
    assert frame.rows() == [(0, "wing"), (4, "lift"), (4, "wing")]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"stemmer": "snowball"}, "Unknown stemmer 'snowball'. Choose from none, porter"),
        ({"token": "[a-z"}, "`token` must be a regular expression"),
        ({"stop_words": "the"}, "`stop_words` must be a list of texts"),
    ],
)
def test_wrong_settings(settings, said):
    with pytest.raises((BadSetting, UnknownName), match=said):
        Analyzer(**settings)


def test_without_pystemmer(monkeypatch):
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(MissingExtra, match=r"venire\[retrieval\]"):
        terms("wings")
    assert terms("wings", stemmer="none") == ["wings"]
