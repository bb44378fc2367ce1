"""A web page as a document: what can be read of it, and nothing that runs or loads."""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from typing import Any

from venire.errors import MissingExtra
from venire.server.content.control_characters import harmless

LONGEST = 5_000_000
"""Characters of a page that are shown."""
DEEPEST = 500
"""Elements inside each other; the sanitiser needs time by the square of their number."""
_TAGS = {
    "a", "abbr", "address", "article", "aside", "b", "bdi", "bdo", "blockquote", "br", "caption",
    "cite", "code", "col", "colgroup", "dd", "del", "details", "dfn", "div", "dl", "dt", "em",
    "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "i",
    "img", "ins", "kbd", "li", "main", "mark", "ol", "p", "pre", "q", "rp", "rt", "ruby", "s",
    "samp", "section", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td",
    "tfoot", "th", "thead", "time", "tr", "tt", "u", "ul", "var", "wbr",
}  # fmt: skip
_GONE = {
    "applet", "audio", "canvas", "datalist", "embed", "iframe", "math", "noembed", "noframes",
    "noscript", "object", "option", "script", "select", "style", "svg", "template", "textarea",
    "title", "video", "xmp",
}  # fmt: skip
"""Tags that go with what is in them; of any other unknown tag the content stays."""
_ATTRIBUTES = {
    "*": {"dir", "lang"},
    "img": {"alt"},
    "li": {"value"},
    "ol": {"reversed", "start", "type"},
    "td": {"colspan", "headers", "rowspan"},
    "th": {"colspan", "headers", "rowspan", "scope"},
}
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/>]*+)[^>]*+>?")
_CLOSED = {
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta",
    "option", "p", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
}  # fmt: skip
"""Tags that have no content, or that the next of their kind closes."""
_HEAD = (
    '<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
    'content="default-src \'none\'"><meta name="referrer" content="no-referrer">'
)


def show_html(source: str) -> str:
    """Return a whole HTML page that is safe in a sandboxed frame (``<iframe sandbox srcdoc>``).

    Scripts, styles, forms, frames, media and vector graphics are taken out by nh3. Links lose
    their address, so that they are only words; of a picture only its alternative text stays.
    The page carries a policy that lets it load nothing, should anything be left to load.
    Characters that hide or turn round others are made visible. A page of more than
    5,000,000 characters is cut there, and says so.

    Raises
    ------
    MissingExtra
        When nh3 is not installed.

    Examples
    --------
    >>> show_html('<p onclick="x()">Hi<script>alert(1)</script>').endswith("<p>Hi</p>")
    True
    """
    clean = sanitizer()
    if _depth(source[:LONGEST]) > DEEPEST:
        words = _TAG.sub(" ", source[:LONGEST])
        source = f"<p>[The page is nested too deep; its words follow.]<p>{escape(words)}"
    body = clean(
        harmless(source[:LONGEST]),
        tags=_TAGS,
        clean_content_tags=_GONE,
        attributes=_ATTRIBUTES,
        link_rel=None,
        strip_comments=True,
        generic_attribute_prefixes=set(),
        url_schemes=set(),
    )
    cut = f"<hr><p>[The page is longer than {LONGEST:,} characters and is cut here.]</p>"
    return f"{_HEAD}{body}{cut if len(source) > LONGEST else ''}"


def _depth(source: str) -> int:
    """Return how deep elements can be inside each other, at most."""
    open_: Counter[str] = Counter()
    depth = deepest = 0
    for tag in _TAG.finditer(source):
        name = tag[2].lower()
        if name in _CLOSED:
            continue
        if not tag[1]:
            open_[name] += 1
            depth += 1
            deepest = max(deepest, depth)
        elif open_[name]:
            open_[name] -= 1
            depth -= 1
    return deepest


def sanitizer() -> Any:
    """Return ``nh3.clean``.

    Raises
    ------
    MissingExtra
    """
    try:
        import nh3
    except ImportError:
        raise MissingExtra("nh3", "web", "Showing HTML") from None
    return nh3.clean
