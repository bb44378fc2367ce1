"""Charts as plain data for plotly's script; what they show also stands in a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

Chart = dict[str, Any]
STAR = "★"
GREY = "#8d949c"
MAX_RUNS = 40
_BINS = 30


def _plain(text: object) -> str:
    """Text that plotly shows as it is: it reads some HTML in names and labels."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def by_topic(frame: pl.DataFrame, column: str, label: str) -> Chart | None:
    """A point a topic, the least first."""
    known = frame.filter(pl.col(column).is_not_null()).sort(column, "query_id")
    if known.is_empty():
        return None
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "markers",
                "x": list(range(1, known.height + 1)),
                "y": known[column].to_list(),
                "text": [_plain(name) for name in known["query_id"]],
                "hovertemplate": f"topic %{{text}}<br>{label} %{{y:.3f}}<extra></extra>",
            }
        ],
        "layout": {
            "xaxis": {"title": {"text": f"topics, least {label} first"}},
            "yaxis": {"title": {"text": label}},
        },
    }


def spread(values: Sequence[float]) -> Chart | None:
    """How many pairs have which uncertainty."""
    if not values:
        return None
    top = max(values) or 1.0
    counts = [0] * _BINS
    for value in values:
        counts[min(int(value / top * _BINS), _BINS - 1)] += 1
    return {
        "data": [
            {
                "type": "bar",
                "x": [(place + 0.5) * top / _BINS for place in range(_BINS)],
                "y": counts,
                "hovertemplate": "%{y} pairs near %{x:.2f}<extra></extra>",
            }
        ],
        "layout": {
            "bargap": 0.05,
            "xaxis": {"title": {"text": "standard deviation of the grade"}},
            "yaxis": {"title": {"text": "pairs"}},
        },
    }


def scores(rows: Sequence[dict[str, Any]]) -> Chart | None:
    """A bar a run, for the first measure; the other measures can be switched on."""
    if not rows:
        return None
    measures = [name for name in rows[0] if name != "run_id"]
    first = measures[0] if measures else "run_id"
    best = sorted(rows, key=lambda row: -(row[first] or 0))[:MAX_RUNS]
    return {
        "data": [
            {
                "type": "bar",
                "name": _plain(name),
                "x": [_plain(row["run_id"]) for row in best],
                "y": [row[name] for row in best],
                "visible": True if place < 3 else "legendonly",
            }
            for place, name in enumerate(measures)
        ],
        "layout": {
            "barmode": "group",
            "xaxis": {"type": "category"},
            "yaxis": {"title": {"text": "score"}, "rangemode": "tozero"},
        },
    }


def moves(frame: pl.DataFrame) -> Chart | None:
    """The place of each run with its own documents in the pool, and left out."""
    if frame.is_empty():
        return None
    rows = frame.sort("rank", "run_id").head(MAX_RUNS).to_dicts()
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": _plain(row["run_id"]),
                "x": ["in the pool", "left out"],
                "y": [row["rank"], row["rank_without"]],
            }
            for row in rows
        ],
        "layout": {
            "showlegend": len(rows) <= 12,
            "xaxis": {"type": "category"},
            "yaxis": {"title": {"text": "place"}, "autorange": "reversed"},
        },
    }


def lines(
    rows: Sequence[dict[str, Any]], x: str, y: Sequence[str], titles: tuple[str, str]
) -> Chart | None:
    """A line for each column of ``y`` over the values of ``x``, which are named or whole."""
    if not rows:
        return None
    return {
        "data": [_line([row[x] for row in rows], [row[name] for row in rows], name) for name in y],
        "layout": _titled(titles, isinstance(rows[0][x], str)),
    }


def by_measure(
    rows: Sequence[dict[str, Any]], x: str, y: str, titles: tuple[str, str]
) -> Chart | None:
    """A line for each measure."""
    if not rows:
        return None
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["measure"], []).append(row)
    return {
        "data": [
            _line([row[x] for row in mine], [row[y] for row in mine], name)
            for name, mine in found.items()
        ],
        "layout": _titled(titles, False),
    }


def pareto(rows: Sequence[dict[str, Any]]) -> Chart | None:
    """A mark for each design; those that no other beats in money and tau are joined."""
    known = [row for row in rows if row["tau"] is not None]
    if not known:
        return None
    front = sorted((row for row in known if row["best"]), key=lambda row: float(row["money"]))
    parts = [("worth a look", front, "lines+markers", {"symbol": "circle", "size": 10})]
    others = [row for row in known if not row["best"]]
    parts.append(("others", others, "markers", {"symbol": "x", "size": 9, "color": GREY}))
    return {
        "data": [
            {
                **_line([row["money"] for row in some], [row["tau"] for row in some], name),
                "mode": mode,
                "marker": marker,
                "text": [_plain(row["design"]) for row in some],
                "hovertemplate": "%{text}<br>money %{x:,.2f}<br>tau %{y:.3f}<extra></extra>",
            }
            for name, some, mode, marker in parts
            if some
        ],
        "layout": {
            "legend": {"orientation": "h", "y": -0.25},
            "xaxis": {"title": {"text": "money"}, "rangemode": "tozero"},
            "yaxis": {"title": {"text": "tau"}},
        },
    }


