"""Simulate pools: score systems by what a pool would have found, against what is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from venire.arrays import Longs, Mask
from venire.errors import BadSetting, UnknownName
from venire.evaluation.ranks import ABSENT, RankTable
from venire.evaluation.score import ALL_TOPICS, Scores, score
from venire.measures import Measure, parse
from venire.pooling.base import Lists
from venire.pooling.depth import DepthK
from venire.pooling.statistics import summarise
from venire.reliability.leave_one_out import leave_one_out
from venire.reliability.pool_effect import measure_pool_effect
from venire.simulation.known_pairs import list_pairs, require_relevant
from venire.stats.rank_correlation import rank_scores
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs

UNJUDGED_DEPTH = 10
"""Number of a system's first documents of which the unjudged share is computed."""


@dataclass(frozen=True)
class PoolScores:
    """Systems scored by the judgments of a pool, beside their true scores.

    Attributes
    ----------
    frame : polars.DataFrame
        One row per run, best true score first: ``run_id, in_pool, score`` (true), ``pool_score,
        unjudged`` (share of its first ten documents outside the pool), ``rank, pool_rank``.
    depth : int
    tau : float or None
        Kendall's tau-b between the true order and the order by the pool.
    swapped : int
        Number of swapped pairs of systems.
    found_share : float or None
        Share of the relevant pairs that are in the pool.
    """

    frame: pl.DataFrame
    depth: int
    tau: float | None
    swapped: int
    found_share: float | None


