"""List the pairs to judge next: those that a risk to the ranking comes from."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl

from venire.aggregation.decision import SURE
from venire.arrays import Longs
from venire.evaluation.ranks import RankTable
from venire.evaluation.uncertain import GradeProbabilities
from venire.pooling.base import Lists
from venire.reliability.judge_audit import Audit
from venire.reliability.panels import Panel
from venire.reliability.unjudged import DEPTH
from venire.reliability.verdict import ASSESSORS, FAVOUR, GRADES, OUTSIDERS, P_GREEN, POOL
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR

UNJUDGED, DIFFER, UNSURE = "not judged", "assessors differ", "grade uncertain"
FAVOURED = "judge may favour a system"
COLUMNS = (*PAIR, "reason", "runs", "difference")
"""``runs``: number of compared runs that rank the pair among their first documents."""


def list_pairs(
    alarms: Collection[str],
    lists: Lists,
    qrels: Qrels,
    table: RankTable,
    grades: Longs,
    panels: Sequence[Panel],
    audits: Sequence[Audit],
    posterior: GradeProbabilities | None,
    compared: Sequence[str],
) -> pl.DataFrame:
    """Return the pairs to judge next because of some risks, each once.

    Parameters
    ----------
    alarms : collection of str
        Names of the risks that are red or amber.
    lists : Lists
        Ranked runs, to the depth that a deeper pool would have.
    qrels : Qrels
    table : RankTable
    grades : int64 [P]
    panels : sequence of Panel
        The first is that of all annotators together.
    audits : sequence of Audit
    posterior : GradeProbabilities or None
    compared : sequence of str
        The runs whose order is at stake.
    """
    first = count_runs(lists.frame, compared, DEPTH)
    unjudged = list_unjudged(count_runs(lists.frame, lists.runs, DEPTH), qrels.frame)
    if POOL in alarms:
        deep = lists.depth or DEPTH
        unjudged = list_unjudged(count_runs(lists.frame, lists.runs, deep), qrels.frame)
    elif OUTSIDERS not in alarms:
        unjudged = unjudged.clear()
    parts = [unjudged]
    if ASSESSORS in alarms and panels:
        parts.insert(0, list_disputed(first, table, grades, panels[0]))
    if FAVOUR in alarms:
        parts = [*list_favoured(first, audits), *parts]
    if GRADES in alarms and posterior is not None:
        parts.insert(0, list_unsure(first, posterior, SURE))
    return pl.concat(parts).unique(PAIR, keep="first", maintain_order=True)


def count_runs(ranked: pl.DataFrame, names: Sequence[str], depth: int) -> pl.DataFrame:
    """Return the pairs in the first documents of the named runs, and how many ``runs`` have each.

    Parameters
    ----------
    ranked : polars.DataFrame
        ``run_id, query_id, doc_id, rank``.
    names : sequence of str
    depth : int
    """
    is_first = pl.col("run_id").is_in(list(names)) & (pl.col("rank") <= depth)
    return ranked.filter(is_first).group_by(PAIR).agg(pl.len().cast(pl.Int64).alias("runs"))


def list_unjudged(first: pl.DataFrame, qrels: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of ``first`` without a grade, for the topics of the qrels.

    Parameters
    ----------
    first : polars.DataFrame
        ``query_id, doc_id, runs``, as :func:`count_runs` returns it.
    qrels : polars.DataFrame
        ``query_id, doc_id, relevance``; a negative grade is none.
    """
    judged = qrels.filter(pl.col("relevance") >= 0)
    frame = first.join(qrels.select("query_id").unique(), on="query_id", how="semi")
    frame = frame.join(judged, on=PAIR, how="anti")
    return _arrange(frame.with_columns(difference=pl.lit(None, dtype=pl.Float64)), UNJUDGED)


def list_disputed(
    first: pl.DataFrame, table: RankTable, grades: Longs, panel: Panel
) -> pl.DataFrame:
    """Return the pairs that a panel grades a grade or more away from the qrels.

    ``difference`` is the panel's mean grade minus that of the qrels, minus the mean of this over
    all common pairs: what leniency does not explain.
    """
    rows = np.atleast_2d(panel.grades)
    is_common = (grades >= 0) & (rows >= 0).all(axis=0)
    difference = rows[:, is_common].mean(axis=0) - grades[is_common]
    difference -= difference.mean() if difference.size else 0.0
    frame = table.pairs.filter(pl.Series(is_common)).with_columns(difference=pl.Series(difference))
    frame = frame.filter(pl.col("difference").abs() >= 1)
    return _arrange(frame.join(first, on=PAIR, how="left"), DIFFER)


def list_favoured(first: pl.DataFrame, audits: Sequence[Audit]) -> list[pl.DataFrame]:
    """Return the pairs in dispute of each audit that found a favour."""
    return [
        _arrange(
            audit.disputed.join(first, on=PAIR, how="left").with_columns(
                difference=pl.lit(None, dtype=pl.Float64)
            ),
            FAVOURED,
        )
        for audit in audits
        if audit.p is not None and audit.p < P_GREEN
    ]


def list_unsure(first: pl.DataFrame, uncertain: GradeProbabilities, sure: float) -> pl.DataFrame:
    """Return the pairs whose likeliest grade has a probability below ``sure``."""
    is_unsure = uncertain.probabilities.max(axis=1) < sure
    frame = uncertain.pairs.filter(pl.Series(is_unsure)).with_columns(
        difference=pl.lit(None, dtype=pl.Float64)
    )
    return _arrange(frame.join(first, on=PAIR, how="left"), UNSURE)


def _arrange(frame: pl.DataFrame, reason: str) -> pl.DataFrame:
    """Return the columns of the list, pairs that most runs rank high first."""
    return (
        frame.with_columns(pl.col("runs").fill_null(0), reason=pl.lit(reason))
        .select(COLUMNS)
        .sort(
            "runs", pl.col("difference").abs(), *PAIR,
            descending=[True, True, False, False], nulls_last=True,
        )
    )  # fmt: skip
