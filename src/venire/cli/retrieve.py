"""``venire retrieve``: runs of classical systems from documents and topics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import polars as pl

import venire
from venire.cli.shared.options import TIES
from venire.cli.shared.output import FORMAT, emit
from venire.retrieval.retrieve import parse_systems, split_names


@click.command("retrieve")
@click.argument("collection")
@click.option(
    "--system",
    "systems",
    default="all",
    show_default=True,
    metavar="NAME,...",
    help="Systems to run, or all.",
)
@click.option(
    "-o", "--output", metavar="DIR", required=True, help="Write runs and qrels to this folder."
)
@click.option(
    "--depth",
    type=int,
    default=1000,
    show_default=True,
    help="Maximum number of documents per topic.",
)
@TIES
@click.option(
    "--fields",
    default="title",
    show_default=True,
    metavar="NAME,...",
    help="Topic columns to use as the query.",
)
@FORMAT
def command(collection: str, systems: str, output: str, form: str, **options: Any) -> None:
    """Run classical retrieval systems on the topics and documents of COLLECTION.

    COLLECTION is a folder with topics (.tsv, .jsonl) and documents (.jsonl, .tsv), or
    Cranfield as distributed. Writes one run per system, for venire pool, and the grades of the
    collection as TREC qrels to DIR.
    """
    names = parse_systems(systems)
    source = venire.read_collection(collection)
    runs = venire.retrieve(source, names, **options)
    rows = []
    for name in names:
        run = venire.Runs(runs.frame.filter(pl.col("run_id") == name))
        path = Path(output) / f"{name}.run"
        run.write(path)
        rows.append(
            {
                "system": name,
                "topics": run.frame["query_id"].n_unique(),
                "documents": len(run),
                "file": str(path),
            }
        )
    for name, qrels in source.qrels.items():
        qrels.write(Path(output) / f"{name}.qrels")
    emit(
        "retrieve",
        rows,
        form=form,
        settings={
            "collection": collection,
            "systems": names,
            "depth": options["depth"],
            "ties": options["ties"],
            "fields": split_names(options["fields"]),
        },
        notes=runs.notes,
    )
