"""What a pool costs, what it finds, and what each run alone adds to it."""

from __future__ import annotations

from typing import Any

import polars as pl

from venire.errors import BadSetting, NoOverlap
from venire.pooling.base import Lists, Pool
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR


def summary(
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
        What it was made of.
    qrels : Qrels, optional
        What is known to be relevant; topics of the qrels that no run has count too.
    relevant_from : float
        Least grade that is relevant.
    collection_size : int, optional
        Documents in the collection.

    Returns
    -------
    dict
        ``topics``; ``pairs`` to judge; ``per_topic``; ``share_of_lists``: pairs over topics x
        runs x depth (undefined for a pool without a depth); ``share_of_collection``; with qrels:
        ``judged`` pairs, ``relevant`` known, ``found`` and ``found_share``, and the best
        single run: the relevant documents in the top k of the run with most of them, where k is
        the depth, or the budget a topic. A sample has ``estimated_relevant`` in its place: the
        sum of 1 / probability over the relevant documents sampled.
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
        if collection_size < 1:
            raise BadSetting(f"the collection has at least one document, not {collection_size}")
        row["share_of_collection"] = pairs / topics / collection_size
    if qrels is None:
        return row
    relevant = _relevant(qrels, lists, relevant_from)
    known = qrels.frame.filter(pl.col("relevance") >= 0)
    found = _hits(pool.to_judge, relevant)
    row |= {
        "judged": _hits(pool.to_judge, known),
        "relevant": relevant.height,
        "found": found,
        "found_share": found / relevant.height if relevant.height else None,
    }
    if "sampled" in pool.frame.columns:
        sample = pool.to_judge.join(relevant, on=PAIR, how="semi")
        row["estimated_relevant"] = float((1 / sample["probability"]).sum())
        return row
    top = pool.depth or pool.settings.get("budget")
    hits = (
        lists.to_depth(top)
        .frame.join(relevant, on=PAIR, how="semi")
        .group_by("run_id")
        .len()
        .sort("len", "run_id", descending=[True, False])
    )
    best = hits.row(0) if hits.height else (None, 0)
    row["best_run"] = best[0] or "none"
    row["best_run_share"] = best[1] / relevant.height if relevant.height else None
    return row


def by_run(
    pool: Pool, lists: Lists, *, qrels: Qrels | None = None, relevant_from: float = 1
) -> list[dict[str, Any]]:
    """Return a row a run: its documents in the pool, and those no other run ranks.

    Ranks count down to the pool's depth, or to the depth of the lists. With qrels:
    ``relevant`` and ``relevant_alone`` among them.
    """
    shared = lists.to_depth(pool.depth).frame.select("run_id", *PAIR)
    mine = shared.join(pool.to_judge, on=PAIR, how="semi").with_columns(
        (pl.len().over(PAIR) == 1).alias("alone")
    )
    columns = [pl.len().alias("documents"), pl.col("alone").sum()]
    if qrels is not None:
        relevant = _relevant(qrels, lists, relevant_from).with_columns(pl.lit(1).alias("hit"))
        mine = mine.join(relevant, on=PAIR, how="left").with_columns(
            pl.col("hit").fill_null(0).cast(pl.Boolean)
        )
        columns += [
            pl.col("hit").sum().alias("relevant"),
            (pl.col("hit") & pl.col("alone")).sum().alias("relevant_alone"),
        ]
    counts = mine.group_by("run_id").agg(columns)
    every = pl.DataFrame({"run_id": lists.runs}, schema={"run_id": pl.String})
    out = every.join(counts, on="run_id", how="left", maintain_order="left").fill_null(0)
    return out.rename({"run_id": "run"}).to_dicts()


def by_topic(
    pool: Pool, lists: Lists, *, qrels: Qrels | None = None, relevant_from: float = 1
) -> list[dict[str, Any]]:
    """Return a row a topic: documents to judge and, with qrels, ``relevant`` and ``found``."""
    every = pl.DataFrame({"query_id": lists.topics})
    tables = [pool.to_judge.group_by("query_id").len("documents")]
    if qrels is not None:
        relevant = _relevant(qrels, lists, relevant_from)
        found = pool.to_judge.join(relevant, on=PAIR, how="semi")
        tables += [
            relevant.group_by("query_id").len("relevant"),
            found.group_by("query_id").len("found"),
        ]
    for table in tables:
        every = every.join(table, on="query_id", how="left", maintain_order="left")
    return every.fill_null(0).rename({"query_id": "topic"}).to_dicts()


def _relevant(qrels: Qrels, lists: Lists, relevant_from: float) -> pl.DataFrame:
    if not qrels.frame["query_id"].is_in(lists.topics.to_list()).any():
        ours = ", ".join(lists.topics.head(3))
        theirs = ", ".join(qrels.frame["query_id"].unique(maintain_order=True).head(3))
        raise NoOverlap(f"runs and qrels share no topic: {ours} ... against {theirs} ...")
    return qrels.frame.filter(pl.col("relevance") >= relevant_from).select(PAIR)


def _hits(pairs: pl.DataFrame, among: pl.DataFrame) -> int:
    return pairs.join(among, on=PAIR, how="semi").height
