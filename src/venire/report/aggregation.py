"""The page of one aggregation: grades, annotators, uncertainty, objective by iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from venire.aggregation.check.calibration import build_reliability_diagram
from venire.aggregation.decision import Decision
from venire.aggregation.posterior import Posterior
from venire.report.page import Page, plain
from venire.tables.qrels import Qrels

MOST_ROWS = 20
"""Annotators, or pairs of them, that the decision shows."""


def models_page(rows: Sequence[Mapping[str, Any]], notes: Sequence[str], *, scored: bool) -> Page:
    """Return the page over many models: one row per model, best first if they are scored."""
    import plotly.graph_objects as go

    page = Page("Models side by side")
    shown = sorted(rows, key=lambda row: row["mse"]) if scored else list(rows)
    page.table(shown, digits=4, best=0 if scored else None)
    if scored:
        page.text(
            "mse: mean squared error of the estimate; pearson: its correlation with the known "
            "grades; ndcg: its ranking of the known pairs of each query; accuracy: share of pairs "
            "whose most probable grade is the known one."
        )
        figure = go.Figure(
            go.Bar(
                x=[row["mse"] for row in shown][::-1],
                y=[plain(row["model"]) for row in shown][::-1],
                orientation="h",
            )
        )
        figure.update_xaxes(title="mean squared error")
        page.plot(figure, shown, caption="Distance from the known grades.", digits=4)
    page.text("The page of each model is in the folder with its name.")
    page.heading("Notes")
    page.notes(notes)
    return page


def posterior_page(
    posterior: Posterior,
    *,
    scores: Mapping[str, Any] | None = None,
    notes: Sequence[str] | None = None,
    gold: Qrels | None = None,
    decision: Decision | None = None,
) -> Page:
    """Return the page of one result, which begins with what to do.

    With known grades it also has the reliability diagram.
    """
    page = Page(f"Grades by {posterior.model}")
    state = "converged" if posterior.converged else "did NOT converge"
    page.lead(
        f"{posterior.items.height:,} items graded from "
        f"{int(posterior.items['judgments'].sum()):,} judgments by "
        f"{posterior.annotators.height:,} annotators; the fit {state}."
    )
    if decision is not None:
        _decision(page, decision)
    if scores:
        page.heading("Against known grades")
        page.table([dict(scores)], digits=4)
    _grades(page, posterior)
    _calibration(page, posterior, gold)
    _splits(page, posterior)
    _width(page, posterior)
    _annotators(page, posterior)
    _bounds(page, posterior)
    page.heading("Settings and notes")
    page.table(
        [
            {"setting": name, "value": str(value)}
            for name, value in {**posterior.settings, "seed": posterior.seed}.items()
        ]
    )
    page.notes(posterior.notes if notes is None else notes)
    return page


def _decision(page: Page, decision: Decision) -> None:
    """Add what to do, with the evidence."""
    page.heading("What to do")
    page.notes([f"{step[0].upper()}{step[1:]}." for step in decision.steps])
    if decision.spammers.height:
        page.text("Annotators to exclude, with the 95% interval of their spamminess:")
        page.table(decision.spammers.head(MOST_ROWS).to_dicts())
    if decision.agreeing.height:
        page.text("Pairs of annotators who agree more than the grades predict:")
        page.table(decision.agreeing.head(MOST_ROWS).to_dicts())
    if decision.to_judge.height:
        page.text(
            f"Pairs to judge again: {decision.to_judge.height:,}, in pairs_to_judge.csv; the least "
            "certain first:"
        )
        page.table(decision.to_judge.head(10).to_dicts(), digits=2)


def _grades(page: Page, posterior: Posterior) -> None:
    import plotly.graph_objects as go

    names = [plain(name) for name in posterior.scale.names]
    counts = [int((posterior.mode == k).sum()) for k in range(len(names))]
    expected = posterior.probabilities.sum(axis=0)
    page.heading("Grades")
    rows = [
        {"grade": name, "most probable for": count, "expected number": float(mass)}
        for name, count, mass in zip(names, counts, expected, strict=True)
    ]
    figure = go.Figure(
        [
            go.Bar(name="most probable grade", x=names, y=counts),
            go.Bar(name="expected number", x=names, y=[float(mass) for mass in expected]),
        ]
    )
    figure.update_layout(barmode="group")
    figure.update_xaxes(title="grade", type="category")
    figure.update_yaxes(title="items")
    page.plot(figure, rows, caption="Items of each grade.", digits=1)


def _calibration(page: Page, posterior: Posterior, gold: Qrels | None) -> None:
    """Say whether the scale is calibrated, and draw the reliability diagram."""
    import plotly.graph_objects as go

    page.heading("Calibration")
    if posterior.calibration:
        row = dict(posterior.calibration)
        row["offsets"] = ", ".join(f"{value:.2f}" for value in row["offsets"])
        page.table([row])
    else:
        page.text(
            "Not calibrated: the scale, the probabilities and the standard deviations are those of "
            "the model, without a correction by known grades."
        )
    if gold is None:
        return
    diagram = build_reliability_diagram(posterior, gold)
    page.text(
        f"Expected calibration error {diagram.error:.3f} over {diagram.pairs:,} known pairs; "
        f"{diagram.coverage:.0%} of the known grades lie within mean +- 1.96 sd. Known pairs "
        "that were held or learnt from make both look better."
    )
    rows = diagram.bins.to_dicts()
    figure = go.Figure(
        [
            go.Scatter(
                name="perfectly calibrated", x=[0, 1], y=[0, 1], mode="lines", line={"dash": "dot"}
            ),
            go.Scatter(
                name="known pairs",
                x=[row["confidence"] for row in rows],
                y=[row["right"] for row in rows],
                text=[f"{row['pairs']:,} pairs" for row in rows],
                mode="lines+markers",
            ),
        ]
    )
    figure.update_xaxes(title="probability of the most probable grade", range=[0, 1])
    figure.update_yaxes(title="share right", range=[0, 1])
    page.plot(figure, rows, caption="Reliability: on the line, probabilities are calibrated.")


def _splits(page: Page, posterior: Posterior) -> None:
    """Show where a committee's members disagree."""
    if "split" not in posterior.items.columns:
        return
    page.heading("Where the members disagree")
    page.text(
        "split is the sd of the members' means, in grades; "
        "furthest is the member that is furthest from the others."
    )
    columns = ["query_id", "doc_id", "judgments", "mean", "sd", "split", "furthest"]
    first = posterior.items.sort("split", descending=True, maintain_order=True).select(columns)
    page.table(first.head(20).to_dicts())
    counts = (
        posterior.items.drop_nulls("furthest")
        .group_by("furthest")
        .agg(pl.len().alias("pairs"), pl.col("split").mean().alias("mean split there"))
        .sort(["pairs", "furthest"], descending=[True, False])
    )
    page.text("How often each member is the one that is furthest from the others:")
    page.table(counts.rename({"furthest": "member"}).to_dicts())


