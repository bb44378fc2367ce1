"""``venire pool``: the documents to judge, and what the pool costs and finds."""

from __future__ import annotations

from typing import Any

import click

import venire
from venire.cli.shared.options import (
    SEED,
    TIES,
    join_numbers,
    qrels_columns,
    read_numbers,
    read_settings,
)
from venire.cli.shared.output import FORMAT, emit
from venire.errors import BadSetting
from venire.pooling.fused import FUSIONS
from venire.pooling.strategies import list_strategies
from venire.tables.schema import express


@click.command("pool")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--strategy",
    type=click.Choice(tuple(list_strategies())),
    default="depth",
    show_default=True,
    help="Strategy that chooses the documents.",
)
@click.option(
    "--depth",
    callback=read_numbers(),
    metavar="K,...",
    help="Pool depth, 100 by default; several depths print one row each. With fused and "
    "adaptive strategies: top documents used per run, all by default.",
)
@click.option(
    "--budget",
    type=int,
    metavar="N",
    help="Documents per topic, 100 by default; not with strategy depth.",
)
@click.option(
    "--fusion",
    type=click.Choice(FUSIONS),
    help="With fused: fusion method; reciprocal-rank by default.",
)
@click.option(
    "--discount",
    type=float,
    help="With bandit-nonstationary: discount of earlier judgments; 0.9 by default.",
)
@click.option(
    "--strata",
    callback=read_numbers(),
    metavar="K,...",
    help="With stratified: lowest rank of each stratum; 10,50,100 by default.",
)
@click.option(
    "--rates",
    callback=read_numbers(float),
    metavar="R,...",
    help="With stratified: sampling rate of each stratum.",
)
@click.option(
    "--audit",
    type=int,
    metavar="N",
    help="Draw N pairs on which the runs differ, to test whether a judge favours a system. With "
    "--qrels, only pairs that they judge.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Setting of a plug-in strategy. Repeatable.",
)
@click.option(
    "--qrels",
    metavar="QRELS",
    help="Known grades. Adds the share of relevant documents in the pool; adaptive strategies are "
    "replayed on them.",
)
@click.option("--judged", metavar="QRELS", help="Judgments so far, for adaptive strategies.")
@qrels_columns(of="--qrels and --judged")
@click.option(
    "--relevant-from", type=float, default=1, show_default=True, help="Smallest relevant grade."
)
@click.option("--collection-size", type=int, metavar="N", help="Documents in the collection.")
@TIES
@click.option(
    "--by",
    type=click.Choice(("pool", "run", "topic")),
    default="pool",
    show_default=True,
    help="Print one row per pool, per run or per topic.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the pool: .csv .tsv .jsonl, or TREC.")
@SEED
@FORMAT
def command(
    runs: tuple[str, ...],
    depth: tuple[int, ...] | None,
    settings: tuple[str, ...],
    by: str,
    output: str | None,
    form: str,
    **options: Any,
) -> None:
    """Choose documents to judge from one or more runs.

    RUN is a TREC run or a table of runs, or a folder with *.run files. With --qrels an adaptive
    strategy is replayed: each grade is looked up when its document is chosen.
    """
    if depth is not None and len(depth) > 1 and (output or by != "pool"):
        raise BadSetting(
            f"must be one number with --output and --by (got {join_numbers(depth)})",
            argument="depth",
        )
    result = venire.pool(runs, depth=depth, settings=read_settings(settings), **options)
    rows = {"pool": "rows", "run": "by_run", "topic": "by_topic"}[by]
    table = getattr(result, rows)
    notes = list(result.notes)
    if output:
        result.write(output)
        if output == "-":
            return
        notes.append(f"{express(len(result), 'pair')} to judge, in {output}")
    pool = result.pools[-1]
    emit(
        "pool",
        table,
        form=form,
        settings={
            "runs": list(result.lists.runs),
            "strategy": result.strategy,
            **pool.settings,
            "depth": join_numbers(depth),
            "columns": options["columns"],
            "ties": options["ties"],
            "relevant_from": options["relevant_from"],
            "biased": pool.biased,
        },
        notes=notes,
    )
