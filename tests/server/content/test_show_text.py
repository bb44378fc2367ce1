import json
import time
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venire.server.content import text as module
from venire.server.content.control_characters import harmless
from venire.server.content.text import fold, show_text


def marked(shown):
    return [[piece for piece, is_marked in line if is_marked] for line in shown.paragraphs]


def whole(line):
    return "".join(piece for piece, _ in line)


def test_terms_are_marked_without_case_and_accents_and_by_their_stem():
    pytest.importorskip("Stemmer")
    shown = show_text(
        "WINGS of Zürich", "He flies; flying wings.\n\nCafé CAFE cafe\u0301", "wing fly cafe zurich"
    )
    assert [piece for piece, is_marked in shown.title if is_marked] == ["WINGS", "Zürich"]
    assert marked(shown) == [["flies", "flying", "wings"], ["Café", "CAFE", "cafe\u0301"]]


def test_without_a_stemmer_words_are_compared_as_they_are(monkeypatch):
    monkeypatch.setattr(module, "_stemmer", lambda: None)
    assert marked(show_text("", "wing wings Wing", "WING")) == [["wing", "Wing"]]


def test_common_words_are_not_marked_unless_there_is_nothing_else():
    assert marked(show_text("", "to be or what is wifi", "what is the wifi")) == [["wifi"]]
    assert marked(show_text("", "to be or not", "to be")) == [["to", "be"]]


def test_pairs_of_characters_are_marked_where_there_are_no_blanks():
    assert marked(show_text("", "東京都庁は東京にある。都道府県", "東京都")) == [["東京都", "東京"]]
    assert marked(show_text("", "서울에서 만나요", "서울")) == [["서울"]]
    assert marked(show_text("", "猫と犬", "犬")) == [["犬"]]


def test_hindi_vowel_signs_belong_to_the_word():
    assert marked(show_text("", "हिन्दी भाषा", "हिन्दी")) == [["हिन्दी"]]


def test_the_densest_passage_has_the_most_distinct_terms():
    body = "wing wing wing wing\n\nnothing\n\nthe wing and the flow\n\nflow wing"
    assert show_text("", body, "wing flow").densest == 2
    assert show_text("", "wing" + " x" * 400 + " flow\n\nwing flow", "wing flow").densest == 1
    assert show_text("wing", "nothing here", "wing").densest is None


def test_a_document_without_text_or_query_is_shown_as_it_is():
    assert show_text(None, None, "x").paragraphs == ()
    assert marked(show_text("", "a b", "")) == [[]]
    assert marked(show_text("", "a b", "!!!")) == [[]]


def test_what_is_shown_is_data():
    shown = show_text("<b>", "<script>alert(1)</script> <img src=x onerror=alert(1)>", "script")
    back = json.loads(json.dumps(asdict(shown)))
    assert back["title"] == [["<b>", False]]
    assert whole(shown.paragraphs[0]) == "<script>alert(1)</script> <img src=x onerror=alert(1)>"


def test_control_characters_are_made_visible():
    assert harmless("a\x00b\x07\x7f\x9b\ud800") == "a␀b␇␡\ufffd\ufffd"
    assert harmless("\u202eevil\u202c \u2066x\u2069") == "[U+202E]evil[U+202C] [U+2066]x[U+2069]"
    assert harmless("\ufeffשלום\u200f\r\nx\ry\u2028z\tt") == "שלום\u200f\nx\ny\nz\tt"
    assert harmless("\U000e0041") == "\ufffd"


@given(st.text(max_size=300), st.text(max_size=40))
def test_nothing_is_lost_and_nothing_is_unsafe(body, query):
    shown = show_text(query, body, query)
    words = "".join("".join(map(whole, shown.paragraphs)).split())
    assert words == "".join(harmless(body).split())
    json.dumps(asdict(shown)).encode()
    "".join(map(whole, shown.paragraphs)).encode()
    assert (shown.densest is not None) == any(marked(shown))


@given(st.text(max_size=50))
def test_folding_twice_is_folding_once_for_ascii(word):
    plain = word.encode("ascii", "ignore").decode()
    assert fold(plain) == fold(fold(plain)) == plain.lower()


@pytest.mark.parametrize(
    "body",
    [
        "a" * 10_000_000,
        "wing flow " * 100_000,
        " \n" * 500_000,
        "e" + "\u0301" * 500_000,
        "東京都庁" * 250_000,
        "\u202e\u0645" * 500_000,
    ],
    ids=["one-word", "hits", "blank", "accents", "unspaced", "bidi"],
)
def test_hostile_bodies_take_seconds_at_most(body):
    start = time.process_time()
    shown = show_text("", body, "wing flow 東京")
    assert time.process_time() - start < 10
    assert all(len(whole(line)) <= module.LONGEST for line in shown.paragraphs)


def test_a_query_of_a_megabyte_is_cut():
    assert marked(show_text("", "w1 w99999", " ".join(f"w{i}" for i in range(100_000)))) == [["w1"]]


def test_text_wrapped_at_a_fixed_width_flows_and_lists_and_verse_do_not():
    wrapped = "the supersonic flow with assigned mach number gradient in\n" * 3 + "walls ."
    (paragraph,) = show_text("", wrapped, "").paragraphs
    assert "\n" not in "".join(text for text, _ in paragraph)
    verse = "Tyger Tyger, burning bright,\nIn the forests of the night;\nWhat immortal hand or eye"
    items = "\n".join(f"- item {n} with a rather long text that fills the line" for n in range(4))
    for kept in (verse, items):
        (paragraph,) = show_text("", kept, "").paragraphs
        assert "".join(text for text, _ in paragraph) == kept
