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
    >>> describe_crowd(asdict(Crowd())).partition(";")[0]
    'Simulated with 10% spam, the others right in 80%'
    """
    people = (
        f"{crowd['spam']:.0%} spam, the others right in {crowd['accuracy']:.0%}"
        if crowd["confusion"] is None
        else "people as in the pilot"
    )
    paid = "are paid too" if crowd["pay_rejected"] else "are not paid"
    return (
        f"Simulated with {people}; {crowd['seconds']:g} seconds and {crowd['price']:g} "
        f"per judgment, and a fee of {crowd['fee']:.0%}; rejected batches {paid}."
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

    page = Page("What a campaign would cost and give")
    front = [row for row in result.rows if row["best"]]
    page.lead(result.summary)
    for sentence in result.advice[1:]:
        page.text(sentence)
    page.text(describe_crowd(result.settings["crowd"]))
    figure = go.Figure()
    for name, rows in (
        ("Pareto front", sorted(front, key=lambda row: float(row["money"]))),
        ("others", [row for row in result.rows if not row["best"]]),
    ):
        figure.add_trace(
            go.Scatter(
                x=[row["money"] for row in rows],
                y=[row["tau"] for row in rows],
                text=[", ".join(f"{name} {row[name]}" for name in NAMES) for row in rows],
                mode="lines+markers" if name == "Pareto front" else "markers",
                marker={"symbol": "circle" if name == "Pareto front" else "x", "size": 10},
                name=name,
                hovertemplate="%{text}<br>money %{x:,.2f}<br>tau %{y:.3f}<extra></extra>",
            )
        )
    figure.update_xaxes(title="money")
    figure.update_yaxes(title="tau with the order under all known grades")
    page.plot(
        figure,
        round_judgments(result.rows),
        caption="Money and order of the systems, one mark per design.",
    )
    page.heading("Designs that no other beats in cost and tau")
    page.table(sorted(round_judgments(front), key=lambda row: float(row["money"])))
    page.heading("Notes")
    page.notes(result.notes)
    return page
