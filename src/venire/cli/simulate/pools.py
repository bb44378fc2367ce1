"""``venire simulate pools``: systems scored by simulated pools."""

from __future__ import annotations

from typing import Any

import click

import venire
from venire.cli.shared.options import MEASURE, OUTPUT_FILE, RELEVANT_FROM, TIES, read_numbers
from venire.cli.shared.output import FORMAT, emit
from venire.simulation.simulate_pools import POOL_VIEWS


@click.command("pools")
@click.argument("truth", metavar="COLLECTION|QRELS")
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@click.option(
    "--depth",
    callback=read_numbers(),
    metavar="K,...",
    help="Depths of the pool; 10,20,50,100 by default.",
)
@click.option("--members", metavar="RUN,...", help="Runs that make the pool; all by default.")
@click.option(
    "--by",
    type=click.Choice(POOL_VIEWS),
    default="depth",
    show_default=True,
    help="Rows to print: one per depth; one per run, scored by the pool (run); or one per run, "
    "scored by the pool without the run's own documents (left-out).",
)
@MEASURE
@RELEVANT_FROM
@TIES
@OUTPUT_FILE
@FORMAT
def command(
    truth: str, runs: tuple[str, ...], output: str | None, form: str, **options: Any
) -> None:
    """Score systems with simulated pools, and compare with the scores under all known grades.

    The first argument is qrels, or a collection folder with its qrels (Cranfield too). Without
    RUN..., the runs of the collection are used, or its documents are searched with the twelve
    systems of venire retrieve.
    """
    result = venire.simulate_pools(truth, runs or None, **options)
    emit(
        "simulate pools",
        result.rows,
        form=form,
        settings={
            "truth": truth,
            "runs": list(result.runs),
            "depths": list(result.depths),
            "members": result.members,
            "by": options["by"],
            "measure": str(result.measure),
            "relevant_from": options["relevant_from"],
            "ties": options["ties"],
        },
        notes=result.notes,
        output=output,
    )
