"""The page and the folder of one table's agreement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from venire.agreement.summary import HEADLINE, Agreement
from venire.report.page import Page


def write_agreement(result: Agreement, folder: str | Path) -> list[Path]:
    """Write all that is said of agreement; return the files.

    ``overall``, ``topics``, ``grades`` and ``annotators`` as .csv, and ``report.html``.
    """
    tables = {
        "overall": result.frame,
        "topics": result.topics,
        "grades": result.grades,
        "annotators": result.annotators,
    }
    return agreement_page(result).write_beside(tables, folder, footer=f"Venire {result.version}")


def agreement_page(result: Agreement) -> Page:
    """Return the page."""
    page = Page("Agreement")
    page.lead(result.sentence)
    page.notes(result.warnings)
    page.heading("All topics together")
    page.table(result.rows, digits=3)
    page.text(
        "Alpha and kappa are 1 for perfect agreement and 0 for what chance gives. Positive "
        "agreement and overlap speak of the relevant only, and say what a high share of equal "
        "labels hides where relevant documents are rare."
    )
    _topics(page, result)
    _annotators(page, result)
    page.heading("Grades")
    page.text(
        "Agreement: the probability that another annotator says the grade where one did. Kappa: "
        "that beyond the grade's share of all labels."
    )
    page.table(result.grades.to_dicts())
    page.heading("Notes")
    page.notes(result.notes)
    return page


def _topics(page: Page, result: Agreement) -> None:
    import plotly.graph_objects as go

    page.heading("Topics")
    known = result.topics.filter(pl.col("alpha_ordinal").is_not_null()).sort(
        "alpha_ordinal", "query_id"
    )
    figure = go.Figure(
        go.Scatter(
            x=list(range(1, known.height + 1)),
            y=known["alpha_ordinal"].to_list(),
            text=known["query_id"].to_list(),
            customdata=known["items"].to_list(),
            mode="markers",
            hovertemplate="topic %{text}<br>alpha %{y:.3f}<br>%{customdata} items<extra></extra>",
        )
    )
    overall = result[HEADLINE].value
    if overall is not None:
        figure.add_hline(y=overall, line_dash="dash", annotation_text="all topics")
    figure.update_xaxes(title="topics, least agreement first")
    figure.update_yaxes(title="Krippendorff's alpha (ordinal)")
    missing = result.topics.height - known.height
    tail = f" {missing:,} topics have none." if missing else ""
    page.plot(
        figure,
        result.topics.sort("alpha_ordinal", "query_id", nulls_last=True).to_dicts(),
        caption=f"Alpha of each topic.{tail}",
    )


def _annotators(page: Page, result: Agreement) -> None:
    import plotly.graph_objects as go

    page.heading("Annotators against the rest")
    page.text(
        "Each annotator's labels beside those of all others on the same items. Leniency: own "
        "grade minus the others', on average."
    )
    known = result.annotators.filter(pl.col("kappa").is_not_null())
    hover: Any = (
        "%{text}<br>kappa %{y:.3f}<br>%{x} items shared<br>leniency %{customdata:.2f}"
        "<extra></extra>"
    )
    figure = go.Figure(
        go.Scatter(
            x=known["items"].to_list(),
            y=known["kappa"].to_list(),
            text=known["annotator_id"].to_list(),
            customdata=known["leniency"].to_list(),
            mode="markers",
            hovertemplate=hover,
        )
    )
    figure.update_xaxes(title="items that somebody else judged too", type="log")
    figure.update_yaxes(title="kappa with the rest")
    missing = result.annotators.height - known.height
    tail = f" {missing:,} annotators have no kappa." if missing else ""
    page.plot(
        figure,
        result.annotators.sort("kappa", "annotator_id", nulls_last=True).to_dicts(),
        caption=f"Kappa of each annotator with all others, by the items they share.{tail}",
    )
