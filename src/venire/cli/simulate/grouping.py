"""``venire simulate grouping``: which grouping saves time without losing relevant images."""

from __future__ import annotations

from typing import Any

import click

import venire
from venire.cli.shared.options import RELEVANT_FROM, SEED
from venire.cli.shared.output import FORMAT, emit, show_progress, write_folder


@click.command("grouping")
@click.argument("collection", metavar="COLLECTION")
@click.option(
    "--truth", metavar="QRELS", help="Labels to compare against: a file, or a name in qrels/."
)
@click.option(
    "--pilot", metavar="JUDGMENTS", help="Judgments of a pilot. Each annotator becomes a type; "
    "without --truth, the majority label is the truth."
)  # fmt: skip
@click.option(
    "--encoder",
    metavar="NAME",
    help="Encoder that makes vectors of the documents: efficientnet-lite0, or with settings, "
    "open-clip(model=RN50).",
)
@click.option("--vectors", metavar="FILE", help="Precomputed vectors: .npy or .parquet.")
@click.option(
    "--methods",
    metavar="M,...",
    help="Grouping methods and values to try: leader,k-means(size=4|8). By default all methods "
    "with all values of their grids.",
)
@click.option(
    "--caps", default="none", show_default=True, metavar="N,...", help="Maximum group sizes to try."
)
@click.option("--current", metavar="SETTING", help="Current setting of the study; always tried.")
@click.option(
    "--annotators",
    metavar="A,...",
    help="Annotator types that the recommendation must suit: novice,typical,expert or your own, "
    "mine(check_all=12). The pilot's by default, else typical.",
)
@click.option(
    "--pool",
    metavar="FILE",
    help="Table with query_id and doc_id, best first; by default the top of the runs.",
)
@click.option(
    "--depth", type=int, default=100, show_default=True, help="Depth of the pool made of the runs."
)
@click.option(
    "--queries", type=int, metavar="N", help="Number of queries to replay; all by default."
)
@click.option(
    "--repetitions",
    type=int,
    default=3,
    show_default=True,
    help="Replays per query, for annotators who decide at random.",
)
@click.option(
    "--bootstrap",
    type=int,
    default=1000,
    show_default=True,
    help="Number of resamples of the queries.",
)
@RELEVANT_FROM
@SEED
@click.option(
    "--by",
    type=click.Choice(("setting", "type", "query")),
    default="setting",
    show_default=True,
    help="Rows to print: one per setting; per setting and annotator type; or per setting, type, "
    "query and repetition.",
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    help="Write report.html, CSV tables and encoded vectors to this folder.",
)
@FORMAT
def command(by: str, output: str | None, form: str, **options: Any) -> None:
    """Simulate annotators who judge grouped images, and compare groupings.

    COLLECTION is a folder with documents (doc_id and image, or text), qrels/ and runs/. Without
    --pool and runs, a query's pool is every document with a label in the truth.
    """
    from venire.report.grouping import setting_rows

    with show_progress() as progress:
        result = venire.simulate_grouping(**options, vectors_folder=output, progress=progress)
    recommendation = result.recommendation
    rows = {"setting": result.frame, "type": result.by_type, "query": result.results}[by].to_dicts()
    if form == "table" and by == "setting":
        rows = setting_rows(recommendation)
    emit(
        "simulate grouping",
        rows,
        form=form,
        settings={
            **options,
            "by": by,
            "methods": [str(setting) for setting in result.settings],
            "annotators": [annotator.settings for annotator in result.annotators],
            "queries": list(result.queries),
        },
        notes=[
            recommendation.summary,
            *recommendation.caveats,
            *result.notes,
            *write_folder(result, output, form),
        ],
    )
