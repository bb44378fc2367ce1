"""What a pool would have done: systems scored by what it found, against what is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs, Mask
from venire.errors import BadSetting, NoOverlap, UnknownName
from venire.evaluation.ranks import ABSENT, RankTable
from venire.measures import Measure, parse
from venire.pooling.base import Lists, require_at_least
from venire.pooling.depth import DepthK
from venire.pooling.statistics import summarise
from venire.stats.many_orders import kendall_taus, ranks_of, swapped_pairs
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import PAIR

TOP = 10
"""Of the share of a system's first documents that a pool leaves unjudged."""


@dataclass(frozen=True)
class PoolScores:
    """Systems scored by a pool's judgments beside their true scores.

    Attributes
    ----------
    frame : polars.DataFrame
        One row a run, truly best first: ``run_id, in_pool, score`` (true), ``pool_score,
        unjudged`` (share of its first ten outside the pool), ``rank, pool_rank``.
    depth : int
    tau : float or None
        Kendall's tau between the true order and the pool's.
    swapped : int
        Pairs of systems that change places.
    found_share : float or None
        Share of the relevant pairs that are in the pool.
    """

    frame: pl.DataFrame
    depth: int
    tau: float | None
    swapped: int
    found_share: float | None


@dataclass(frozen=True)
class Pools:
    """Runs ranked once, for any number of simulated pools down to a depth.

    Documents that the qrels do not name count as not relevant: use qrels that are as complete
    as can be. A pooled document is judged, with the grade of the qrels or else 0; what is not
    pooled counts as not relevant. Averages are over all topics of the qrels.

    Attributes
    ----------
    table : RankTable
    grades : int64 [P]
        Grade of each pair, 0 below the least relevant one.
    lists : Lists
    qrels : Qrels
    deepest : int
    measure : Measure
    relevant_from : int
    notes : tuple of str

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 1}})
    >>> pools = Pools.of(qrels, Runs.from_dict({"q": {"a": 3, "c": 2, "b": 1}}), deepest=2)
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
    ) -> Pools:
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
            Least relevant grade; those below count as 0 in the measure too.
        ties : str
            As in :meth:`venire.Runs.ranked`.

        Raises
        ------
        NoOverlap
            Where runs and qrels share no topic.
        BadSetting
        """
        lists = Lists.of(runs, ties=ties)
        pairs = pairs_of(qrels, lists, deepest, relevant_from)
        table = RankTable.of(runs, pairs, ties=ties)
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
        """Return a row a depth: what the pool costs and finds, and what its judgments say.

        The columns of :func:`venire.pooling.statistics.summarise`, then ``tau`` and ``swapped``
        (see :class:`PoolScores`), ``largest_drop`` and ``drop_run`` (see
        :meth:`leave_one_out`), and ``moved``, how many systems change their rank when left out.
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
                left = self.leave_one_out(depth)
                worst = left.sort("drop", descending=True, maintain_order=True).row(0, named=True)
                name = worst["run_id"] if worst["drop"] > 0 else "none"
                moved = int((left["rank"] != left["rank_without"]).sum())
                row |= {"largest_drop": worst["drop"], "drop_run": name, "moved": moved}
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None)

    def scores(self, depth: int, members: Sequence[str] | None = None) -> PoolScores:
        """Score every system by the judgments of a depth-k pool.

        Parameters
        ----------
        depth : int
        members : sequence of str, optional
            The runs that make the pool; all by default. The others are scored as systems that
            came later.

        Raises
        ------
        UnknownName
            For a member that is no run.
        """
        runs = self.table.runs
        inside = self._members(members)
        pooled = self.mask(depth, inside)
        true, seen = self._mean(self.grades), self._mean(self._judged(pooled))
        unjudged = self._mean(self._judged(pooled), parse(f"Unjudged@{TOP}"))
        rank, pool_rank = ranks_of(true), ranks_of(seen)
        tau = float(kendall_taus(true, seen[None])[0])
        relevant = self.grades >= self.relevant_from
        frame = pl.DataFrame(
            {
                "run_id": runs,
                "in_pool": inside,
                "score": true,
                "pool_score": seen,
                "unjudged": unjudged,
                "rank": rank,
                "pool_rank": pool_rank,
            },
            schema_overrides={"run_id": pl.String},
        )
        return PoolScores(
            frame=frame.sort("rank", "run_id"),
            depth=depth,
            tau=None if np.isnan(tau) else tau,
            swapped=int(swapped_pairs(true, seen[None])[0]),
            found_share=float((relevant & pooled).sum() / relevant.sum())
            if relevant.any()
            else None,
        )

    def leave_one_out(self, depth: int) -> pl.DataFrame:
        """Score each system as if it had not contributed: without the documents it alone pooled.

        Returns
        -------
        polars.DataFrame
            One row a run: ``run_id, score`` by the whole pool, ``without`` by the pool of the
            others, ``drop`` their difference, ``alone`` (documents it alone pooled), ``rank``
            by the whole pool, and ``rank_without``: its place with the lower score, the other
            systems scored by the whole pool.
        """
        runs = self.table.runs
        if len(runs) < 2:
            raise BadSetting("leaving one out needs at least two runs")
        whole = self.mask(depth)
        score = self._mean(self._judged(whole))
        rank = ranks_of(score)
        rows = []
        for at, name in enumerate(runs):
            others = np.arange(len(runs)) != at
            pooled = self.mask(depth, others)
            without = score.copy()
            without[at] = self._mean(self._judged(pooled))[at]
            rows.append(
                {
                    "run_id": name,
                    "score": float(score[at]),
                    "without": float(without[at]),
                    "drop": float(score[at] - without[at]),
                    "alone": int((whole & ~pooled).sum()),
                    "rank": int(rank[at]),
                    "rank_without": int(ranks_of(without)[at]),
                }
            )
        return pl.DataFrame(rows)

    def mask(self, depth: int, inside: Mask | None = None) -> Mask:
        """Return which pairs of the table some member ranks in its top k [P]."""
        require_at_least("depth", depth, 1)
        if depth > self.deepest:
            raise BadSetting(f"the runs were ranked for pools of depth {self.deepest}, not {depth}")
        near = self.table.rank <= depth
        if inside is not None:
            near &= inside[self.table.segment // max(len(self.table.topics), 1)]
        pooled = np.zeros(self.grades.size, bool)
        pooled[self.table.pair[near]] = True
        return pooled

    def _members(self, members: Sequence[str] | None) -> Mask:
        runs = self.table.runs
        if members is None:
            return np.ones(len(runs), bool)
        for name in members:
            if name not in runs:
                raise UnknownName("run", name, runs)
        return np.isin(runs, list(members))

    def _judged(self, pooled: Mask) -> Longs:
        return np.where(pooled, self.grades, ABSENT)

    def _mean(self, grades: Longs, measure: Measure | None = None) -> Floats:
        return mean_scores(self.table, grades, measure or self.measure)


def pairs_of(qrels: Qrels, lists: Lists, depth: int, relevant_from: int) -> pl.DataFrame:
    """Return ``query_id, doc_id`` of the qrels and of the depth-k pool, topics of the qrels only.

    Raises
    ------
    NoOverlap
        Where runs and qrels share no topic.
    BadSetting
        For grades that are not whole, and where none is relevant.
    """
    if not qrels.frame["relevance"].dtype.is_integer():
        raise BadSetting("simulations need whole grades; write the qrels with rule mode")
    if not (qrels.frame["relevance"] >= relevant_from).any():
        raise BadSetting(f"no pair of the qrels has the grade {relevant_from} or more")
    pool = lists.to_depth(depth).frame.select(PAIR)
    pool = pool.join(qrels.frame.select("query_id").unique(), on="query_id", how="semi")
    if pool.is_empty():
        ours = ", ".join(qrels.frame["query_id"].unique().sort().head(3)) or "none"
        theirs = ", ".join(lists.topics.sort().head(3))
        raise NoOverlap(f"qrels and runs share no topic; qrels have {ours}; runs have {theirs}")
    return pl.concat([qrels.frame.select(PAIR), pool]).unique().sort(PAIR)


def mean_scores(table: RankTable, grades: Longs, measure: Measure) -> Floats:
    """Return each run's mean over all topics of the table [R]."""
    values = measure.compute(table.hits(grades))
    mean: Floats = values.reshape(len(table.runs), len(table.topics)).mean(axis=1)
    return mean
