"""A study's instructions: Markdown in, safe HTML out."""

from __future__ import annotations

from venire.errors import BadSetting, MissingExtra
from venire.server.content.control_characters import harmless
from venire.server.content.page import sanitizer

LONGEST = 100_000
"""Most characters of instructions."""
_TAGS = {
    "a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol",
    "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip


def show_instructions(markdown: str) -> str:
    r"""Return Markdown (CommonMark, tables, struck text) as HTML that is safe in a page.

    HTML in it is shown as text. Links may be http, https and mailto, and open elsewhere without
    saying where they come from; a picture becomes a link.

    Raises
    ------
    BadSetting
        For more than 100,000 characters.
    MissingExtra
        When markdown-it-py or nh3 is not installed.

    Examples
    --------
    >>> show_instructions("Be **fair**. <b>")
    '<p>Be <strong>fair</strong>. &lt;b&gt;</p>\n'
    """
    if len(markdown) > LONGEST:
        raise BadSetting(
            f"the instructions have {len(markdown):,} characters; at most {LONGEST:,} are shown"
        )
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        raise MissingExtra("markdown-it-py", "web", "Showing instructions") from None
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    html = reader.disable("image").render(harmless(markdown))
    clean = sanitizer()
    safe: str = clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    return safe
