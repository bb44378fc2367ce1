"""Write the page and the tables on how many judgments per pair are enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from venire.report.page import COLOURS, Page, plain
from venire.simulation.campaigns.annotators_needed import AnnotatorsNeeded
from venire.simulation.campaigns.judged_systems import JUDGES
from venire.tables.schema import express

Row = dict[str, Any]
CURVES = (
    ("tau_rep", "tau with the order under another crowd"),
    ("sd", "standard deviation of a score"),
)
"""Column of the plots, with the title of its axis."""


def describe_judgments_needed(result: AnnotatorsNeeded) -> list[str]:
    """Return one sentence per measure: how many judgments per pair are enough."""
    return [
        f"{measure}: {describe_verdict(verdict, result.settings)}"
        + _describe_cost(measure, verdict, result.rows)
        for measure, verdict in result.verdicts.items()
    ]


def describe_verdict(verdict: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """Return a verdict in words.

    Examples
    --------
    >>> targets = {"target_tau": 0.9, "target_sd": None}
    >>> describe_verdict({"code": "between", "possible": 2, "enough": 5}, targets)
    'between 2 and 5 judgments per pair are needed for a tau of 0.9; the data cannot tell which'
    >>> describe_verdict({"code": "at-least", "possible": 3, "enough": None}, targets)
    'cannot be told from these data: at least 3 judgments per pair are needed for a tau of 0.9'
    """
    code, enough, possible = (verdict[name] for name in ("code", "enough", "possible"))
    targets = f"a tau of {settings['target_tau']:g}"
    if settings["target_sd"] is not None:
        targets += f" and a standard deviation of {settings['target_sd']:g}"
    if code == "not-checked":
        return f"not checked: {verdict['reason']}"
    if code == "more":
        return f"more than {JUDGES[-1]} judgments per pair are needed for {targets}"
    if code == "between":
        return (
            f"between {possible} and {enough} judgments per pair are needed for {targets}; the "
            "data cannot tell which"
        )
    if code == "at-least":
        if possible == JUDGES[0]:
            return (
                f"cannot be told from these data: {possible} judgment per pair may be enough for "
                f"{targets}, and {JUDGES[-1]} may be too few"
            )
        return (
            f"cannot be told from these data: at least {possible} judgments per pair are needed "
            f"for {targets}"
        )
    each = f"{express(enough or 0, 'judgment')} per pair {'is' if enough == 1 else 'are'}"
    fewer = f"; {possible} may be enough" if possible != enough else ""
    return f"{each} enough for {targets}{fewer}"


def _describe_cost(measure: str, verdict: Mapping[str, Any], rows: Sequence[Row]) -> str:
    if verdict["code"] != "enough":
        return ""
    costs = [
        row["cost"]
        for row in rows
        if row["measure"] == measure and row["judges"] == verdict["enough"]
    ]
    return f", at a cost of {costs[0]:,.2f}" if costs and costs[0] is not None else ""


def advise_on_judgments(result: AnnotatorsNeeded) -> list[str]:
    """Return what the target means and what to do next."""
    codes = {verdict["code"] for verdict in result.verdicts.values()}
    if not codes:
        return []
    if codes == {"not-checked"}:
        return [
            "Collect 2 or more judgments for most pairs, for example of a few topics, and estimate "
            "again."
        ]
    same = (1 + result.settings["target_tau"]) / 2
    advice = [
        f"A tau of {result.settings['target_tau']:g} means: another crowd with as many judgments "
        f"per pair puts {same:.0%} of the pairs of systems in the same order, on average."
    ]
    if "enough" in codes:
        advice.append("Set the number of judgments per pair of the campaign to this number.")
    if codes & {"between", "at-least"}:
        advice.append(
            "To be safe, take the larger number. To narrow the range, judge more topics, then "
            "estimate again."
        )
    if "more" in codes:
        advice.append(
            f"{JUDGES[-1]} judgments per pair are too few: exclude careless annotators, improve "
            "the instructions, or judge more topics."
        )
    return advice


def hide_missing_costs(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return rows without the column of costs where no price was given."""
    priced = any(row.get("cost") is not None for row in rows)
    return [
        {name: value for name, value in row.items() if name != "cost" or priced} for row in rows
    ]


def join_intervals(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return rows with each estimate and its interval in one column, for people to read.

    Examples
    --------
    >>> join_intervals([{"judges": 1, "sd": 0.02, "sd_low": 0.01, "sd_high": 0.03}])
    [{'judges': 1, 'sd': '0.020 (0.010 to 0.030)'}]
    """
    return [
        {
            name: f"{value:.3f} ({row[f'{name}_low']:.3f} to {row[f'{name}_high']:.3f})"
            if f"{name}_low" in row
            else value
            for name, value in row.items()
            if not name.endswith(("_low", "_high"))
        }
        for row in hide_missing_costs(rows)
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
    """Return the page: the decision, curves with their intervals, the table."""
    page = Page("How many judgments per pair are enough")
    page.lead(
        " ".join(f"{sentence}." for sentence in describe_judgments_needed(result))
        or "Settled grades beside known ones"
    )
    for sentence in advise_on_judgments(result):
        page.text(sentence)
    for name, title in CURVES if result.rows else ():
        target = result.settings["target_tau" if name == "tau_rep" else "target_sd"]
        page.heading(f"{title[0].upper()}{title[1:]}")
        page.plot(
            _draw_curves(result, name, title, target),
            join_intervals(result.rows),
            caption=f"{title[0].upper()}{title[1:]}, by judgments per pair; the bands are 95% "
            "intervals" + ("" if target is None else ", the dashed line is the target") + ".",
        )
    if result.truth:
        page.heading("Beside known grades")
        page.table(result.truth)
    page.heading("Notes")
    page.notes(result.notes)
    return page


def _draw_curves(result: AnnotatorsNeeded, name: str, title: str, target: float | None) -> Any:
    """Draw one curve per measure with its band."""
    import plotly.graph_objects as go

    figure = go.Figure()
    measures = [
        measure
        for measure in result.verdicts
        if any(row["measure"] == measure for row in result.rows)
    ]
    for number, measure in enumerate(measures):
        rows = [row for row in result.rows if row["measure"] == measure]
        colour = COLOURS[number % len(COLOURS)]
        judges = [row["judges"] for row in rows]
        figure.add_trace(
            go.Scatter(
                x=[*judges, *reversed(judges)],
                y=[
                    *(row[f"{name}_high"] for row in rows),
                    *(row[f"{name}_low"] for row in reversed(rows)),
                ],
                fill="toself",
                fillcolor=colour,
                opacity=0.15,
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
                legendgroup=measure,
            )
        )
        figure.add_trace(
            go.Scatter(
                x=judges,
                y=[row[name] for row in rows],
                mode="lines+markers",
                line={"color": colour},
                name=plain(measure),
                legendgroup=measure,
            )
        )
    if target is not None:
        figure.add_hline(y=target, line={"dash": "dash", "color": "#57606a"})
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title="judgments per pair", dtick=1)
    figure.update_yaxes(title=title)
    return figure
