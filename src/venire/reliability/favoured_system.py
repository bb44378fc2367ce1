"""Test whether a judge favours one of the systems, or a group of similar ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs, Mask
from venire.errors import BadSetting, NoOverlap
from venire.evaluation.ranks import RankTable
from venire.reliability.favour_statistic import FavourStatistic
from venire.reliability.related_runs import list_groups, merge_copies, rank_weights

NO_DISAGREEMENT = "the judge's grades do not differ from the qrels"
TOO_FEW_RUNS = "fewer than two different runs rank the pairs"
TOO_FEW_TOPICS = "fewer than two topics have two pairs"
TOP = 5
"""Number of first documents over which the size of a favour is expressed."""
_TOP_WEIGHT = float((1.0 / np.log2(np.arange(2, TOP + 2))).mean())


@dataclass(frozen=True)
class FavouredSystem:
    """How far a judge's grades gain each group of runs more than its mix of the other runs.

    Attributes
    ----------
    frame : polars.DataFrame
        One row per group, most favoured first: ``runs``, the names of its runs; ``z``, the gain in
        standard deviations under the null hypothesis; ``p``, familywise; ``gain``, the grades that
        the judge adds to a document among the first five of the group's runs, on average.
    pairs : int
        Number of pairs in the first ``depth`` of some run with grades of both.
    topics : int
        Number of topics with at least two such pairs.
    depth, flips, seed : int
    reason : str
        Why nothing was tested; empty where something was.
    """

    frame: pl.DataFrame
    pairs: int
    topics: int
    depth: int
    flips: int
    seed: int
    reason: str = ""

    @property
    def p(self) -> float | None:
        """The smallest familywise p-value; None where nothing was tested."""
        return None if self.reason else float(self.frame["p"][0])

    @property
    def group(self) -> tuple[str, ...]:
        """Runs of the group that is favoured most, significantly or not."""
        return () if self.reason else tuple(self.frame["runs"][0])

    @property
    def gain(self) -> float | None:
        """Grades that the judge adds to a document among the first five of that group."""
        return None if self.reason else float(self.frame["gain"][0])


@dataclass(frozen=True)
class Comparison:
    """The pairs that judge and qrels both graded, as the test sees them.

    Attributes
    ----------
    table : RankTable
    pairs : int64 [N]
        Pairs of the table within ``depth`` of some run, sorted by topic; a topic has two or more.
    grade, judge : float64 [N]
        Grades of the qrels (or the mean of other assessors) and of the judge.
    weight : float64 [runs, N]
        Weight of each pair for each run of the table.
    depth : int
    """

    table: RankTable
    pairs: Longs
    grade: Floats
    judge: Floats
    weight: Floats
    depth: int

    @classmethod
    def of(cls, table: RankTable, grade: Floats, judge: Longs, depth: int) -> Comparison:
        """Select the pairs.

        Parameters
        ----------
        table : RankTable
        grade : float64 [P]
            Grade of each pair; NaN is no grade.
        judge : int64 [P]
            A negative number is no grade.
        depth : int

        Raises
        ------
        NoOverlap
            When no pair is graded by both.
        BadSetting
            For fewer than two systems, or a depth below 1.
        """
        if depth < 1:
            raise BadSetting(f"must be >= 1 (got {depth})", argument="depth", value=depth)
        if len(table.runs) < 2:
            raise BadSetting("the test for a favoured system needs at least two runs")
        is_common = ~np.isnan(grade) & (judge >= 0)
        if not is_common.any():
            raise NoOverlap("the judge and the qrels have no pair in common")
        # What no run ranks high says nothing about a run; nor does the only pair of a topic.
        is_common &= table.best_ranks() <= depth
        counts = np.bincount(table.topic[is_common], minlength=len(table.topics))
        is_common &= counts[table.topic] > 1
        pairs = np.flatnonzero(is_common)
        pairs = pairs[np.argsort(table.topic[pairs], kind="stable")]
        place = np.full(len(table.pairs), -1, dtype=np.int64)
        place[pairs] = np.arange(pairs.size)
        column = place[table.pair]
        is_used = column >= 0
        weight = rank_weights(
            table.run[is_used],
            table.rank[is_used],
            column[is_used],
            (len(table.runs), pairs.size),
            depth,
        )
        return cls(table, pairs, grade[pairs], judge[pairs].astype(np.float64), weight, depth)

    @cached_property
    def copies(self) -> list[tuple[int, ...]]:
        """Runs of the table that rank the pairs alike, as one tuple each."""
        return merge_copies(self.weight)

    @cached_property
    def statistic(self) -> FavourStatistic:
        """The test on these pairs, with each set of equal runs as one run."""
        weight = self.weight[[runs[0] for runs in self.copies]]
        topic = self.table.topic[self.pairs]
        starts = np.flatnonzero(np.append(True, topic[1:] != topic[:-1]))
        starts = np.append(starts, topic.size)
        return FavourStatistic(weight, self.grade, starts, list_groups(weight))

    @property
    def reason(self) -> str:
        """Why the test cannot be made; empty where it can."""
        if len(self.copies) < 2:
            return TOO_FEW_RUNS
        if self.statistic.topics < 2:
            return TOO_FEW_TOPICS
        return NO_DISAGREEMENT if np.array_equal(self.grade, self.judge) else ""

    def name_runs(self, group: tuple[int, ...]) -> list[str]:
        """Return the names of the runs of a group, copies included, sorted."""
        return sorted(self.table.runs[run] for copy in group for run in self.copies[copy])

    def is_top(self, runs: tuple[int, ...], top: int) -> Mask:
        """Return whether a pair is among the first ``top`` of one of some runs of the table [N]."""
        near: Mask = (self.weight[list(runs)] >= 1.0 / np.log2(top + 1.0) - 1e-9).any(axis=0)
        return near


def detect_favoured_system(
    table: RankTable,
    human: Longs | Floats,
    judge: Longs,
    *,
    depth: int = 10,
    permutations: int = 1000,
    seed: int = 0,
) -> FavouredSystem:
    """Test whether a judge favours a system, without trusting the qrels.

    Each run, and each branch of the tree of similar runs, is compared with a mix of the other runs
    that scores the same under the qrels. A judge whose errors do not look at the runs scores both
    the same, however often judge and qrels err; see
    :class:`venire.reliability.favour_statistic.FavourStatistic`. A run's weight is 1/log2(rank + 1)
    down to ``depth``, and everything is centred within topics, so that leniency cancels. p is the
    share of random sign flips of whole topics whose largest z over all groups reaches the group's.

    "The judge favours the group" and "the qrels disfavour it" are one finding; a third assessor
    decides. Do not test a judge on pairs that were used to tune it.

    Parameters
    ----------
    table : RankTable
    human : int64 or float64 [P]
        Grades of the table's pairs by the qrels, or the mean grade of several other assessors;
        negative or NaN is no grade.
    judge : int64 [P]
        A negative number is no grade.
    depth : int
    permutations : int
        Number of sign flips.
    seed : int

    Raises
    ------
    NoOverlap
        When no pair is graded by both.
    BadSetting
        For fewer than two systems, or a depth or number of permutations below 1.
    """
    grade = np.where(human >= 0, human.astype(np.float64), np.nan)
    return run_test(Comparison.of(table, grade, judge, depth), permutations, seed)


def run_test(comparison: Comparison, permutations: int, seed: int) -> FavouredSystem:
    """Test the judge of a comparison; see :func:`detect_favoured_system`."""
    if permutations < 1:
        raise BadSetting(
            f"must be >= 1 (got {permutations})", argument="permutations", value=permutations
        )
    rows: dict[str, list[object]] = {"runs": [], "z": [], "p": [], "gain": []}
    topics = 0
    reason = comparison.reason
    if reason != TOO_FEW_RUNS:
        topics = comparison.statistic.topics
    if not reason:
        groups = comparison.statistic.groups
        outcome = comparison.statistic.test(comparison.judge[:, None], permutations, seed)
        rows = {
            "runs": [comparison.name_runs(group) for group in groups],
            "z": outcome.z[:, 0].tolist(),
            "p": outcome.p[:, 0].tolist(),
            "gain": (outcome.gain[:, 0] * _TOP_WEIGHT).tolist(),
        }
    frame = pl.DataFrame(
        rows,
        schema={
            "runs": pl.List(pl.String),
            "z": pl.Float64,
            "p": pl.Float64,
            "gain": pl.Float64,
        },
    ).sort("p", "z", descending=[False, True], maintain_order=True)
    return FavouredSystem(
        frame, comparison.pairs.size, topics, comparison.depth, permutations, seed, reason
    )
