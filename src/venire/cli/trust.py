"""``venire trust``: how far a ranking of runs can be trusted."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

import venire
from venire.cli.shared.database import DATABASE
from venire.cli.shared.options import (
    DRAWS,
    KEEP_GOING,
    LAST_REPEAT,
    POSTERIOR,
    SEED,
    TIES,
    TOPICS,
    output_folder,
    qrels_columns,
    reading,
)
from venire.cli.shared.output import FORMAT, emit, show_progress, write_folder
from venire.cli.trust_campaigns import compare_campaigns
from venire.errors import BadSetting
from venire.reliability.decision import Decision
from venire.reliability.repeatability import PAIRS
from venire.reliability.trust import MEASURE

RISK_COLUMNS = ("risk", "verdict", "number", "reason")
"""Columns of the table; one risk per line must fit a screen."""
CAMPAIGN_OPTIONS = ("study", "database", "model", "pairs", "relevant_from")
"""Options that only --campaign has."""
RANKING_OPTIONS = ("qrels_columns", "judgments", "posterior", "draws", "depth", "groups")
"""Options that --campaign does not have."""


@click.command("trust")
@click.argument("qrels", required=False, metavar="QRELS")
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@click.option(
    "--campaign",
    "campaigns",
    multiple=True,
    metavar="NAME=FILE",
    help="Group of annotators to compare: NAME=FILE (judgments or qrels), or the NAME of a "
    "campaign of --study. Repeatable; replaces QRELS.",
)
@click.option(
    "--study",
    metavar="NAME",
    help="Study that holds the campaigns passed without FILE; without RUN..., its runs too.",
)
@DATABASE
@click.option(
    "--model",
    default="majority",
    show_default=True,
    help="Model that aggregates the judgments of each campaign.",
)
@click.option(
    "--pairs",
    type=click.Choice(PAIRS),
    default="shared",
    show_default=True,
    help="Score campaigns on the pairs that all of them judged, or each on its own.",
)
@click.option(
    "--relevant-from", type=int, help="Smallest relevant grade, for the agreement of campaigns."
)
@qrels_columns("--qrels-columns")
@click.option(
    "--judgments",
    metavar="FILE",
    help="Judgments of QRELS pairs by other annotators. Without them, two risks are not checked.",
)
@reading(LAST_REPEAT)
@POSTERIOR
@DRAWS
@click.option(
    "--depth", type=click.IntRange(min=1), default=10, show_default=True, help="Depth of the pool."
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="M",
    help="Measure that ranks the runs, in ir_measures notation: nDCG@10, AP(rel=2). AP by "
    "default. With --campaign: repeatable; AP, nDCG and P@10 by default.",
)
@click.option(
    "--groups",
    metavar="FILE",
    help="Table with the columns run, group: runs of one group are left out together.",
)
@TOPICS
@TIES
@click.option(
    "--permutations",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Number of permutations per test.",
)
@KEEP_GOING
@SEED
@output_folder("report.html and a CSV file per table")
@FORMAT
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    campaigns: tuple[str, ...],
    measures: tuple[str, ...],
    output: str | None,
    form: str,
    **options: Any,
) -> None:
    """Assess how far the ranking of runs under QRELS can be trusted: one row per risk.

    RUN is a run as for venire evaluate, or a folder with *.run files.

    The verdict is green, amber, red, or not checked, with the number that decides it, the
    reason, and the cheapest next step. With --campaign, systems are ranked under each group of
    annotators instead: one row per measure and two groups.
    """
    if campaigns:
        _refuse(
            options,
            ("qrels_columns", "judgments", "posterior", "groups"),
            "cannot be used with --campaign",
        )
        shared = {name: value for name, value in options.items() if name not in RANKING_OPTIONS}
        paths = runs if qrels is None else (qrels, *runs)
        compare_campaigns(campaigns, paths, measures, output=output, form=form, **shared)
        return
    if qrels is None or not runs:
        raise click.UsageError("Pass QRELS and RUN..., or groups with --campaign NAME=FILE.")
    _refuse(options, ("study", "relevant_from"), "needs --campaign")
    if len(measures) > 1:
        raise BadSetting("must be one measure without --campaign", argument="measures")
    options = {name: value for name, value in options.items() if name not in CAMPAIGN_OPTIONS}
    with show_progress() as progress:
        result = venire.trust(qrels, runs, *(measures or (MEASURE,)), **options, progress=progress)
    notes = [*result.notes, *write_folder(result, output, form)]
    rows = result.rows
    if form == "table":
        notes = [*map(_explain_risk, rows), *notes]
        rows = [_shorten_risk(row) for row in rows]
    judgments, posterior = options["judgments"], options["posterior"]
    emit(
        "trust",
        rows,
        form=form,
        settings={
            "qrels": qrels,
            "runs": list(runs),
            "qrels_columns": options["qrels_columns"],
            "judgments": judgments,
            "columns": options["columns"],
            "scale": options["scale"],
            "drop_labels": list(options["drop_labels"]),
            "repeats": options["repeats"] or "last" if judgments else None,
            "posterior": posterior,
            "draws": options["draws"] if posterior else None,
            "depth": options["depth"],
            "measure": str(result.leave_one_out.measure),
            "groups": options["groups"],
            "topics": options["topics"],
            "ties": options["ties"],
            "permutations": options["permutations"],
            "seed": options["seed"],
        },
        notes=notes,
        lead=_describe_decision(result.decision),
        sections={"decision": asdict(result.decision)},
    )


def _describe_decision(decision: Decision) -> list[str]:
    """Return the lines above the table: may the order be trusted, and what to do next."""
    steps = [f"  {number}. {step}" for number, step in enumerate(decision.steps, start=1)]
    lines = [f"Can this order be trusted? {decision.sentence}", decision.holds]
    return [*lines, "What to do next:", *steps] if steps else lines


def _refuse(options: dict[str, Any], names: tuple[str, ...], reason: str) -> None:
    for name in names:
        if options[name] is not None:
            raise BadSetting(reason, argument=name, value=options[name])


def _explain_risk(row: dict[str, Any]) -> str:
    step = "" if row["next_step"] == "none" else f"; next: {row['next_step']}"
    return f"{row['risk']}: the number is the {row['what']}{step}"


def _shorten_risk(row: dict[str, Any]) -> dict[str, Any]:
    number = "-" if row["number"] is None else f"{row['number']:.4f}"
    return {name: row[name] for name in RISK_COLUMNS} | {"number": number}