def _line(x: list[Any], y: list[Any], name: str) -> Chart:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": _plain(name),
        "x": [_plain(one) if isinstance(one, str) else one for one in x],
        "y": y,
    }


def _titled(titles: tuple[str, str], names: bool) -> Chart:
    across: Chart = {
        "title": {"text": titles[0]},
        **({"type": "category"} if names else {"dtick": 1}),
    }
    return {
        "legend": {"orientation": "h", "y": -0.25},
        "xaxis": across,
        "yaxis": {"title": {"text": titles[1]}},
    }


def _mark(rows: Sequence[dict[str, Any]], name: str, **marker: Any) -> Chart:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [row["seconds_per_image"] for row in rows],
        "y": [row["recall"] for row in rows],
        "text": [_plain(row["words"]) for row in rows],
        "customdata": [row["setting"] for row in rows],
        "marker": marker,
        "hovertemplate": "%{text}<br>%{x:.2f} s an image, recall %{y:.3f}<extra></extra>",
    }


def time_and_recall(
    rows: Sequence[dict[str, Any]], one: dict[str, Any], best: str, points: float
) -> Chart:
    """A point a setting of one annotator type; one at a time is the diamond and the line."""
    star = [row for row in rows if row["setting"] == best]
    others = [row for row in rows if row["setting"] != best]
    groups = [
        (f"within {points * 100:g} points", [row for row in others if row["within"]],
         {"symbol": "circle", "size": 9}),
        ("loses more", [row for row in others if not row["within"]],
         {"symbol": "circle-open", "size": 9, "color": GREY}),
        (f"recommended {STAR}", star, {"symbol": "star", "size": 17, "color": "#c4541a"}),
        ("one at a time", [one], {"symbol": "diamond", "size": 13, "color": "#2a7f4f"}),
    ]  # fmt: skip
    return {
        "data": [_mark(some, name, **marker) for name, some, marker in groups if some],
        "layout": {
            "height": 420,
            "margin": {"l": 60, "r": 15, "t": 10, "b": 50},
            "legend": {"orientation": "h", "y": -0.2},
            "xaxis": {"title": {"text": "seconds an image"}, "rangemode": "tozero"},
            "yaxis": {"title": {"text": "recall"}, **_recall_range([*rows, one])},
            "shapes": [_dashed(y0=one["recall"], y1=one["recall"], xref="paper", x0=0, x1=1)],
        },
    }


def _recall_range(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A range of at least 2 points within what a share can be; plotly's own may pass 1."""
    low, high = (end(row["recall"] for row in rows) for end in (min, max))
    edge = max(0.1 * (high - low), 0.01)
    return {"range": [max(low - edge, -0.01), min(high + edge, 1.01)]}


def time_saved(rows: Sequence[dict[str, Any]], best: str) -> Chart | None:
    """A bar a setting: how much less time it takes than one at a time, the dashed line."""
    ordered = sorted(rows, key=lambda row: (row["saved"], row["setting"]))
    if not ordered:
        return None
    colour = {True: "#1f5fa8", False: GREY}
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "x": [row["saved"] * 100 for row in ordered],
                "y": [
                    _plain(row["short"] + (f" {STAR}" if row["setting"] == best else ""))
                    for row in ordered
                ],
                "text": [_plain(row["words"]) for row in ordered],
                "textposition": "none",
                "customdata": [row["setting"] for row in ordered],
                "marker": {
                    "color": [
                        "#c4541a" if row["setting"] == best else colour[row["within"]]
                        for row in ordered
                    ]
                },
                "hovertemplate": "%{text}<br>%{x:.0f}% less time<extra></extra>",
            }
        ],
        "layout": {
            "height": max(420, 90 + 17 * len(ordered)),
            "margin": {"l": 40, "r": 15, "t": 10, "b": 50},
            "bargap": 0.25,
            "xaxis": {"title": {"text": "% less time than one at a time"}, "zeroline": False},
            "yaxis": {"type": "category", "dtick": 1, "tickfont": {"size": 11}},
            "shapes": [_dashed(x0=0, x1=0, yref="paper", y0=0, y1=1)],
        },
    }


def _dashed(**where: Any) -> Chart:
    return {"type": "line", "line": {"dash": "dash", "width": 1.5, "color": "#2a7f4f"}, **where}
