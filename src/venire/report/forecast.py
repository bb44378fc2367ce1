"""Write the page and the table of a forecast of campaigns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from venire.report.page import Page
from venire.simulation.campaigns.designs import Forecast

NAMES = ("depth", "overlap", "batch_size", "gold_size", "gold_errors")


def round_judgments(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with judgments, a mean over the replays, rounded to whole numbers."""
    return [{**row, "judgments": round(row["judgments"])} for row in rows]


def describe_crowd(crowd: Mapping[str, Any]) -> str:
    """Describe the annotators, prices and times that designs were simulated with.

    Examples
    --------
    >>> from dataclasses import asdict
    >>> from venire.simulation.campaigns.designs import Crowd
    >>> describe_crowd(asdict(Crowd())).partition(".")[0]
    'Simulated crowd: 10% of the batches are spam, and the other labels are correct in 80%'
    """
    people = (
        f"{crowd['spam']:.0%} of the batches are spam, and the other labels are correct in "
        f"{crowd['accuracy']:.0%}"
        if crowd["confusion"] is None
        else "annotators as in the pilot"
    )
    paid = "are paid too" if crowd["pay_rejected"] else "are not paid"
    return (
        f"Simulated crowd: {people}. A judgment takes {crowd['seconds']:g} seconds and costs "
        f"{crowd['price']:g}, plus a platform fee of {crowd['fee']:.0%}. Rejected batches {paid}."
    )


def write_forecast(result: Forecast, folder: str | Path) -> list[Path]:
    """Write ``designs.csv`` and ``report.html``; return the files."""
    return forecast_page(result).write_beside(
        {"designs": pl.DataFrame(result.rows, infer_schema_length=None)},
        folder,
        footer=f"Venire {result.version}, seed {result.seed}",
    )


def forecast_page(result: Forecast) -> Page:
    """Return the page."""
    import plotly.graph_objects as go

    page = Page("Forecast: cost and quality of campaign designs")
    front = [row for row in result.rows if row["best"]]
    page.lead(result.summary)
    for sentence in result.advice[1:]:
        page.text(sentence)
    page.text(describe_crowd(result.settings["crowd"]))
    figure = go.Figure()
    for name, rows in (
        ("Pareto front", sorted(front, key=lambda row: float(row["money"]))),
        ("other designs", [row for row in result.rows if not row["best"]]),
    ):
        figure.add_trace(
            go.Scatter(
                x=[row["money"] for row in rows],
                y=[row["tau"] for row in rows],
                text=[", ".join(f"{name} {row[name]}" for name in NAMES) for row in rows],
                mode="lines+markers" if name == "Pareto front" else "markers",
                marker={"symbol": "circle" if name == "Pareto front" else "x", "size": 10},
                name=name,
                hovertemplate="%{text}<br>cost %{x:,.2f}<br>tau %{y:.3f}<extra></extra>",
            )
        )
    figure.update_xaxes(title="cost")
    figure.update_yaxes(title="tau with the ranking by all known grades")
    page.plot(
        figure,
        round_judgments(result.rows),
        caption="Cost and tau of each design.",
    )
    page.heading("Designs on the Pareto front")
    page.text(
        f"{len(front)} of {len(result.rows)} designs are on the Pareto front: no other design is "
        "cheaper and keeps the ranking of the systems as well."
    )
    page.table(sorted(round_judgments(front), key=lambda row: float(row["money"])))
    page.heading("Notes")
    page.notes(result.notes)
    return page
