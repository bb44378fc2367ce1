"""Documents as plain HTML for a crowd platform: safe text on one line, nothing loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

MOST_CHARACTERS = 4_000
"""Length at which a text is cut; MTurk takes pages of up to 65,535 bytes."""


def render_document(content: Mapping[str, Any]) -> tuple[str, bool]:
    """Return a document as HTML on one line, and whether it was cut.

    Parameters
    ----------
    content : mapping
        What :func:`venire.server.judging.payload.view_content` returns.
    """
    kind = content["kind"]
    if kind == "entity":
        return flatten(_render_entity(content)), False
    if kind == "html":
        page = escape(content["html"], quote=True)
        return flatten(f'<iframe sandbox title="document" srcdoc="{page}"></iframe>'), False
    if kind == "text":
        html, is_cut = _render_text(content)
        return flatten(html), is_cut
    return flatten(f"<p>{escape(str(content.get('title') or ''))}</p>"), False


def flatten(html: str) -> str:
    """Return HTML without line ends and tabs; what looks like a platform variable is escaped."""
    return " ".join(html.split()).replace("${", "&#36;{").replace("{{", "&#123;&#123;")


def _render_segments(line: Sequence[Any]) -> str:
    return "".join(
        f"<mark>{escape(text)}</mark>" if marked else escape(text) for text, marked in line
    )


def _render_text(content: Mapping[str, Any]) -> tuple[str, bool]:
    title = _render_segments(content["title"])
    parts = [f"<h3>{title}</h3>"] if title else []
    left = MOST_CHARACTERS
    for paragraph in content["paragraphs"]:
        size = sum(len(text) for text, _ in paragraph)
        if size > left:
            start = []
            for text, marked in paragraph:
                start.append((text[:left], marked))
                left = max(left - len(text), 0)
            parts.append(f"<p>{_render_segments(start)} […]</p>")
            return "".join(parts), True
        left -= size
        parts.append(f"<p>{_render_segments(paragraph)}</p>")
    return "".join(parts), False


def _render_entity(content: Mapping[str, Any]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(row["label"])}</th><td>{_render_values(row)}</td></tr>'
        for row in content["rows"]
    )
    return f"<h3>{escape(content['label'])}</h3><table><tbody>{rows}</tbody></table>"


def _render_values(row: Mapping[str, Any]) -> str:
    values = []
    for value in row["values"]:
        inner = "; ".join(
            f"{escape(part['label'])}: {', '.join(escape(v['short']) for v in part['values'])}"
            for part in value["rows"]
        )
        values.append(escape(value["short"]) + (f" ({inner})" if inner else ""))
    hidden = f"<br>… and {row['omitted']} more" if row["omitted"] else ""
    return "<br>".join(values) + hidden
