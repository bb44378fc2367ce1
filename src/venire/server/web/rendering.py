"""Pages from templates, and the filters that templates use."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from venire.server.web.guard import CHART_POLICY

#: The folder of templates, scripts and style sheets.
WEB_FOLDER = Path(__file__).parent


@cache
def _load_templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(WEB_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": format_number,
        "percent": format_percent,
        "time": format_time,
        "hours": format_hours,
        "cell": format_cell,
        "words": _split_name,
        "heading": format_heading,
        "sentence": format_sentence,
        "figures": _number_columns,
    }
    environment.globals["named"] = _campaign_names
    environment.tests["figure"] = _is_number
    return environment


def render_page(
    name: str, request: Request, *, status: int = 200, charts: bool = False, **values: Any
) -> HTMLResponse:
    """Render a template; a page with charts gets a policy that allows inline styles."""
    html = _load_templates().get_template(name).render(request=request, **values)
    headers = {"Content-Security-Policy": CHART_POLICY} if charts else {}
    return HTMLResponse(html, status, headers)


def format_number(value: float | None, digits: int = 0) -> str:
    """Return a number with thousands separators; a dash for None."""
    return "–" if value is None else f"{value:,.{digits}f}"


def format_percent(value: float | None, digits: int = 0) -> str:
    """Return a proportion as a percentage; a dash for None."""
    return "–" if value is None else f"{value * 100:.{digits}f}%"


def format_hours(value: float | None) -> str:
    """Return a number of hours in minutes, hours or days, whichever reads best."""
    if value is None:
        return "–"
    if value < 1:
        return f"{value * 60:.0f} min"
    return f"{value:.1f} h" if value < 48 else f"{value / 24:.1f} days"


def format_time(value: Any) -> str:
    """Return a UTC time, to the minute; a dash for None."""
    return "–" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"


def format_cell(value: Any, digits: int = 3) -> str:
    """Return a value as text for a table cell, in the words of the terminal."""
    if value is None:
        return "undefined"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.{digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, list | tuple):
        return ", ".join(format_cell(item, digits) for item in value) or "none"
    if isinstance(value, dict):
        if set(value) == {"name"}:
            return str(value["name"])
        return (
            ", ".join(
                f"{_split_name(name)} {format_cell(item, digits)}" for name, item in value.items()
            )
            or "none"
        )
    return str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number_columns(rows: list[dict[str, Any]]) -> set[str]:
    """Return the names of the columns that hold numbers."""
    return {name for name in rows[0] if any(_is_number(row[name]) for row in rows)}


def _campaign_names(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the name of each campaign by its ID."""
    return {row["campaign_id"]: row["campaign"] for row in rows}


def _split_name(name: str) -> str:
    """Return the name of a column or a setting with spaces instead of underscores."""
    return str(name).replace("_", " ")


_HEADINGS = {
    "annotator_a": "Annotator",
    "annotator_b": "Other annotator",
    "annotator_id": "Annotator",
    "doc_id": "Document",
    "fleiss_kappa": "Fleiss' kappa",
    "furthest": "Most distant model",
    "given_up": "Unfinished pairs",
    "judges": "Judgments per pair",
    "labelled": "Labelled",
    "matter": "Swaps that matter",
    "money": "Cost",
    "query_id": "Topic",
    "relative_sd": "Relative SD",
    "run_id": "Run",
    "sd": "SD",
    "shared": "Shared pairs",
    "split": "Model disagreement",
    "mode": "Most probable grade",
    "tau_ap": "Tau AP",
    "tau_inf": "Tau, endless judgments",
    "tau_rep": "Tau, another crowd",
    "told_apart_by": "Distinguished by",
}


def format_heading(name: str) -> str:
    """Return the heading of a column or a setting; measures keep their own spelling.

    Examples
    --------
    >>> [format_heading(name) for name in ("query_id", "tau_low", "nDCG@10", "P(Relevant)")]
    ['Topic', 'Tau low', 'nDCG@10', 'P(Relevant)']
    """
    text = _HEADINGS.get(str(name)) or _split_name(name).removesuffix(" sd")
    text = format_sentence(text) if text == text.lower() else text
    return f"{text} SD" if str(name) not in _HEADINGS and str(name).endswith("_sd") else text


def format_sentence(text: str, names: Sequence[str] = ()) -> str:
    """Return text with a capital first letter, unless it begins with one of the names."""
    if not text or any(text == name or text.startswith(f"{name} ") for name in names):
        return text
    return text[0].upper() + text[1:]
