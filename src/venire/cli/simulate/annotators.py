"""``venire simulate annotators``: how many judgments per pair are enough."""

from __future__ import annotations

from typing import Any

import click

import venire
from venire.cli.shared.options import LAST_REPEAT, SEED, none_if_empty, output_folder, reading
from venire.cli.shared.output import FORMAT, emit, write_folder
from venire.simulation.campaigns.annotators_needed import RULES, SOURCES


@click.command("annotators")
@click.argument("judgments")
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@reading(LAST_REPEAT)
@click.option("--most", type=click.IntRange(min=2), default=5, show_default=True,
              help="Largest number of judgments per pair to try.")  # fmt: skip
@click.option(
    "--source", type=click.Choice(SOURCES), default="judgments", show_default=True,
    help="Source of the drawn labels: the judgments of each pair, or a fitted model if pairs have "
    "too few judgments.",
)  # fmt: skip
@click.option("--rule", type=click.Choice(RULES), default="mean", show_default=True,
              help="Rule that turns the drawn labels of a pair into one grade.")  # fmt: skip
@click.option("--draws", type=click.IntRange(min=2), default=100, show_default=True,
              help="Number of draws.")  # fmt: skip
@click.option("-m", "--measure", "measures", multiple=True, metavar="M", callback=none_if_empty,
              help="Measure, repeatable; AP, nDCG and P@10 by default.")  # fmt: skip
@click.option(
    "--truth",
    metavar="QRELS",
    help="Known grades: the reference for the order of runs and for the grades.",
)
@click.option("--target-tau", type=float, default=0.9, show_default=True,
              help="Smallest mean tau with the reference order that is enough.")  # fmt: skip
@click.option(
    "--target-sd",
    type=float,
    help="Largest standard deviation of a score that is enough; none by default.",
)
@click.option("--price", type=float, help="Price per judgment; adds the cost.")
@SEED
@output_folder("report.html, annotators.csv and truth.csv")
@FORMAT
def command(
    judgments: str, runs: tuple[str, ...], output: str | None, form: str, **options: Any
) -> None:
    """Simulate what 1, 2, 3, ... judgments per pair do to scores and to the order of runs.

    Without RUN..., the grades are compared with --truth only.
    """
    from venire.report.annotators_needed import describe_judgments_needed, hide_missing_costs

    result = venire.simulate_annotators(judgments, runs or None, **options)
    emit(
        "simulate annotators",
        (hide_missing_costs(result.rows) if form == "table" else result.rows) or result.truth,
        form=form,
        settings={
            "judgments": judgments,
            "runs": list(runs),
            "truth": options["truth"],
            **result.settings,
            "seed": options["seed"],
        },
        notes=[
            *describe_judgments_needed(result),
            *result.notes,
            *write_folder(result, output, form),
        ],
    )
