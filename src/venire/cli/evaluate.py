"""``venire evaluate``: runs scored under qrels."""

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


@click.command("evaluate")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@MEASURES
@qrels_columns()
@click.option("--by-topic", is_flag=True, help="Print one row per run and topic, not the average.")
@TOPICS
@TIES
@POSTERIOR
@DRAWS
@click.option(
    "--sampling-intervals",
    is_flag=True,
    help="Add 95% intervals of xinfAP, infAP, infNDCG and infNumRel for the sampling of the pool.",
)
@SEED
@KEEP_GOING
@OUTPUT_FILE
@FORMAT
def command(
    qrels: str, runs: tuple[str, ...], output: str | None, form: str, **options: Any
) -> None:
    """Score runs under QRELS.

    QRELS and RUN are TREC files, or tables (CSV, TSV, JSON Lines, Parquet) with the columns
    query_id, doc_id, relevance and query_id, doc_id, score, run_id; gz, xz, zst too. A folder
    stands for the *.run files in it.
    """
    result = venire.evaluate(qrels, runs, **options)
    emit(
        "evaluate",
        result.rows,
        form=form,
        settings={
            "qrels": qrels,
            "runs": list(runs),
            "measures": list(result.measures),
            "columns": options["columns"],
            "topics": options["topics"],
            "ties": options["ties"],
            "posterior": options["posterior"],
            "draws": options["draws"] if options["posterior"] else None,
            "sampling_intervals": options["sampling_intervals"],
            "seed": options["seed"],
        },
        notes=result.notes,
        output=output,
    )
