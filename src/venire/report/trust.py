"""Write the page and the tables of a trust report: the verdict first, then its evidence."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from venire.reliability.favour_power import SEEN
from venire.reliability.favour_verdict import name_runs
from venire.reliability.judge_audit import Audit
from venire.reliability.summary import Trust
from venire.reliability.uncertain_grades import UncertainGrades
from venire.reliability.verdict import AMBER, GREEN, NOT_CHECKED, RED
from venire.report.page import COLOURS, Page, plain
from venire.stats.rank_correlation import rank_scores

LINES = 60
"""Most runs in the plot of ranks; past it lines cannot be told apart."""
GREY = "#c9ced4"
NAMED = len(COLOURS)
"""Runs that move most: they have a colour and a name of their own, the others are grey."""
MOST_ROWS = 40
"""Rows of a table of runs on the page; all are in the files."""
WORDS = {
    GREEN: "Green: no sign of it",
    AMBER: "Amber: look closer",
    RED: "Red: the order may not hold",
    NOT_CHECKED: "Not checked",
}


def write_trust(result: Trust, folder: str | Path) -> list[Path]:
    """Write a trust report; return the files.

    ``verdict``, ``scores``, ``unjudged``, ``leave_one_out``, ``depths`` and, with judgments,
    ``panels``, ``substitution``, ``ranks``, ``favoured``, ``favour_power`` and ``favour_disputed``,
    with a posterior ``uncertain``, and where pairs should be judged ``pairs_to_judge``, as .csv,
    and ``report.html``.
    """
    text = ("verdict", "what", "reason", "next_step")
    verdict = pl.DataFrame(
        result.rows,
        schema_overrides={"number": pl.Float64, **dict.fromkeys(text, pl.String)},
    )
    tables = {
        "verdict": verdict,
        "scores": result.scores.frame,
        "unjudged": result.unjudged.frame,
        "leave_one_out": result.leave_one_out.frame,
        "depths": result.depths,
    }
    if result.to_judge.height:
        tables["pairs_to_judge"] = result.to_judge
    if result.panels:
        tables["panels"] = pl.DataFrame(
            [comparison.row for comparison in result.panels], infer_schema_length=None
        )
    if result.substitutions:
        tables["substitution"] = pl.DataFrame(
            _substitution_rows(result), schema_overrides={"tau": pl.Float64, "tau_ap": pl.Float64}
        )
        tables["ranks"] = pl.DataFrame(_rank_rows(result))
    if result.audits:
        tables |= _favour_tables(result.audits)
    if result.uncertain is not None:
        tables["uncertain"] = result.uncertain.frame
    return trust_page(result).write_beside(
        tables, folder, footer=f"Venire {result.version}, seed {result.seed}"
    )


def trust_page(result: Trust) -> Page:
    """Return the page."""
    page = Page("How far this ranking can be trusted")
    _add_decision(page, result)
    page.heading("Why")
    page.verdict(
        [
            {
                "light": risk.light,
                "verdict": WORDS[risk.light],
                "risk": risk.name,
                "reason": risk.reason,
                "next": risk.next_step,
            }
            for risk in result.risks
        ]
    )
    _add_scores(page, result)
    _ranks(page, result)
    _depths(page, result)
    page.heading(f"Unjudged in the first {result.unjudged.depth}")
    page.text("A document that nobody judged counts as not relevant.")
    page.table(result.unjudged.frame.to_dicts(), most=MOST_ROWS)
    page.heading("Left out of the pool")
    page.text(
        f"Each run, or its group, left out of the depth-{result.leave_one_out.depth} pool: the "
        "documents that only it brought become unjudged, and all runs are scored again."
    )
    columns = ["run_id", "places_lost", "rank", "rank_without", "score", "score_without"]
    columns += ["change", "unique", "unique_relevant", "rank_alone", "group"]
    page.table(result.leave_one_out.frame.select(columns).to_dicts(), digits=4, most=MOST_ROWS)
    if result.panels:
        page.heading("Would other assessors order the runs differently?")
        page.text(
            "p: probability that two panels which prefer the same runs differ as much on these "
            "pairs, corrected for the number of panels; below .05 a panel differs. told apart: "
            "swapped pairs of runs that the topics of the qrels tell apart. by chance: swaps "
            "between two equal panels. A panel with few topics is seldom found to differ."
        )
        page.table([describe_panel(comparison.row) for comparison in result.panels])
    if result.audits:
        _audits(page, result.audits)
    if result.uncertain is not None:
        _uncertain(page, result.uncertain)
    page.heading("For statisticians")
    page.table(
        [
            {"risk": risk.name, "number": risk.number, "the number is the": risk.what}
            for risk in result.risks
        ]
    )
    relative = result.generalizability.relative()
    if relative is not None:
        page.text(
            f"E rho^2, the share of the variance of mean scores that is of runs: {relative:.4f}. "
            "It rises with every run that is much worse, and decides nothing."
        )
    page.heading("Notes")
    page.notes(result.notes)
    return page


def _add_decision(page: Page, result: Trust) -> None:
    """Add the decision, what holds, and what to do next."""
    page.lead(result.decision.sentence)
    page.text(result.decision.holds)
    if result.decision.steps:
        page.heading("What to do next")
        page.notes([f"{step[0].upper()}{step[1:]}." for step in result.decision.steps])
    if result.to_judge.height:
        page.text(
            f"Pairs to judge: {result.to_judge.height:,}, in pairs_to_judge.csv; those that most "
            "of the compared runs rank high first:"
        )
        page.table(result.to_judge.head(10).to_dicts(), digits=1)


def _add_scores(page: Page, result: Trust) -> None:
    """Add the runs by score, and how many others each is clearly better than."""
    page.heading("The order, and what is certain of it")
    page.text(
        "Clearly better than: number of different runs that are worse by more than chance "
        "explains. Runs that score alike on every topic count once. Close to the first: the run "
        "is not clearly below a group of first runs, so the verdict rests on it."
    )
    page.table(describe_order(result), digits=4, most=MOST_ROWS)


def describe_order(result: Trust) -> list[dict[str, Any]]:
    """Return the runs by score, each with the number of runs that it is clearly better than."""
    worse = result.told_apart.count_worse()
    measure = str(result.leave_one_out.measure)
    copies = dict(result.told_apart.copies)
    frame = result.scores.frame.sort(measure, "run_id", descending=[True, False])
    return [
        {
            "run_id": run,
            measure: score,
            "clearly better than": str(worse.get(run, f"scores like {copies.get(run)}")),
            "close to the first": copies.get(run, run) in result.top_order.top,
        }
        for run, score in frame.select("run_id", measure).iter_rows()
    ]


def _depths(page: Page, result: Trust) -> None:
    """Plot what shallower pools would have found, and how they would have ranked the runs."""
    import plotly.graph_objects as go

    page.heading("What a shallower pool would have done")
    rows = result.depths.to_dicts()
    figure = go.Figure()
    for name, words in (("tau", "tau with the order by all judgments"), ("found_share", "found")):
        known = [row for row in rows if row[name] is not None]
        figure.add_trace(
            go.Scatter(
                x=[row["depth"] for row in known],
                y=[row[name] for row in known],
                mode="lines+markers",
                name=words,
            )
        )
    figure.update_xaxes(title="depth", type="log", tickvals=[row["depth"] for row in rows])
    figure.update_layout(legend={"orientation": "h", "y": 1.1})
    caption = (
        "Runs scored by the judgments in the first k of some run. Found: the share of the "
        "relevant documents; what no run brought is not in it."
    )
    page.plot(figure, rows, caption=caption)


def _uncertain(page: Page, uncertain: UncertainGrades) -> None:
    """Plot each run's score with the interval that uncertain grades give it."""
    import plotly.graph_objects as go

    page.heading("What uncertain grades do")
    tau = uncertain.interval
    sentences = [
        f"{uncertain.draws} qrels drawn from the grade probabilities, seed {uncertain.seed}."
    ]
    if tau is not None:
        low, high = tau
        sentences.append(
            f"Tau with the order by likeliest grades: {low:.3f} to {high:.3f} in 95% of the draws."
        )
    sentences.append("beats_next: the share of draws in which a run is ahead of the next one.")
    page.text(" ".join(sentences))
    rows = uncertain.frame.to_dicts()
    shown = rows[:LINES]
    figure = go.Figure(
        go.Scatter(
            x=[row["score"] for row in shown],
            y=[plain(row["run_id"]) for row in shown],
            mode="markers",
            error_x={
                "type": "data",
                "symmetric": False,
                # The score by likeliest grades may lie outside what the draws give.
                "array": [max(row["high"] - row["score"], 0.0) for row in shown],
                "arrayminus": [max(row["score"] - row["low"], 0.0) for row in shown],
            },
        )
    )
    figure.update_xaxes(title=plain(str(uncertain.measure)))
    figure.update_yaxes(autorange="reversed", type="category")
    cut = f" The first {LINES} of {len(rows)} runs." if len(rows) > LINES else ""
    caption = f"Score under the likeliest grades, and where 95% of the drawn qrels put it.{cut}"
    page.plot(figure, rows, caption=caption)