@dataclass(frozen=True)
class PoolSimulator:
    """Simulated pools of any depth up to a maximum, from runs that are ranked once.

    Documents that the qrels do not name count as not relevant, so use qrels that are as complete
    as possible. A pooled document is judged, with the grade of the qrels or else 0. A document
    outside the pool is unjudged and counts as not relevant. Averages are over all topics of the
    qrels.

    Attributes
    ----------
    table : RankTable
    grades : int64 [P]
        Grade of each pair, 0 below the smallest relevant one.
    lists : Lists
    qrels : Qrels
    deepest : int
        Greatest depth of a pool.
    measure : Measure
    relevant_from : int
    notes : tuple of str

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 1}})
    >>> runs = Runs.from_dict({"q": {"a": 3, "c": 2, "b": 1}})
    >>> pools = PoolSimulator.of(qrels, runs, deepest=2)
    >>> pools.scores(2).frame.select("score", "pool_score").rows()
    [(0.8333333333333333, 1.0)]
    """

    table: RankTable
    grades: Longs
    lists: Lists
    qrels: Qrels
    deepest: int
    measure: Measure
    relevant_from: int = 1
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        qrels: Qrels,
        runs: Runs,
        *,
        deepest: int = 100,
        measure: str = "AP",
        relevant_from: int = 1,
        ties: str = "trec",
    ) -> PoolSimulator:
        """Rank the runs.

        Parameters
        ----------
        qrels : Qrels
            All that is known to be relevant.
        runs : Runs
        deepest : int
            Greatest depth of a pool.
        measure : str
        relevant_from : int
            Smallest relevant grade; lower ones count as 0 in the measure too.
        ties : str
            As in :meth:`venire.Runs.with_ranks`.

        Raises
        ------
        NoOverlap
            Where runs and qrels share no topic.
        DataError
            For grades that are not whole.
        BadSetting
            Where no pair is relevant.
        """
        require_relevant(qrels, relevant_from)
        lists = Lists.of(runs, ties=ties)
        table = RankTable.of(runs, list_pairs(qrels, lists, deepest), ties=ties)
        grades = table.grades(qrels)
        return cls(
            table=table,
            grades=np.where(grades >= relevant_from, grades, 0),
            lists=lists,
            qrels=qrels,
            deepest=deepest,
            measure=parse(measure),
            relevant_from=relevant_from,
            notes=table.notes,
        )

    def depths(self, depths: Iterable[int], *, collection_size: int | None = None) -> pl.DataFrame:
        """Return one row per depth: what the pool costs and finds, and what its judgments do.

        The columns are those of :func:`venire.pooling.statistics.summarise`, then ``tau`` and
        ``swapped`` (see :class:`PoolScores`), ``largest_drop`` and ``drop_run`` (see
        :meth:`leave_one_out`), and ``moved``, the number of systems whose rank changes when they
        are left out.
        """
        rows = []
        for depth in depths:
            row = {"depth": depth} | summarise(
                DepthK(depth=depth).pool(self.lists),
                self.lists,
                qrels=self.qrels,
                relevant_from=self.relevant_from,
                collection_size=collection_size,
            )
            scores = self.scores(depth)
            row |= {"tau": scores.tau, "swapped": scores.swapped}
            if len(self.table.runs) > 1:
                left_out = self.leave_one_out(depth)
                worst = left_out.sort("drop", descending=True, maintain_order=True)
                worst_row = worst.row(0, named=True)
                row |= {
                    "largest_drop": worst_row["drop"],
                    "drop_run": worst_row["run_id"] if worst_row["drop"] > 0 else "none",
                    "moved": int((left_out["rank"] != left_out["rank_alone"]).sum()),
                }
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None)

    def scores(self, depth: int, members: Sequence[str] | None = None) -> PoolScores:
        """Score every system by the judgments of a depth-k pool.

        Parameters
        ----------
        depth : int
        members : sequence of str, optional
            Runs that make the pool; all by default. The others are scored as systems that came
            later.

        Raises
        ------
        UnknownName
            For an unknown member.
        """
        is_member = self._find_members(members)
        pooled = self.mask(depth, is_member)
        whole = self._score(self.grades, self.measure)
        effect = measure_pool_effect(
            self.table, self.grades, pooled, whole, relevant_from=self.relevant_from
        )
        unjudged = self._score(self._judge(pooled), parse(f"Unjudged@{UNJUDGED_DEPTH}"))
        frame = pl.DataFrame(
            {
                "run_id": self.table.runs,
                "in_pool": is_member,
                "score": effect.scores,
                "pool_score": effect.pool_scores,
                "unjudged": unjudged.mean[0],
                "rank": rank_scores(effect.scores),
                "pool_rank": rank_scores(effect.pool_scores),
            },
            schema_overrides={"run_id": pl.String},
        )
        return PoolScores(
            frame=frame.sort("rank", "run_id"),
            depth=depth,
            tau=effect.tau,
            swapped=effect.swapped,
            found_share=effect.found_share,
        )

    def leave_one_out(self, depth: int) -> pl.DataFrame:
        """Score each system as if it had not contributed: without the documents it alone pooled.

        Returns
        -------
        polars.DataFrame
            One row per run: ``run_id``; ``score`` by the whole pool; ``without``, its score by the
            pool of the others; ``drop``, their difference; ``alone``, the number of documents that
            it alone pooled; ``rank`` by the whole pool; ``rank_alone``, its rank with the lower
            score among the unchanged scores of the others. See
            :func:`venire.reliability.leave_one_out.leave_one_out`.
        """
        if len(self.table.runs) < 2:
            raise BadSetting("leaving one out needs at least two runs")
        judged = self._judge(self.mask(depth))
        result = leave_one_out(self.table, judged, self.measure, depth=depth, topics=ALL_TOPICS)
        return result.frame.sort("run_id").select(
            "run_id",
            "score",
            pl.col("score_without").alias("without"),
            (pl.col("score") - pl.col("score_without")).alias("drop"),
            pl.col("unique").alias("alone"),
            "rank",
            "rank_alone",
        )

    def mask(self, depth: int, members: Mask | None = None) -> Mask:
        """Return which pairs of the table some member ranks in its top k [P]."""
        if not 1 <= depth <= self.deepest:
            raise BadSetting(
                f"must be between 1 and `deepest`, {self.deepest} (got {depth})",
                argument="depth",
                value=depth,
            )
        return self.table.best_ranks(members) <= depth

    def _find_members(self, members: Sequence[str] | None) -> Mask:
        runs = self.table.runs
        if members is None:
            return np.ones(len(runs), bool)
        for name in members:
            if name not in runs:
                raise UnknownName("run", name, runs)
        return np.isin(runs, list(members))

    def _judge(self, pooled: Mask) -> Longs:
        """Return the grades of pooled pairs; the others are unjudged."""
        return np.where(pooled, self.grades, ABSENT)

    def _score(self, grades: Longs, measure: Measure) -> Scores:
        return score(self.table, grades, [measure], topics=ALL_TOPICS)
