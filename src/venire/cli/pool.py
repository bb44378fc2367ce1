"""``venire pool``: the documents to judge, and what the pool costs and finds."""

from __future__ import annotations

from typing import Any

import click

from venire.cli.shared.options import SEED
from venire.cli.shared.output import FORMAT, emit
from venire.errors import BadSetting

STRATEGIES = (
    "depth",
    "fused",
    "move-to-front",
    "bandit-max-mean",
    "bandit-thompson",
    "bandit-nonstationary",
    "stratified",
)


@click.command("pool")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--strategy",
    "name",
    type=click.Choice(STRATEGIES),
    default="depth",
    show_default=True,
    help="How documents are chosen.",
)
@click.option(
    "--depth",
    "depths",
    metavar="K,...",
    help="Depth of the pool, 100 by default; several give a row each. With fused and adaptive "
    "strategies: how much of each run is looked at, all by default.",
)
@click.option("--budget", type=int, metavar="N", help="Documents a topic; not with depth.")
@click.option(
    "--fusion",
    type=click.Choice(("reciprocal-rank", "combsum")),
    help="Of fused: how runs become one; reciprocal-rank by default.",
)
@click.option("--discount", type=float, help="Of bandit-nonstationary: what is kept; 0.9.")
@click.option("--strata", metavar="K,...", help="Of stratified: lowest ranks; 10,50,100.")
@click.option("--rates", metavar="R,...", help="Of stratified: share to draw of each stratum.")
@click.option("--qrels", "qrels_path", metavar="QRELS", help="Grades: what the pool finds.")
@click.option("--judged", "judged_path", metavar="QRELS", help="What is judged so far.")
@click.option(
    "--relevant-from", type=float, default=1, show_default=True, help="Least relevant grade."
)
@click.option("--collection-size", type=int, metavar="N", help="Documents in the collection.")
@click.option(
    "--ties",
    type=click.Choice(("trec", "docid-ascending", "file-order")),
    default="trec",
    show_default=True,
    help="Which of equally scored documents come first.",
)
@click.option(
    "--by",
    type=click.Choice(("pool", "run", "topic")),
    default="pool",
    show_default=True,
    help="One row a pool, a run or a topic.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the pool: .csv .tsv .jsonl, or TREC.")
@SEED
@FORMAT
def command(
    runs: tuple[str, ...],
    name: str,
    depths: str | None,
    budget: int | None,
    fusion: str | None,
    discount: float | None,
    strata: str | None,
    rates: str | None,
    qrels_path: str | None,
    judged_path: str | None,
    relevant_from: float,
    collection_size: int | None,
    ties: str,
    by: str,
    output: str | None,
    seed: int,
    form: str,
) -> None:
    """Choose the documents of RUN... that are to be judged.

    RUN is a TREC run or a table of runs, or a folder with *.run files. With --qrels an adaptive
    strategy is replayed: each grade is looked up when its document is chosen.
    """
    from venire.formats.run_files import read_run_files
    from venire.pooling.base import Lists
    from venire.pooling.statistics import by_run, by_topic, summary
    from venire.pooling.strategies import ADAPTIVE, strategy
    from venire.tables.qrels import Qrels
    from venire.tables.schema import counted

    wanted: list[int | None] = [None] if depths is None else numbers(depths, "--depth", int)
    if len(wanted) > 1 and (output or by != "pool" or name != "depth"):
        raise BadSetting("several depths give a table of depth pools; for more, name one --depth")
    if judged_path is not None and name not in ADAPTIVE:
        raise BadSetting(f"--judged is for adaptive strategies ({', '.join(ADAPTIVE)})")
    if relevant_from != relevant_from:
        raise BadSetting("--relevant-from is a grade, not nan")
    given: dict[str, Any] = {
        "budget": budget,
        "fusion": fusion,
        "discount": discount,
        "strata": None if strata is None else tuple(numbers(strata, "--strata", int)),
        "rates": None if rates is None else tuple(numbers(rates, "--rates", float)),
    }
    poolers = [strategy(name, {**given, "depth": depth}) for depth in wanted]
    table = read_run_files(runs)
    lists = Lists.of(table, depth=None if name == "depth" else wanted[0], ties=ties)
    qrels = Qrels.read(qrels_path).require_rows(qrels_path) if qrels_path is not None else None
    judged = Qrels.read(judged_path) if judged_path is not None else None
    known: dict[str, Any] = {"qrels": qrels, "relevant_from": relevant_from}
    rows: list[dict[str, Any]] = []
    notes = [
        f"{counted(len(lists.runs), 'run')}, {counted(len(lists.topics), 'topic')}",
        *table.notes,
        *(qrels.notes if qrels else ()),
    ]
    for pooler in poolers:
        pool = pooler.pool(
            lists, judged=judged, outcomes=qrels, relevant_from=relevant_from, seed=seed
        )
        notes += [note for note in pool.notes if note not in notes]
        if by == "run":
            rows += by_run(pool, lists, **known)
        elif by == "topic":
            rows += by_topic(pool, lists, **known)
        else:
            limit = "budget" if pool.depth is None else "depth"
            head = {"strategy": name, limit: pool.depth or pool.settings["budget"]}
            rows.append(head | summary(pool, lists, collection_size=collection_size, **known))
    if output:
        pool.write(output, qrels)
        if output == "-":
            return
        notes.append(f"{counted(len(pool), 'pair')} to judge, in {output}")
    emit(
        "pool",
        rows,
        form=form,
        settings={
            "runs": list(lists.runs),
            "strategy": name,
            **pool.settings,
            "depth": depths,
            "ties": ties,
            "relevant_from": relevant_from,
            "biased": pool.biased,
        },
        notes=notes,
    )


def numbers(text: str, option: str, kind: Any) -> list[Any]:
    """Read ``10,50,100``, at least one number."""
    try:
        found = [kind(part) for part in text.split(",") if part.strip()]
    except ValueError:
        found = []
    if not found:
        raise BadSetting(f"{option} is numbers with commas between, not {text!r}")
    return found
