"""Write the page and the tables of a comparison of groups of annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from venire.reliability.repeatability import Repeatability
from venire.report.page import Page, plain

LINES = 40


def write_repeatability(result: Repeatability, folder: str | Path) -> list[Path]:
    """Write the tables and the page; return the files.

    ``orders``, ``swaps`` (where there are any), ``scores``, ``strictness``, ``agreement`` and
    ``rates`` as .csv, and ``report.html``.
    """
    tables = {"orders": _frame(result.orders), "scores": result.scores}
    if result.swaps:
        tables["swaps"] = pl.DataFrame(result.swaps)
    tables["strictness"] = _frame(result.strictness)
    tables["agreement"] = _frame(result.agreement)
    tables["rates"] = _frame(result.rates)
    return repeatability_page(result).write_beside(
        tables, folder, footer=f"Venire {result.version}, seed {result.seed}"
    )


def label_all_grades(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of strictness with 'all' in place of a missing grade."""
    return [{**row, "grade": "all" if row["grade"] is None else row["grade"]} for row in rows]


def _frame(rows: list[dict[str, object]]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None)


def repeatability_page(result: Repeatability) -> Page:
    """Return the page."""
    page = Page("Does the ranking of the systems repeat?")
    page.lead(result.sentence)
    page.heading("Rankings under every two groups")
    page.text(
        "Tau is 1 where the rankings are the same. A swap matters where the systems differ "
        "significantly under one of the two groups (randomised Tukey HSD, p < .05)."
    )
    page.table(result.orders)
    if result.swaps:
        page.heading("Swapped pairs of systems")
        page.table(result.swaps, most=100)
    _scores(page, result)
    _strictness(page, result)
    page.heading("Agreement")
    page.text(
        "Within one group: between its annotators. Between two groups: between their settled "
        "grades."
    )
    page.table(result.agreement)
    page.heading("Rejected batches")
    page.text("Share of rejected batches among all decided batches, with Wilson's interval.")
    page.table(result.rates)
    page.heading("Notes")
    page.notes(result.notes)
    return page


def _scores(page: Page, result: Repeatability) -> None:
    import plotly.graph_objects as go

    page.heading("Scores and ranks")
    for measure in result.measures:
        rows = result.scores.filter(pl.col("measure") == str(measure)).drop("measure").to_dicts()
        figure = go.Figure()
        for name in result.groups:
            figure.add_trace(
                go.Scatter(
                    x=[plain(row["run_id"]) for row in rows[:LINES]],
                    y=[row[name] for row in rows[:LINES]],
                    mode="lines+markers",
                    name=plain(name),
                )
            )
        figure.update_xaxes(title=f"systems, best under {plain(result.groups[0])} first",
                            type="category")  # fmt: skip
        figure.update_yaxes(title=plain(measure))
        cut = f" The first {LINES} of {len(rows)} systems." if len(rows) > LINES else ""
        page.plot(figure, rows, caption=f"{measure} of each system under each group.{cut}")


def _strictness(page: Page, result: Repeatability) -> None:
    import plotly.graph_objects as go

    page.heading("Strictness")
    page.text(
        "Mean grade of one group minus that of the other, over the pairs that both judged. Below "
        "0, the first group is stricter. By grade: over the pairs with that grade in the other "
        "group. There, low grades can only rise and high grades can only fall, so compare "
        "both directions."
    )
    overall = [row for row in result.strictness if row["grade"] is None]
    figure = go.Figure(
        go.Bar(
            x=[plain(f"{row['group']} against {row['against']}") for row in overall],
            y=[row["offset"] for row in overall],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [(row["high"] or row["offset"]) - row["offset"] for row in overall],
                "arrayminus": [row["offset"] - (row["low"] or row["offset"]) for row in overall],
            },
        )
    )
    figure.update_yaxes(title="offset, in grades")
    page.plot(
        figure,
        label_all_grades(result.strictness),
        caption="Offset of each group against each other group.",
    )
