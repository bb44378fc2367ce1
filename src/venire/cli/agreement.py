"""``venire agreement``: how far annotators agree, and what that means."""

from __future__ import annotations

import click

from venire.cli.shared.options import SEED, read_judgments, reading
from venire.cli.shared.output import FORMAT, emit

BY = ("topic", "grade", "annotator")


@click.command("agreement")
@click.argument("judgments")
@reading("By default the last, by judged_at or else by the order of the rows.")
@click.option(
    "--relevant-from",
    metavar="GRADE",
    help="Smallest grade that counts as relevant; by default the smallest above zero.",
)
@click.option(
    "--by",
    type=click.Choice(BY),
    help="A row for each topic, each grade, or each annotator against the rest.",
)
@click.option(
    "--bootstrap",
    type=int,
    default=1000,
    show_default=True,
    help="Resamples of the topics for the intervals; 0 for none.",
)
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="DIR",
    help="Write overall.csv, topics.csv, grades.csv, annotators.csv and report.html.",
)
@SEED
@FORMAT
def command(
    judgments: str,
    columns: str | None,
    scale: str | None,
    drop_labels: tuple[str, ...],
    repeats: str | None,
    relevant_from: str | None,
    by: str | None,
    bootstrap: int,
    folder: str | None,
    seed: int,
    form: str,
) -> None:
    """Say how far the annotators of JUDGMENTS agree, beyond chance and with intervals.

    JUDGMENTS is CSV, TSV, JSON Lines or Parquet (gz, xz, zst too; - is standard input) with
    the columns query_id, doc_id, annotator_id, label.
    """
    from venire.agreement.summary import measure_agreement

    table = read_judgments(
        judgments,
        columns=columns,
        scale=scale,
        drop_labels=drop_labels,
        # Nobody is their own second opinion: here a repeat must not count as agreement.
        repeats=repeats or "last",
    )
    result = measure_agreement(table, relevant_from=relevant_from, bootstrap=bootstrap, seed=seed)
    notes = [result.sentence, *result.warnings, *result.notes]
    if folder:
        from venire.report.agreement import write_agreement

        write_agreement(result, folder)
        if form != "json":
            notes.append(f"written to {folder}; look at report.html there")
    frames = {"topic": result.topics, "grade": result.grades, "annotator": result.annotators}
    emit(
        "agreement",
        frames[by].to_dicts() if by else result.rows,
        form=form,
        settings={
            "columns": columns,
            "scale": list(table.scale.names),
            "drop_labels": list(drop_labels),
            "repeats": repeats or "last",
            "relevant_from": result.relevant_from,
            "by": by,
            "bootstrap": bootstrap,
            "seed": seed,
        },
        notes=notes,
    )
