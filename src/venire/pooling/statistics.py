"""What a pool costs, what it finds, and what each run alone adds to it."""

from __future__ import annotations

from typing import Any

import polars as pl

from venire.errors import BadSetting, NoOverlap
from venire.pooling.base import Lists, Pool, require_at_least
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR


def summarise(
    pool: Pool,
    lists: Lists,
    *,
    qrels: Qrels | None = None,
    relevant_from: float = 1,
    collection_size: int | None = None,
) -> dict[str, Any]:
    """Return one row about a pool.

    Parameters
    ----------
    pool : Pool
    lists : Lists
        The ranked runs it was built from.
    qrels : Qrels, optional
        Known grades; topics of the qrels that no run has count too.
    relevant_from : float
        Smallest relevant grade.
    collection_size : int, optional
        Number of documents in the collection.

    Returns
    -------
    dict
        ``topics``; ``pairs`` to judge; ``per_topic``; ``share_of_lists``: pairs over topics x
        runs x depth (undefined for a pool without a depth); ``share_of_collection``; with qrels:
        ``judged`` pairs, ``relevant`` known, ``found`` and ``found_share``, and the best
        single run: the relevant documents in the top k of the run with most of them, where k is
        the depth, or the budget per topic. A sample has ``estimated_relevant`` instead: the sum
        of 1 / probability over the relevant sampled documents; undefined while one of the sample
        has no grade.
    """
    topics = len(lists.topics)
    pairs = len(pool)
    row: dict[str, Any] = {
        "topics": topics,
        "pairs": pairs,
        "per_topic": pairs / topics,
        "share_of_lists": pairs / (topics * len(lists.runs) * pool.depth) if pool.depth else None,
    }
    if collection_size is not None:
        require_at_least("collection_size", collection_size, 1)
        _require_room(pool, collection_size)
        row["share_of_collection"] = pairs / topics / collection_size
    if qrels is None:
        return row
    relevant = _select_relevant(qrels, lists, relevant_from)
    graded = qrels.frame.filter(pl.col("relevance") >= 0)
    found_count = _count_shared(pool.to_judge, relevant)
    row |= {
        "judged": _count_shared(pool.to_judge, graded),
        "relevant": relevant.height,
        "found": found_count,
        "found_share": found_count / relevant.height if relevant.height else None,
    }
    if "sampled" in pool.frame.columns:
        sample = pool.to_judge.join(relevant, on=PAIR, how="semi")
        estimate = float((1 / sample["probability"]).sum())
        row["estimated_relevant"] = estimate if row["judged"] == pairs else None
        return row
    top = pool.depth or pool.settings.get("budget")
    hits = (
        lists.to_depth(top)
        .frame.join(relevant, on=PAIR, how="semi")
        .group_by("run_id")
        .len()
        .sort("len", "run_id", descending=[True, False])
    )
    best_run, best_count = hits.row(0) if hits.height else (None, 0)
    row["best_run"] = best_run or "none"
    row["best_run_share"] = best_count / relevant.height if relevant.height else None
    return row


def count_by_run(
    pool: Pool, lists: Lists, *, qrels: Qrels | None = None, relevant_from: float = 1
) -> list[dict[str, Any]]:
    """Return one row per run: its documents in the pool, and those that no other run ranks.

    Ranks count down to the pool's depth, or to the depth of the lists. With qrels:
    ``relevant`` and ``relevant_alone`` among them.
    """
    ranked = lists.to_depth(pool.depth).frame.select("run_id", *PAIR)
    pooled = ranked.join(pool.to_judge, on=PAIR, how="semi").with_columns(
        (pl.len().over(PAIR) == 1).alias("alone")
    )
    columns = [pl.len().alias("documents"), pl.col("alone").sum()]
    if qrels is not None:
        relevant = _select_relevant(qrels, lists, relevant_from).with_columns(
            pl.lit(1).alias("hit")
        )
        pooled = pooled.join(relevant, on=PAIR, how="left").with_columns(
            pl.col("hit").fill_null(0).cast(pl.Boolean)
        )
        columns += [
            pl.col("hit").sum().alias("relevant"),
            (pl.col("hit") & pl.col("alone")).sum().alias("relevant_alone"),
        ]
    counts = pooled.group_by("run_id").agg(columns)
    runs = pl.DataFrame({"run_id": lists.runs}, schema={"run_id": pl.String})
    table = runs.join(counts, on="run_id", how="left", maintain_order="left").fill_null(0)
    return table.rename({"run_id": "run"}).to_dicts()


def count_by_topic(
    pool: Pool, lists: Lists, *, qrels: Qrels | None = None, relevant_from: float = 1
) -> list[dict[str, Any]]:
    """Return one row per topic: documents to judge and, with qrels, ``relevant`` and ``found``."""
    table = pl.DataFrame({"query_id": lists.topics})
    counts = [pool.to_judge.group_by("query_id").len("documents")]
    if qrels is not None:
        relevant = _select_relevant(qrels, lists, relevant_from)
        pooled = pool.to_judge.join(relevant, on=PAIR, how="semi")
        counts += [
            relevant.group_by("query_id").len("relevant"),
            pooled.group_by("query_id").len("found"),
        ]
    for count in counts:
        table = table.join(count, on="query_id", how="left", maintain_order="left")
    return table.fill_null(0).rename({"query_id": "topic"}).to_dicts()


def _require_room(pool: Pool, collection_size: int) -> None:
    """Refuse a collection smaller than the pool of a topic."""
    sizes = pool.frame.group_by("query_id").len().sort(["len", "query_id"], descending=True)
    if sizes.height and sizes["len"][0] > collection_size:
        raise BadSetting(
            f"must be at least the documents of a topic in the pool (got {collection_size}; the "
            f"pool of topic {sizes['query_id'][0]} has {sizes['len'][0]})",
            argument="collection_size",
            value=collection_size,
        )


def _select_relevant(qrels: Qrels, lists: Lists, relevant_from: float) -> pl.DataFrame:
    if not qrels.frame["query_id"].is_in(lists.topics.to_list()).any():
        in_runs = ", ".join(lists.topics.head(3))
        in_qrels = ", ".join(qrels.frame["query_id"].unique(maintain_order=True).head(3))
        raise NoOverlap(
            f"qrels and runs share no topic (topics of the qrels: {in_qrels}; topics of the "
            f"runs: {in_runs})"
        )
    return qrels.frame.filter(pl.col("relevance") >= relevant_from).select(PAIR)


def _count_shared(pairs: pl.DataFrame, others: pl.DataFrame) -> int:
    return pairs.join(others, on=PAIR, how="semi").height
