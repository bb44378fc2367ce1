"""``venire simulate annotators``: how many judgments per pair are enough."""

from __future__ import annotations

from typing import Any

import click

import venire
from venire.cli.shared.options import LAST_REPEAT, SEED, none_if_empty, output_folder, reading
from venire.cli.shared.output import FORMAT, emit, write_folder
from venire.simulation.campaigns.settled_grades import RULES


@click.command("annotators")
@click.argument("judgments")
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@reading(LAST_REPEAT)
@click.option("--most", type=click.IntRange(1, 10), default=10, show_default=True,
              help="Largest number of judgments per pair to show; the verdict does not depend on "
              "it.")  # fmt: skip
@click.option("--rule", type=click.Choice(RULES), default="mean", show_default=True,
              help="Rule that turns the labels of a pair into one grade.")  # fmt: skip
@click.option("--draws", type=click.IntRange(min=10), default=30, show_default=True,
              help="Number of worlds drawn from the fitted crowd.")  # fmt: skip
@click.option("-m", "--measure", "measures", multiple=True, metavar="M", callback=none_if_empty,
              help="Measure, repeatable; AP, nDCG and P@10 by default.")  # fmt: skip
@click.option("--truth", metavar="QRELS",
              help="Known grades, with which the grades of 1, 2, ... judgments are compared."
              )  # fmt: skip
@click.option("--target-tau", type=float, default=0.9, show_default=True,
              help="Smallest mean tau with the order under another crowd that is enough."
              )  # fmt: skip
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
    """Estimate how many judgments per pair are enough for the order of the runs.

    Shows how far another crowd would order the runs alike, by judgments per pair, with 95%
    intervals. Without RUN..., the grades are compared with --truth only.
    """
    from venire.report.annotators_needed import (
        advise_on_judgments,
        describe_judgments_needed,
        join_intervals,
    )

    result = venire.simulate_annotators(judgments, runs or None, **options)
    emit(
        "simulate annotators",
        (join_intervals(result.rows) if form == "table" else result.rows) or result.truth,
        form=form,
        settings={
            "judgments": judgments,
            "runs": list(runs),
            "truth": options["truth"],
            **result.settings,
            "seed": options["seed"],
        },
        sections={"verdicts": result.verdicts, "compared": result.compared},
        notes=[
            *describe_judgments_needed(result),
            *advise_on_judgments(result),
            *result.notes,
            *write_folder(result, output, form),
        ],
    )
