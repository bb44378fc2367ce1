import re
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venire.errors import BadSetting, MissingExtra
from venire.server.content.instructions import show_instructions
from venire.server.content.page import DEEPEST, show_html

pytest.importorskip("nh3")
ATTACKS = [
    "<script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>",
    "<img src='http://evil/track.gif' srcset='http://evil/2x 2x'>",
    "<svg onload=alert(1)><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href='  java\nscript:alert(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<iframe src='http://evil'></iframe><iframe srcdoc='<script>alert(1)</script>'>",
    "<object data='http://evil'></object><embed src='http://evil'>",
    "<form action='http://evil'><input name=a><button formaction='javascript:x'>go</button></form>",
    "<link rel=stylesheet href='http://evil/x.css'><style>@import 'http://evil'</style>",
    "<div style='background:url(http://evil)'>x</div>",
    "<meta http-equiv=refresh content='0;url=http://evil'>",
    "<base href='http://evil/'>",
    "<body onload=alert(1)>",
    "<video src='http://evil' autoplay></video><audio src='http://evil'></audio>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<textarea><img title='</textarea><img src=x onerror=alert(1)>'>",
    "<p id=x name=y class=z>clobber</p>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<table background='http://evil'><td background='http://evil'>",
    "\x00<\x00script>alert(1)</script>",
]
LEFT = re.compile(
    r"<script|<style|<svg|<iframe|<form|<input|<base|<link|<object|<video|\s(?:on\w+|src\w*|href|"
    r"style|id|class|name|background|action)\s*=",
    re.IGNORECASE,
)


def body(html):
    return html.split('content="no-referrer">', 1)[1]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_runs_and_nothing_loads(attack):
    tags = "".join(re.findall(r"<[^>]*>", body(show_html(attack))))
    assert not LEFT.search(tags), tags


@given(st.lists(st.sampled_from([*ATTACKS, "<b>", "</div>", "'", '"', "<", ">", "&lt;", "x"])))
def test_no_mixture_of_attacks_passes(parts):
    shown = body(show_html("".join(parts)))
    assert not LEFT.search("".join(re.findall(r"<[^>]*>", shown)))


def test_what_can_be_read_stays():
    shown = body(show_html("<h1>T</h1><p dir=rtl>a <a href='http://x'>b</a><img src=s alt=cat>"))
    assert shown == '<h1>T</h1><p dir="rtl">a <a>b</a><img alt="cat"></p>'


def test_the_page_has_a_policy_of_its_own():
    assert "default-src 'none'" in show_html("x").split("</", 1)[0]


def test_a_long_page_is_cut_and_says_so():
    assert "cut here" in show_html("x" * 5_000_001)
    assert "cut here" not in show_html("x" * 5_000_000)


@pytest.mark.parametrize("tag", ["<div>", "<b>", "<div><table></div>", "<a><b>", "<q><p></p>"])
def test_a_page_that_is_nested_too_deep_is_shown_as_words(tag):
    start = time.process_time()
    shown = show_html("words" + tag * 100_000)
    assert time.process_time() - start < 10
    assert "nested too deep" in shown
    assert "words" in shown
    assert "nested" not in show_html("<div>" * DEEPEST)


def test_right_to_left_overrides_are_visible():
    assert "[U+202E]" in show_html("<p>\u202eevil")


@pytest.mark.parametrize("attack", ATTACKS)
def test_instructions_show_html_as_text(attack):
    tags = "".join(re.findall(r"<[^>]*>", show_instructions(attack)))
    assert not LEFT.search(tags), tags


def test_instructions_are_markdown():
    assert show_instructions("# T\n\n- a\n- **b**") == (
        "<h1>T</h1>\n<ul>\n<li>a</li>\n<li><strong>b</strong></li>\n</ul>\n"
    )
    shown = show_instructions("[x](javascript:alert(1)) [y](https://e) ![z](http://e/z.png)")
    assert "javascript" not in re.sub(r">[^<]*<", "><", shown)
    assert '<a href="https://e" target="_blank" rel="noopener noreferrer">y</a>' in shown
    assert "<img" not in shown
    assert "<td>1</td>" in show_instructions("|a|\n|-|\n|1|")


def test_instructions_have_a_length():
    with pytest.raises(BadSetting, match="100,001 characters"):
        show_instructions("x" * 100_001)


@pytest.mark.parametrize("package", ["nh3", "markdown_it"])
def test_a_missing_package_is_named(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"venire\[web\]"):
        show_instructions("x")
