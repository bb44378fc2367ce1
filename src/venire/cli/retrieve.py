"""``venire retrieve``: runs of classical systems from documents and topics."""

from __future__ import annotations

from typing import Any

import click

from venire.cli.shared.output import FORMAT, emit
from venire.errors import BadSetting

TIES = ("trec", "docid-ascending", "file-order")


@click.command("retrieve")
@click.argument("collection")
@click.option(
    "--system",
    "systems",
    default="all",
    show_default=True,
    metavar="NAME,...",
    help="Names of systems, or all.",
)
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="DIR",
    required=True,
    help="Write the runs here.",
)
@click.option("--depth", type=int, default=1000, show_default=True, help="Documents a topic.")
@click.option(
    "--ties",
    type=click.Choice(TIES),
    default="trec",
    show_default=True,
    help="Which of equally scored documents come first; file-order is that of the collection.",
)
@click.option(
    "--fields",
    default="title",
    show_default=True,
    metavar="NAME,...",
    help="Columns of the topics that make the query.",
)
@FORMAT
def command(
    collection: str,
    systems: str,
    folder: str,
    depth: int,
    ties: str,
    fields: str,
    form: str,
) -> None:
    """Search the documents of COLLECTION for its topics with classical systems.

    COLLECTION is a folder with topics (.tsv, .jsonl) and documents (.jsonl, .tsv), or
    Cranfield as it is distributed. DIR gets one run a system, for venire pool, and the
    grades of the collection as TREC qrels.
    """
    from pathlib import Path

    import polars as pl

    from venire.formats import write_qrels, write_runs
    from venire.formats.collection import read_collection
    from venire.retrieval.systems import named, search_documents
    from venire.tables.runs import Runs
    from venire.tables.schema import counted

    chosen = list(named(_names(systems)))
    wanted = _names(fields)
    if not wanted:
        raise BadSetting("--fields names at least one column of the topics")
    folder_read = read_collection(collection)
    runs = search_documents(
        folder_read.documents, folder_read.topics, chosen, depth=depth, ties=ties, fields=wanted
    )
    rows: list[dict[str, Any]] = []
    for name in chosen:
        run = Runs(runs.frame.filter(pl.col("run_id") == name))
        path = Path(folder) / f"{name}.run"
        write_runs(run, path)
        rows.append(
            {
                "system": name,
                "topics": run.frame["query_id"].n_unique(),
                "documents": len(run),
                "file": str(path),
            }
        )
    for name, qrels in folder_read.qrels.items():
        write_qrels(qrels, Path(folder) / f"{name}.qrels")
    notes = [
        f"{counted(folder_read.documents.height, 'document')}, "
        f"{counted(folder_read.topics.height, 'topic')}",
        *folder_read.notes,
        *runs.notes,
    ]
    if ties != "trec":
        notes.append(f"equal scores stand in the order {ties}; read the runs with that rule too")
    emit(
        "retrieve",
        rows,
        form=form,
        settings={
            "collection": collection,
            "systems": chosen,
            "depth": depth,
            "ties": ties,
            "fields": wanted,
        },
        notes=notes,
    )


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
