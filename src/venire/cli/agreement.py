"""``venire agreement``: how far annotators agree, and what that means."""

from __future__ import annotations

from typing import Any

import click

import venire
from venire.cli.shared.options import LAST_REPEAT, SEED, output_folder, reading
from venire.cli.shared.output import FORMAT, emit, write_folder

VIEWS = ("topic", "grade", "annotator")


@click.command("agreement")
@click.argument("judgments")
@reading(LAST_REPEAT)
@click.option(
    "--relevant-from",
    metavar="GRADE",
    help="Smallest relevant grade; by default the smallest above zero.",
)
@click.option(
    "--by",
    type=click.Choice(VIEWS),
    help="Print one row per topic, per grade, or per annotator against all others.",
)
@click.option(
    "--bootstrap",
    type=int,
    default=1000,
    show_default=True,
    help="Number of resamples of the topics for the intervals; 0 for none.",
)
@output_folder("overall.csv, topics.csv, grades.csv, annotators.csv and report.html")
@SEED
@FORMAT
def command(judgments: str, by: str | None, output: str | None, form: str, **options: Any) -> None:
    """Measure how far the annotators of JUDGMENTS agree, beyond chance and with intervals.

    JUDGMENTS is CSV, TSV, JSON Lines or Parquet (gz, xz, zst too; - is standard input) with
    the columns query_id, doc_id, annotator_id, label.
    """
    result = venire.measure_agreement(judgments, **options)
    written = write_folder(result, output, form)
    frames = {"topic": result.topics, "grade": result.grades, "annotator": result.annotators}
    emit(
        "agreement",
        frames[by].to_dicts() if by else result.rows,
        form=form,
        settings={
            "columns": options["columns"],
            "scale": list(result.scale.names),
            "drop_labels": list(options["drop_labels"]),
            "repeats": options["repeats"] or "last",
            "relevant_from": result.relevant_from,
            "by": by,
            "bootstrap": options["bootstrap"],
            "seed": options["seed"],
        },
        notes=[result.sentence, *result.warnings, *result.notes, *written],
    )
