"""Charts as plain data for plotly's script; a table beside each chart has the same values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from venire.report.page import COLOURS

Chart = dict[str, Any]
Row = dict[str, Any]
GREY = "#8d949c"
MAX_RUNS = 40
BINS = 30


def escape(text: object) -> str:
    """Return text that plotly shows literally: it reads some HTML in names and labels."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def draw_topics(frame: pl.DataFrame, column: str, label: str) -> Chart | None:
    """Draw one point per topic, lowest value first; topics without a value are left out."""
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
                "text": [escape(query_id) for query_id in known["query_id"]],
                "hovertemplate": f"topic %{{text}}<br>{label} %{{y:.3f}}<extra></extra>",
            }
        ],
        "layout": {
            "xaxis": {"title": {"text": f"topics, lowest {label} first"}},
            "yaxis": {"title": {"text": label}},
        },
    }


def draw_uncertainty(values: Sequence[float]) -> Chart | None:
    """Draw a histogram of the standard deviations of the grades, from 0 to the largest."""
    if not values:
        return None
    largest = max(values) or 1.0
    counts = [0] * BINS
    for value in values:
        counts[min(int(value / largest * BINS), BINS - 1)] += 1
    return {
        "data": [
            {
                "type": "bar",
                "x": [(place + 0.5) * largest / BINS for place in range(BINS)],
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


def draw_scores(rows: Sequence[Row]) -> Chart | None:
    """Draw one bar per run and measure, best 40 runs first; three measures are switched on."""
    if not rows:
        return None
    measures = [name for name in rows[0] if name != "run_id"]
    first = measures[0] if measures else "run_id"
    best = sorted(rows, key=lambda row: -(row[first] or 0))[:MAX_RUNS]
    return {
        "data": [
            {
                "type": "bar",
                "name": escape(measure),
                "x": [escape(row["run_id"]) for row in best],
                "y": [row[measure] for row in best],
                "visible": True if place < 3 else "legendonly",
            }
            for place, measure in enumerate(measures)
        ],
        "layout": {
            "barmode": "group",
            "xaxis": {"type": "category"},
            "yaxis": {"title": {"text": "score"}, "rangemode": "tozero"},
        },
    }


def draw_left_out_runs(frame: pl.DataFrame) -> Chart | None:
    """Draw the rank of each run with its own documents in the pool, and without them."""
    if frame.is_empty():
        return None
    rows = frame.sort("rank", "run_id").head(MAX_RUNS).to_dicts()
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": escape(row["run_id"]),
                "x": ["in the pool", "left out"],
                "y": [row["rank"], row["rank_without"]],
            }
            for row in rows
        ],
        "layout": {
            "showlegend": len(rows) <= 12,
            "xaxis": {"type": "category"},
            "yaxis": {"title": {"text": "rank"}, "autorange": "reversed"},
        },
    }


def draw_columns(
    rows: Sequence[Row], x: str, columns: Sequence[str], titles: tuple[str, str]
) -> Chart | None:
    """Draw one line per column over the column ``x``, which holds texts or whole numbers."""
    if not rows:
        return None
    places = [row[x] for row in rows]
    return {
        "data": [_draw_line(places, [row[name] for row in rows], name) for name in columns],
        "layout": _lay_out(titles, has_texts=isinstance(places[0], str)),
    }


def draw_measures(rows: Sequence[Row], x: str, y: str, titles: tuple[str, str]) -> Chart | None:
    """Draw one line per measure."""
    if not rows:
        return None
    by_measure: dict[str, list[Row]] = {}
    for row in rows:
        by_measure.setdefault(row["measure"], []).append(row)
    return {
        "data": [
            _draw_line([row[x] for row in points], [row[y] for row in points], measure)
            for measure, points in by_measure.items()
        ],
        "layout": _lay_out(titles, has_texts=False),
    }


def draw_bands(
    rows: Sequence[Row], x: str, y: str, titles: tuple[str, str], target: float | None = None
) -> Chart | None:
    """Draw one line per measure with a band from ``y_low`` to ``y_high``, and a target."""
    chart = draw_measures(rows, x, y, titles)
    if chart is None:
        return None
    for number, line in enumerate(list(chart["data"])):
        points = [row for row in rows if escape(row["measure"]) == line["name"]]
        colour = COLOURS[number % len(COLOURS)]
        line["line"] = {"color": colour}
        chart["data"].append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": [row[x] for row in points] + [row[x] for row in reversed(points)],
                "y": [row[f"{y}_high"] for row in points]
                + [row[f"{y}_low"] for row in reversed(points)],
                "fill": "toself",
                "fillcolor": colour,
                "opacity": 0.15,
                "line": {"width": 0},
                "hoverinfo": "skip",
                "showlegend": False,
            }
        )
    if target is not None:
        chart["layout"]["shapes"] = [
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": target,
                "y1": target,
                "line": {"dash": "dash", "color": GREY},
            }
        ]
    return chart


def draw_designs(rows: Sequence[Row]) -> Chart | None:
    """Draw one mark per design by cost and tau; a line joins the Pareto front."""
    known = [row for row in rows if row["tau"] is not None]
    if not known:
        return None
    front = sorted((row for row in known if row["best"]), key=lambda row: float(row["money"]))
    others = [row for row in known if not row["best"]]
    traces = (
        ("Pareto front", front, "lines+markers", {"symbol": "circle", "size": 10}),
        ("Other designs", others, "markers", {"symbol": "x", "size": 9, "color": GREY}),
    )
    return {
        "data": [
            {
                **_draw_line([row["money"] for row in some], [row["tau"] for row in some], name),
                "mode": mode,
                "marker": marker,
                "text": [escape(row["design"]) for row in some],
                "hovertemplate": "%{text}<br>cost %{x:,.2f}<br>tau %{y:.3f}<extra></extra>",
            }
            for name, some, mode, marker in traces
            if some
        ],
        "layout": {
            "legend": {"orientation": "h", "y": -0.25},
            "xaxis": {"title": {"text": "cost"}, "rangemode": "tozero"},
            "yaxis": {"title": {"text": "tau"}},
        },
    }


def _draw_line(x: list[Any], y: list[Any], name: str) -> Chart:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape(name),
        "x": [escape(value) if isinstance(value, str) else value for value in x],
        "y": y,
    }


def _lay_out(titles: tuple[str, str], *, has_texts: bool) -> Chart:
    ticks: Chart = {"type": "category"} if has_texts else {"dtick": 1}
    return {
        "legend": {"orientation": "h", "y": -0.25},
        "xaxis": {"title": {"text": titles[0]}, **ticks},
        "yaxis": {"title": {"text": titles[1]}},
    }
