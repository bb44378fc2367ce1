"""Charts of a simulation of grouped judging, one annotator type at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from venire.server.web.pages.charts import GREY, Chart, Row, escape

STAR = "★"
BLUE = "#1f5fa8"
GREEN = "#2a7f4f"
ORANGE = "#c4541a"


def draw_time_and_recall(rows: Sequence[Row], baseline: Row, best: str, points: float) -> Chart:
    """Draw one point per setting: seconds per image against recall.

    Parameters
    ----------
    rows : sequence of dict
        The settings but one at a time.
    baseline : dict
        One at a time: the diamond, and the dashed line of its recall.
    best : str
        The recommended setting, a star.
    points : float
        Loss of recall that is accepted, as a proportion.
    """
    others = [row for row in rows if row["setting"] != best]
    traces: tuple[tuple[str, list[Row], Chart], ...] = (
        (f"within {points * 100:g} points", [row for row in others if row["within"]],
         {"symbol": "circle", "size": 9}),
        (f"loses more than {points * 100:g} points", [row for row in others if not row["within"]],
         {"symbol": "circle-open", "size": 9, "color": GREY}),
        (f"recommended {STAR}", [row for row in rows if row["setting"] == best],
         {"symbol": "star", "size": 17, "color": ORANGE}),
        ("one at a time", [baseline], {"symbol": "diamond", "size": 13, "color": GREEN}),
    )  # fmt: skip
    recall = baseline["recall"]
    return {
        "data": [_draw_points(some, name, marker) for name, some, marker in traces if some],
        "layout": {
            "height": 420,
            "margin": {"l": 60, "r": 15, "t": 10, "b": 50},
            "legend": {"orientation": "h", "y": -0.2},
            "xaxis": {"title": {"text": "seconds per image"}, "rangemode": "tozero"},
            "yaxis": {"title": {"text": "recall"}, "range": _find_recall_range([*rows, baseline])},
            "shapes": [_draw_dashed_line(y0=recall, y1=recall, xref="paper", x0=0, x1=1)],
        },
    }


def draw_time_saved(rows: Sequence[Row], best: str) -> Chart | None:
    """Draw one bar per setting: the time it saves, in % of the time of one at a time."""
    ordered = sorted(rows, key=lambda row: (row["saved"], row["setting"]))
    if not ordered:
        return None
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "x": [row["saved"] * 100 for row in ordered],
                "y": [
                    escape(row["short"] + (f" {STAR}" if row["setting"] == best else ""))
                    for row in ordered
                ],
                "text": [escape(row["words"]) for row in ordered],
                "textposition": "none",
                "customdata": [row["setting"] for row in ordered],
                "marker": {"color": [_choose_colour(row, best) for row in ordered]},
                "hovertemplate": "%{text}<br>%{x:.0f}% less time<extra></extra>",
            }
        ],
        "layout": {
            "height": max(420, 90 + 17 * len(ordered)),
            "margin": {"l": 40, "r": 15, "t": 10, "b": 50},
            "bargap": 0.25,
            "xaxis": {"title": {"text": "% less time than one at a time"}, "zeroline": False},
            "yaxis": {"type": "category", "dtick": 1, "tickfont": {"size": 11}},
            "shapes": [_draw_dashed_line(x0=0, x1=0, yref="paper", y0=0, y1=1)],
        },
    }


def _choose_colour(row: Row, best: str) -> str:
    if row["setting"] == best:
        return ORANGE
    return BLUE if row["within"] else GREY


def _draw_points(rows: Sequence[Row], name: str, marker: Chart) -> Chart:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [row["seconds_per_image"] for row in rows],
        "y": [row["recall"] for row in rows],
        "text": [escape(row["words"]) for row in rows],
        "customdata": [row["setting"] for row in rows],
        "marker": marker,
        "hovertemplate": "%{text}<br>%{x:.2f} s per image, recall %{y:.3f}<extra></extra>",
    }


def _find_recall_range(rows: Sequence[Row]) -> list[float]:
    """Return a range of at least 2 points within [-0.01, 1.01]; plotly's own may pass 1."""
    low, high = (end(row["recall"] for row in rows) for end in (min, max))
    margin = max(0.1 * (high - low), 0.01)
    return [max(low - margin, -0.01), min(high + margin, 1.01)]


def _draw_dashed_line(**place: Any) -> Chart:
    return {"type": "line", "line": {"dash": "dash", "width": 1.5, "color": GREEN}, **place}