def _width(page: Page, posterior: Posterior) -> None:
    import plotly.graph_objects as go

    most = 12
    frame = posterior.items.with_columns(pl.col("judgments").clip(upper_bound=most).alias("n"))
    by = (
        frame.group_by("n")
        .agg(
            pl.len().alias("items"),
            *(
                pl.col("sd").quantile(share, "linear").alias(f"{name} sd")
                for name, share in (("low", 0.25), ("median", 0.5), ("high", 0.75))
            ),
        )
        .sort("n")
    )
    page.heading("Uncertainty of the grades")
    rows = [
        {"judgments": f"{row['n']}{'+' if row['n'] == most else ''}"}
        | {key: value for key, value in row.items() if key != "n"}
        for row in by.iter_rows(named=True)
    ]
    figure = go.Figure(
        go.Box(
            x=[row["judgments"] for row in rows],
            q1=by["low sd"].to_list(),
            median=by["median sd"].to_list(),
            q3=by["high sd"].to_list(),
            lowerfence=by["low sd"].to_list(),
            upperfence=by["high sd"].to_list(),
            name="sd",
        )
    )
    figure.update_xaxes(title="judgments of the item", type="category")
    figure.update_yaxes(title="posterior standard deviation", rangemode="tozero")
    page.plot(
        figure,
        rows,
        caption="Width of the posterior by number of judgments: median and quartiles.",
    )


def _annotators(page: Page, posterior: Posterior) -> None:
    import plotly.graph_objects as go

    frame = posterior.annotators
    page.heading("Annotators")
    if "expertise" not in frame.columns:
        page.text("This model does not estimate anything about annotators.")
        return
    rows = frame.sort("judgments", descending=True).to_dicts()
    for row in rows:
        row.setdefault("spamminess", None)
    shown = [row for row in rows if row["spamminess"] is not None]
    if not shown:
        page.table(rows)
        return
    biggest = max(row["judgments"] for row in shown)
    figure = go.Figure(
        go.Scatter(
            x=[row["expertise"] for row in shown],
            y=[row["spamminess"] for row in shown],
            text=[plain(f"{row['annotator_id']}: {row['judgments']} judgments") for row in shown],
            mode="markers",
            marker={
                "size": [6 + 18 * (row["judgments"] / biggest) ** 0.5 for row in shown],
                "opacity": 0.6,
            },
        )
    )
    spread = [row["expertise"] for row in shown if row["expertise"] > 0]
    wide = bool(spread) and max(spread) > 30 * min(spread)
    figure.update_xaxes(title="expertise", type="log" if wide else "linear")
    figure.update_yaxes(title="spamminess", range=[-0.05, 1.05])
    page.plot(
        figure,
        rows,
        caption="Annotators by expertise and spamminess. Larger points have more judgments.",
    )


def _bounds(page: Page, posterior: Posterior) -> None:
    import plotly.graph_objects as go

    if not posterior.bounds.height:
        return
    page.heading("Fit")
    figure = go.Figure()
    rows = []
    questions = "question" in posterior.bounds.columns
    by = "question" if questions else "restart"
    for (number,), part in posterior.bounds.group_by(by, maintain_order=True):
        is_chosen = number == posterior.restart and not questions
        label = f"{number + 1}{' (chosen)' if is_chosen else ''}"
        figure.add_trace(
            go.Scatter(
                x=part["iteration"].to_list(),
                y=part["bound"].to_list(),
                name=label,
                mode="lines",
                line={"width": 3 if is_chosen else 1},
            )
        )
        rows.append(
            {
                (
                    "question" if questions else "restart"
                ): f"{number + 1}{' (chosen)' if is_chosen else ''}",
                "iterations": part.height,
                "last value": float(part["bound"][-1]),
            }
        )
    figure.update_xaxes(title="iteration")
    # The first steps are so large that they would flatten the rest of the plot.
    late = posterior.bounds.filter(pl.col("iteration") >= 5)["bound"]
    if len(late) > 1:
        low, high = float(late.min()), float(late.max())  # type: ignore[arg-type]
        margin = 0.05 * (high - low) or 1.0
        figure.update_yaxes(range=[low - margin, high + margin])
    figure.update_yaxes(title="log-likelihood or ELBO")
    page.plot(
        figure,
        rows,
        caption="Log-likelihood or evidence lower bound (ELBO) by iteration, per "
        f"{'question' if questions else 'restart'}.",
        digits=2,
    )
