"""``venire compare``: every pair of runs compared."""

from __future__ import annotations

from typing import Any

import click

import venire
from venire.cli.shared.options import (
    DRAWS,
    KEEP_GOING,
    MEASURES,
    OUTPUT_FILE,
    POSTERIOR,
    SEED,
    TIES,
    TOPICS,
    qrels_columns,
)
from venire.cli.shared.output import FORMAT, emit


@click.command("compare")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@MEASURES
@qrels_columns()
@TOPICS
@TIES
@click.option(
    "--permutations",
    type=int,
    default=10_000,
    show_default=True,
    help="Number of permutations per test.",
)
@click.option(
    "--level", type=float, default=0.95, show_default=True, help="Confidence level of the interval."
)
@POSTERIOR
@DRAWS
@SEED
@KEEP_GOING
@OUTPUT_FILE
@FORMAT
def command(
    qrels: str, runs: tuple[str, ...], output: str | None, form: str, **options: Any
) -> None:
    """Compare every pair of runs: verdict, difference, interval, paired tests.

    The verdict says whether the topics tell the runs apart.

    QRELS and RUN are files as for venire evaluate. A folder stands for the *.run files in it.
    """
    result = venire.compare(qrels, runs, **options)
    emit(
        "compare",
        result.rows,
        form=form,
        settings={
            "qrels": qrels,
            "runs": list(runs),
            "measures": [str(measure) for measure in result.scores.measures],
            "columns": options["columns"],
            "topics": options["topics"],
            "ties": options["ties"],
            "permutations": options["permutations"],
            "level": options["level"],
            "posterior": options["posterior"],
            "draws": options["draws"] if options["posterior"] else None,
            "seed": options["seed"],
        },
        notes=result.notes,
        lead=result.sentences,
        sections={"summary": result.summary},
        output=output,
    )
