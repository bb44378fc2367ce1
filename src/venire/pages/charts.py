"""Charts as plain data for plotly's script; what they show also stands in a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

Chart = dict[str, Any]
MOST_RUNS = 40
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
    best = sorted(rows, key=lambda row: -(row[first] or 0))[:MOST_RUNS]
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
    rows = frame.sort("rank", "run_id").head(MOST_RUNS).to_dicts()
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
