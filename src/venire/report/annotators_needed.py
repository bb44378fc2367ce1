"""Write the page and the tables on how many judgments a pair needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from venire.report.page import Page, plain
from venire.simulation.campaigns.annotators_needed import AnnotatorsNeeded
from venire.tables.schema import express


def describe_judgments_needed(result: AnnotatorsNeeded) -> list[str]:
    """Return one sentence per measure: how many judgments per pair are enough."""
    targets = f"a tau of {result.settings['target_tau']:g}"
    if result.settings["target_sd"] is not None:
        targets += f" and a standard deviation of {result.settings['target_sd']:g}"
    out = []
    for measure, judges in result.recommended.items():
        if judges is None:
            most = result.settings["most"]
            each = f"{express(most, 'judgment')} per pair {'is' if most == 1 else 'are'}"
            out.append(f"{measure}: {each} not enough for {targets}")
            continue
        row = next(
            row for row in result.rows if row["measure"] == measure and row["judges"] == judges
        )
        cost = "" if row["cost"] is None else f", at a cost of {row['cost']:,.2f}"
        each = f"{express(judges, 'judgment')} per pair {'is' if judges == 1 else 'are'}"
        out.append(f"{measure}: {each} enough for {targets}{cost}")
    return out


def hide_missing_costs(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows without the column of costs where no price was given."""
    priced = any(row.get("cost") is not None for row in rows)
    return [
        {name: value for name, value in row.items() if name != "cost" or priced} for row in rows
    ]


def write_annotators_needed(result: AnnotatorsNeeded, folder: str | Path) -> list[Path]:
    """Write ``annotators`` and ``truth`` (where there are any) as .csv, and ``report.html``."""
    tables = {}
    if result.rows:
        tables["annotators"] = pl.DataFrame(result.rows, infer_schema_length=None)
    if result.truth:
        tables["truth"] = pl.DataFrame(result.truth, infer_schema_length=None)
    return annotators_page(result).write_beside(
        tables, folder, footer=f"Venire {result.version}, seed {result.seed}"
    )


def annotators_page(result: AnnotatorsNeeded) -> Page:
    """Return the page."""
    import plotly.graph_objects as go

    page = Page("How many judgments a pair needs")
    page.lead(
        " ".join(f"{sentence}." for sentence in describe_judgments_needed(result))
        or "Settled grades beside known ones"
    )
    for name, title, text in (
        ("sd", "Standard deviation of scores", "of a system's score over the draws, on average"),
        ("tau", "Order of the systems", "tau with the reference order, on average"),
    ):
        if not result.rows:
            break
        page.heading(title)
        figure = go.Figure()
        for measure in result.recommended:
            rows = [row for row in result.rows if row["measure"] == measure]
            figure.add_trace(
                go.Scatter(
                    x=[row["judges"] for row in rows],
                    y=[row[name] for row in rows],
                    mode="lines+markers",
                    name=plain(measure),
                )
            )
        figure.update_xaxes(title="judgments per pair", dtick=1)
        figure.update_yaxes(title=name)
        page.plot(
            figure,
            hide_missing_costs(result.rows),
            caption=f"{title}: {text}, by judgments per pair.",
            digits=4,
        )
    if result.truth:
        page.heading("Beside known grades")
        page.table(result.truth)
    page.heading("Notes")
    page.notes(result.notes)
    return page
