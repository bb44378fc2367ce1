"""The page and the folder of a simulation of grouped judging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from venire.grouping.settings import ONE
from venire.report.page import COLOURS, Page, plain
from venire.simulation.grouping.annotators import GroupedAnnotator, numbers
from venire.simulation.grouping.explanations import (
    STAR,
    comparison,
    explanations,
    spell_setting,
)
from venire.simulation.grouping.recommend import Recommendation

BAR = 18
"""Pixels of a bar."""
GREY = "#b8c0c8"


@dataclass(frozen=True, eq=False)
class GroupingReport:
    """All that a report on a simulation shows.

    Attributes
    ----------
    found : Recommendation
    results : polars.DataFrame
        The rows of all units.
    annotators : sequence of GroupedAnnotator
    cosines : polars.DataFrame
        How alike the images of a pool are; empty without vectors.
    plan : str
        What was run, in a sentence.
    seed : int
    notes : sequence of str
    """

    recommendation: Recommendation
    results: pl.DataFrame
    annotators: Sequence[GroupedAnnotator]
    cosines: pl.DataFrame
    plan: str
    seed: int
    notes: Sequence[str] = field(default=())


def write_grouping(report: GroupingReport, folder: str | Path) -> list[Path]:
    """Write ``settings``, ``types``, ``queries``, ``annotators``, ``cosines`` and ``report.html``.

    Returns
    -------
    list of Path
    """
    tables = {
        "settings": report.recommendation.settings,
        "types": report.recommendation.types,
        "queries": report.results,
        "annotators": pl.DataFrame([kind.settings for kind in report.annotators]),
        "cosines": report.cosines,
    }
    footer = f"Venire {report.recommendation.version}, seed {report.seed}"
    return grouping_page(report).write_beside(tables, folder, footer=footer)


def grouping_page(report: GroupingReport) -> Page:
    """Return the page: the sentence, the settings, each type's charts, what a setting costs."""
    recommendation = report.recommendation
    page = Page("Which grouping saves the most time")
    page.lead(recommendation.summary)
    for sentence in recommendation.caveats:
        page.text(sentence)
    page.text(f"Replayed: {report.plan}. Based on {', '.join(recommendation.chosen)}.")
    page.heading("What the recommended setting does")
    page.table(comparison(recommendation, recommendation.setting), digits=2)
    for name, sentence in explanations(recommendation).items():
        page.text(f"{name}: {sentence}")
    for kind in report.annotators:
        _type(page, recommendation, kind)
    page.heading("Every setting")
    page.text(
        "Time and savings are the mean over the chosen types; the intervals are by bootstrap over "
        f"queries. {STAR} is recommended."
    )
    rows = setting_rows(recommendation)
    page.table(rows, digits=2, best=next(n for n, row in enumerate(rows) if row[STAR]))
    if report.cosines.height:
        _cosines(page, report.cosines)
    page.heading("The simulated annotators")
    page.table([_value(row, report) for kind in numbers().values() for row in kind], digits=2)
    page.heading("Notes")
    page.notes(list(report.notes))
    return page


def setting_rows(recommendation: Recommendation) -> list[dict[str, Any]]:
    """Return a row a setting, fastest first, as pages and terminals show it."""
    return [
        {
            "setting": row["setting"],
            STAR: STAR if row["recommended"] else "",
            "s_per_image": row["seconds_per_image"],
            "saved": row["saved"],
            "saved_low": row["saved_low"],
            "saved_high": row["saved_high"],
            "worst_loss": row["worst_loss"],
            "worst_type": row["worst_type"],
            "within": "✓" if row["within"] else "no",
        }
        for row in recommendation.settings.sort("seconds_per_image", "setting").to_dicts()
    ]


def _value(row: dict[str, Any], report: GroupingReport) -> dict[str, Any]:
    """Return one value of every type, with its source."""
    by_type = {kind.name: kind.settings[row["key"]] for kind in report.annotators}
    return {"value": row["words"], **by_type, "source of Typical's": row["source"]}


