"""``venire aggregate``: judgments in, grades with their uncertainty out."""

from __future__ import annotations

from typing import Any

import click

import venire
from venire.aggregation.posterior import GRADE_RULES
from venire.aggregation.registry import DEFAULT
from venire.cli.shared.options import SEED, output_folder, read_settings, reading
from venire.cli.shared.output import FORMAT, emit, print_notes, show_progress, write_folder
from venire.errors import BadSetting


@click.command("aggregate")
@click.argument("judgments")
@click.option(
    "--model",
    default=DEFAULT,
    show_default=True,
    help="Model to fit, or all: every model, ordinal-mixture once per value of difficulty.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Setting of the model, for example difficulty=item or restarts=3. Repeatable.",
)
@reading("Default: last if every repeated judgment has judged_at, else all.")
@click.option("--gold", metavar="QRELS", help="Known grades to evaluate the result against.")
@click.option(
    "--gold-columns",
    metavar="VENIRE=FILE,...",
    help="Map Venire's column names to those of the gold file, for example "
    "doc_id=item,relevance=truth.",
)
@click.option(
    "--gold-column",
    metavar="NAME",
    help="Column of JUDGMENTS with known grades to evaluate against.",
)
@click.option(
    "--clamp",
    metavar="QRELS",
    help="Known grades. Held fixed during the fit.",
)
@click.option(
    "--calibrate",
    metavar="QRELS",
    help="Known grades, 50 or more, that correct the scale and the probabilities after the fit.",
)
@click.option("--qrels", metavar="FILE", help="Write the grades as qrels.")
@click.option(
    "--rule",
    type=click.Choice(GRADE_RULES),
    default="mode",
    show_default=True,
    help="Rule that turns grade probabilities into one grade for the qrels.",
)
@output_folder("items, annotators, difficulty, bounds (Parquet and CSV) and report.html")
@click.option(
    "--threads", type=click.IntRange(min=1), help="Number of threads; all processors by default."
)
@SEED
@FORMAT
def command(
    judgments: str,
    settings: tuple[str, ...],
    qrels: str | None,
    rule: str,
    output: str | None,
    form: str,
    **options: Any,
) -> None:
    """Infer a grade for every judged pair from the labels in JUDGMENTS.

    JUDGMENTS is CSV, TSV, JSON Lines or Parquet (gz, xz, zst too; - is standard input) with
    the columns query_id, doc_id, annotator_id, label.
    """
    from venire.aggregation.registry import ALL_MODELS
    from venire.report.folder import check_folder

    if qrels and options["model"] == ALL_MODELS:
        raise BadSetting(
            "needs one model (got all).", argument="qrels", hint="Name one with --model."
        )
    if output == "-":
        raise BadSetting("must be a folder (got -)", argument="output", value=output)
    if output:
        check_folder(output)
    with show_progress() as progress:
        result = venire.aggregate(
            judgments, settings=read_settings(settings), **options, progress=progress
        )
    if qrels:
        # First, because ids that TREC files cannot hold must not leave a folder behind.
        result.qrels(rule).write(qrels)
    written = write_folder(result, output, form)
    if qrels == "-":
        print_notes(result.notes)
        return
    emit(
        "aggregate",
        result.rows,
        form=form,
        settings={
            "model": options["model"],
            "models": result.models,
            "columns": options["columns"],
            "scale": list(result.judgments.scale.names),
            "drop_labels": list(options["drop_labels"]),
            "repeats": options["repeats"],
            "rule": rule,
            "seed": options["seed"],
        },
        notes=[*result.notes, *written],
    )
