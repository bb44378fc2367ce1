"""The page and the folder of a forecast of campaigns."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from venire.planning.campaign import Forecast
from venire.report.page import Page

NAMES = ("depth", "overlap", "batch_size", "gold_size", "gold_errors")


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
    page.lead(
        f"{len(front)} of {len(result.rows)} designs are worth a look: no other is cheaper and "
        "keeps the order of the systems as well."
    )
    figure = go.Figure()
    for name, rows in (
        ("worth a look", sorted(front, key=lambda row: float(row["money"]))),
        ("others", [row for row in result.rows if not row["best"]]),
    ):
        figure.add_trace(
            go.Scatter(
                x=[row["money"] for row in rows],
                y=[row["tau"] for row in rows],
                text=[", ".join(f"{one} {row[one]}" for one in NAMES) for row in rows],
                mode="lines+markers" if name == "worth a look" else "markers",
                marker={"symbol": "circle" if name == "worth a look" else "x", "size": 10},
                name=name,
                hovertemplate="%{text}<br>money %{x:,.2f}<br>tau %{y:.3f}<extra></extra>",
            )
        )
    figure.update_xaxes(title="money")
    figure.update_yaxes(title="tau with the order under all known grades")
    page.plot(figure, result.rows, caption="Money and order of the systems, a mark a design.")
    page.heading("Designs worth a look")
    page.table(sorted(front, key=lambda row: float(row["money"])))
    page.heading("Notes")
    page.notes([*result.notes, *(f"{k}: {v}" for k, v in result.settings["crowd"].items())])
    return page