def _substitution_rows(result: Trust) -> list[dict[str, Any]]:
    return [substitution.row for substitution in result.substitutions]


def describe_panel(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a panel that decide, by their headings."""
    columns = {
        "panel": "panel", "p": "p_corrected", "told apart": "told_apart_swapped",
        "swapped": "systems_swapped", "by chance": "chance_swapped", "at most": "chance_swapped_95",
        "pairs of runs": "system_pairs", "topics": "topics", "pairs": "pairs",
        "leniency": "leniency",
    }  # fmt: skip
    shown = {name: row[column] for name, column in columns.items()}
    return shown | {"not tested": row["reason"] or ""}


def _favour_tables(audits: Sequence[Audit]) -> dict[str, pl.DataFrame]:
    """Return tables of every group, of what would have been seen, and of pairs to judge again."""

    def join(frames: dict[str, pl.DataFrame]) -> pl.DataFrame:
        return pl.concat(
            frame.select(pl.lit(judge).alias("judge"), pl.all()) for judge, frame in frames.items()
        )

    groups = join({audit.judge: audit.favoured.frame for audit in audits})
    return {
        "favoured": groups.with_columns(pl.col("runs").list.join(" ")),
        "favour_power": join({audit.judge: audit.power for audit in audits}),
        "favour_disputed": join({audit.judge: audit.disputed for audit in audits}),
    }


def _audits(page: Page, audits: Sequence[Audit]) -> None:
    """Show the most favoured group of each judge, and whose favour would have been seen."""
    page.heading("Does a judge favour a system?")
    page.text(
        "Each run, or group of similar runs, is compared with a mix of the other runs that scores "
        "the same under the qrels. An unbiased judge scores both the same, however often judge and "
        "qrels err. p is corrected for groups and for judges: below .05 something was found. The "
        "test cannot say whether the judge favours these runs or the qrels underrate them. To "
        "decide, have a third assessor judge the pairs in dispute (favour_disputed.csv)."
    )
    page.table([_describe_audit(audit) for audit in audits])
    page.text(
        "Would a favour have been seen? In each trial, half of the lower grades among the first "
        f"five documents of a run are raised to the middle of the scale. Found in {SEEN:.0%} of "
        "the trials counts as seen. Nothing found clears only these runs."
    )
    page.table(
        [
            {
                "judge": audit.judge,
                "would be seen": name_runs(audit.seen),
                "would not be seen": name_runs(audit.unseen),
                "not audited": name_runs(audit.unaudited),
            }
            for audit in audits
        ]
    )


def _describe_audit(audit: Audit) -> dict[str, Any]:
    test = audit.favoured
    return {
        "judge": audit.judge,
        "gains most": name_runs(test.group) if test.group else test.reason,
        "grades higher by": test.gain,
        "p": audit.p,
        "pairs": test.pairs,
        "topics": test.topics,
        "pairs in dispute": audit.disputed.height,
    }


def _rank_rows(result: Trust) -> list[dict[str, Any]]:
    """Return a row a run: its place under the qrels, and on the pairs shared with each assessor."""
    scores = result.scores
    place = dict(zip(scores.runs, rank_scores(scores.mean[0]).tolist(), strict=True))
    rows: dict[str, dict[str, Any]] = {
        name: {"run_id": name, "qrels": place[name]}
        for name in sorted(scores.runs, key=lambda run: (place[run], run))
    }
    for other in result.substitutions:
        for row in other.frame.to_dicts():
            rows[row["run_id"]][f"qrels on pairs of {other.assessor}"] = row["rank"]
            rows[row["run_id"]][other.assessor] = row["rank_other"]
    return list(rows.values())


def _ranks(page: Page, result: Trust) -> None:
    """Plot how the places move: under the assessor who moves most, or with each run left out."""
    import plotly.graph_objects as go

    page.heading("How the ranking changes")
    known = [other for other in result.substitutions if other.order.tau is not None]
    if known:
        worst = min(known, key=lambda other: other.order.tau or 0.0)
        axis = [f"qrels, pairs of {worst.assessor}", worst.assessor]
        moved = [(row["run_id"], row["rank"], row["rank_other"]) for row in worst.frame.to_dicts()]
        caption = (
            f"Place of each run under the qrels and under {worst.assessor}, who changes the order "
            f"most, on the {worst.pairs:,} pairs that both judged."
        )
    else:
        frame = result.leave_one_out.frame.sort("rank", "run_id")
        axis = ["in the pool", "left out"]
        moved = [(row["run_id"], row["rank"], row["rank_without"]) for row in frame.to_dicts()]
        caption = "Place of each run with its own documents in the pool, and left out."
    rows = [{"run_id": run, axis[0]: before, axis[1]: after} for run, before, after in moved]
    visible = rows[:LINES]
    by_move = sorted(visible, key=lambda row: -abs(row[axis[0]] - row[axis[1]]))
    named = [row for row in by_move[:NAMED] if row[axis[0]] != row[axis[1]]]
    figure = go.Figure()
    for row in sorted(visible, key=lambda row: row in named):
        is_named = row in named
        figure.add_trace(
            go.Scatter(
                x=[plain(name) for name in axis],
                y=[row[name] for name in axis],
                mode="lines+markers",
                name=plain(row["run_id"]),
                showlegend=is_named,
                line={"color": COLOURS[named.index(row)] if is_named else GREY},
                hovertemplate=f"{html.escape(str(row['run_id']))}<br>%{{x}}: %{{y}}<extra></extra>",
            )
        )
    figure.update_xaxes(type="category")
    figure.update_yaxes(title="place", range=[len(rows[:LINES]) + 0.5, 0.5])
    figure.update_layout(showlegend=bool(named))
    if len(named) < len(visible):
        caption += f" The {len(named)} runs that move most are in colour." if named else ""
    cut = f" The first {LINES} of {len(rows)} runs." if len(rows) > LINES else ""
    page.plot(figure, rows, caption=caption + cut)
