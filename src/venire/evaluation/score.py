"""Scores of systems under settled grades."""

from __future__ import annotations

import numpy as np
import polars as pl

from venire.tables.qrels import Qrels
from venire.tables.runs import Runs


def ndcg_at(runs: Runs, qrels: Qrels, depth: int = 10) -> pl.DataFrame:
    """Return nDCG at a depth for every run, averaged over all topics of the qrels.

    Gain is the grade (linear, as trec_eval), negative grades and unjudged documents gain 0;
    the ideal ranking is over all judged grades; a topic missing from a run counts 0.

    Returns
    -------
    polars.DataFrame
        ``run_id, ndcg``, best first.
    """
    pair = ["query_id", "doc_id"]
    gains = qrels.frame.select(*pair, pl.col("relevance").cast(pl.Float64).clip(lower_bound=0.0))
    discount = 1.0 / (pl.col("rank").cast(pl.Float64) + 1.0).log(2.0)
    ideal = (
        gains.sort("relevance", descending=True)
        .with_columns(pl.int_range(1, pl.len() + 1).over("query_id").alias("rank"))
        .filter(pl.col("rank") <= depth)
        .group_by("query_id")
        .agg((pl.col("relevance") * discount).sum().alias("ideal"))
    )
    found = (
        runs.ranked()
        .filter(pl.col("rank") <= depth)
        .join(gains, on=pair, how="inner")
        .group_by("run_id", "query_id")
        .agg((pl.col("relevance") * discount).sum().alias("dcg"))
    )
    topics = ideal.height
    scored = found.join(ideal.filter(pl.col("ideal") > 0), on="query_id", how="inner")
    totals = scored.group_by("run_id").agg(
        ((pl.col("dcg") / pl.col("ideal")).sum() / topics).alias("ndcg")
    )
    every = runs.frame.select("run_id").unique()
    return (
        every.join(totals, on="run_id", how="left")
        .with_columns(pl.col("ndcg").fill_null(0.0))
        .sort(["ndcg", "run_id"], descending=[True, False])
    )


def kendall_tau(first: dict[str, float], second: dict[str, float]) -> float | None:
    """Return Kendall's tau-b between two scorings of the same systems; None where undefined."""
    from scipy.stats import kendalltau

    names = sorted(first)
    value = float(
        kendalltau([first[name] for name in names], [second[name] for name in names]).statistic
    )
    return None if np.isnan(value) else value