def _type(page: Page, recommendation: Recommendation, kind: GroupedAnnotator) -> None:
    import plotly.graph_objects as go

    counts = kind.name in recommendation.chosen
    page.heading(kind.name + ("" if counts else " (a bound; does not count)" if kind.bound else ""))
    rows = (
        recommendation.types.filter(pl.col("annotator") == kind.name).drop("annotator").to_dicts()
    )
    one_row = next(row for row in rows if row["setting"] == ONE)
    others = [row for row in rows if row["setting"] != ONE]
    figure = go.Figure()
    star = [row for row in others if row["setting"] == recommendation.setting]
    for mark, some, symbol, size in (
        ("settings", [row for row in others if row not in star], "circle", 8),
        (f"recommended {STAR}", star, "star", 16),
        ("one at a time", [one_row], "diamond", 14),
    ):
        if some:
            figure.add_trace(
                go.Scatter(
                    x=[row["seconds_per_image"] for row in some],
                    y=[row["recall"] for row in some],
                    text=[plain(spell_setting(row["setting"])) for row in some],
                    mode="markers",
                    marker={"symbol": symbol, "size": size},
                    name=mark,
                    hovertemplate="%{text}<br>%{x:.2f} s, recall %{y:.3f}<extra></extra>",
                )
            )
    figure.add_hline(y=one_row["recall"], line={"dash": "dash", "color": "#57606a"})
    figure.update_xaxes(title="seconds per image", rangemode="tozero")
    figure.update_yaxes(title="recall")
    page.plot(
        figure,
        rows,
        caption=f"{kind.name}: time per image against recall, one point per setting. The diamond "
        "and the dashed line are one at a time.",
    )
    ordered = sorted(others, key=lambda row: (row["saved"], row["setting"]))
    if not ordered:
        return
    bars = go.Figure(
        go.Bar(
            x=[row["saved"] * 100 for row in ordered],
            y=[_label(row["setting"], recommendation) for row in ordered],
            orientation="h",
            marker={"color": [_colour(row, recommendation) for row in ordered]},
            hovertemplate="%{y}: %{x:.0f}%<extra></extra>",
        )
    )
    bars.add_vline(x=0, line={"dash": "dash", "color": "#57606a"})
    bars.update_xaxes(title="% less time than one at a time")
    bars.update_yaxes(automargin=True)
    page.plot(
        bars,
        [{"setting": row["setting"], "saved": row["saved"], "within": row["within"]}
         for row in reversed(ordered)],
        caption=f"{kind.name}: how much less time each setting takes than one at a time. Grey: "
        f"loses more than {recommendation.points * 100:g} points of recall.",
        height=max(240, 110 + BAR * len(ordered)),
    )  # fmt: skip


def _colour(row: dict[str, Any], recommendation: Recommendation) -> str:
    if row["setting"] == recommendation.setting:
        return COLOURS[1]
    return COLOURS[0] if row["within"] else GREY


def _label(setting: str, recommendation: Recommendation) -> str:
    star = f" {STAR}" if setting == recommendation.setting else ""
    return plain(spell_setting(setting) + star)


def _cosines(page: Page, cosines: pl.DataFrame) -> None:
    import plotly.graph_objects as go

    page.heading("How alike the images of a pool are")
    shown = cosines.filter(pl.col("above") > 0).filter(pl.col("low") >= -0.2)
    figure = go.Figure(
        go.Bar(x=(shown["low"] + 0.025).to_list(), y=(shown["share"] * 100).to_list())
    )
    figure.update_xaxes(title="cosine of two images of one pool")
    figure.update_yaxes(title="% of the pairs")
    page.plot(
        figure,
        cosines.to_dicts(),
        caption="Cosines between the images of a pool. They depend on the encoder, and so do "
        "the thresholds that are worth trying.",
    )
