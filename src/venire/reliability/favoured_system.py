"""Test whether a judge favours one of the systems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs
from venire.errors import BadSetting, NoOverlap
from venire.evaluation.ranks import RankTable

CHUNK = 128
"""Number of permutations computed at once; bounds the memory."""
NO_DISAGREEMENT = "within a grade and topic the judge errs the same on every pair"
NO_REACH = "within a grade and topic the system treats all pairs as the others do"


@dataclass(frozen=True)
class FavouredSystem:
    """How far a judge's errors follow the ranks of each system.

    Attributes
    ----------
    frame : polars.DataFrame
        One row per run, most favoured first: ``run_id, statistic``; ``z``, the statistic in
        standard deviations under the null hypothesis; ``p``, familywise; ``reason``, where they
        are undefined.
    pairs : int
        Number of pairs judged by both.
    depth, permutations, seed : int
    """

    frame: pl.DataFrame
    pairs: int
    depth: int
    permutations: int
    seed: int

    @property
    def p(self) -> float | None:
        """The smallest familywise p-value; None where the judge never differs."""
        value = self.frame["p"].min()
        return float(value) if isinstance(value, float) else None

    @property
    def most(self) -> str | None:
        """The run that is favoured most, significantly or not."""
        return None if self.p is None else str(self.frame["run_id"][0])


@dataclass(frozen=True)
class Audit:
    """Test of a judge against the qrels, and of the qrels against the judge.

    Attributes
    ----------
    judge : str
    favoured : FavouredSystem
        Test of the judge's errors, if the qrels are right.
    mirror : FavouredSystem
        Test of the errors of the qrels, if the judge is right.
    differ : int
        Number of pairs to which judge and qrels give different grades.
    """

    judge: str
    favoured: FavouredSystem
    mirror: FavouredSystem
    differ: int = 0

    def both_ways(self, level: float = 0.05) -> bool:
        """Return whether the qrels seem to favour the same run as the judge.

        Documents that a good system ranks high are better than a grade with errors says. So where
        the qrels err, an honest judge seems to favour good systems, but then the qrels seem to
        favour them against the judge too. A judge who does favour a run makes the qrels seem to
        disfavour it. In simulations all false findings of this kind held both ways, and no true
        finding did.
        """
        row = self.mirror.frame.filter(pl.col("run_id") == self.favoured.most)
        p = row["p"][0] if row.height else None
        return p is not None and p < level

    @classmethod
    def of(
        cls,
        judge: str,
        table: RankTable,
        human: Longs,
        grades: Longs,
        *,
        depth: int = 10,
        permutations: int = 1000,
        seed: int = 0,
    ) -> Audit:
        """Test both ways; settings and errors as for :func:`detect_favoured_system`."""
        favoured, mirror = (
            detect_favoured_system(table, a, b, depth=depth, permutations=permutations, seed=seed)
            for a, b in ((human, grades), (grades, human))
        )
        is_common = (human >= 0) & (grades >= 0)
        return cls(judge, favoured, mirror, int(np.sum(is_common & (human != grades))))


def detect_favoured_system(
    table: RankTable,
    human: Longs,
    judge: Longs,
    *,
    depth: int = 10,
    permutations: int = 1000,
    seed: int = 0,
) -> FavouredSystem:
    """Test whether a judge gives better grades to documents that one system ranks high.

    On the pairs graded by both, the residual is judge - human, centred within each human grade, so
    that leniency cancels. A system's weight is 1/log2(rank + 1) down to ``depth`` (0 below) minus
    the mean over systems, so that popularity cancels. The statistic is the sum of weight
    times residual. Under the null residuals are permuted within (topic, human grade); its mean
    and variance are exact, and p is the share of permutations (the data among them) whose
    largest z over all systems reaches the system's own. Kappa cannot see such a judge
    (see "Simulate pools and assessors").

    Do not test a judge on pairs that were used to tune it.

    Parameters
    ----------
    table : RankTable
    human, judge : int64 [P]
        Grades of the table's pairs; a negative number is no grade.
    depth : int
    permutations : int
    seed : int

    Raises
    ------
    NoOverlap
        When no pair is graded by both.
    BadSetting
        For fewer than two systems, or a depth or number of permutations below 1.
    """
    for name, value in (("depth", depth), ("permutations", permutations)):
        if value < 1:
            raise BadSetting(f"must be >= 1 (got {value})", argument=name, value=value)
    if len(table.runs) < 2:
        raise BadSetting("the test for a favoured system needs at least two runs")
    both = np.flatnonzero((human >= 0) & (judge >= 0))
    if not both.size:
        raise NoOverlap("the judge and the qrels have no pair in common")
    # Sorted by (topic, grade): each class is a slice, and its pairs are exchangeable.
    both = both[np.lexsort((human[both], table.topic[both]))]
    grade = human[both]
    topic = table.topic[both]
    first = np.append(True, (topic[1:] != topic[:-1]) | (grade[1:] != grade[:-1]))
    start = np.append(np.flatnonzero(first), both.size)
    residual = _centre(
        (judge[both] - grade).astype(np.float64), np.unique(grade, return_inverse=True)[1]
    )
    weight = _weights(table, both, depth)
    statistic = weight @ residual
    mean, sd = _moments(weight, residual, start)
    known = sd > 1e-9
    z = np.divide(statistic - mean, sd, out=np.full(sd.size, np.nan), where=known)
    p = np.full(sd.size, np.nan)
    if known.any():
        null = _largest(weight[known], residual, start, mean[known], sd[known], permutations, seed)
        reached = (null[None, :] >= z[known, None] - 1e-9).sum(axis=1)
        p[known] = (reached + 1.0) / (permutations + 1.0)
    reason = NO_DISAGREEMENT if not known.any() else NO_REACH
    frame = pl.DataFrame(
        {
            "run_id": table.runs,
            "statistic": statistic,
            "z": pl.Series(z).fill_nan(None),
            "p": pl.Series(p).fill_nan(None),
            "reason": [None if is_known else reason for is_known in known],
        },
        schema_overrides={"z": pl.Float64, "p": pl.Float64, "reason": pl.String},
    )
    frame = frame.sort(["z", "run_id"], descending=[True, False], nulls_last=True)
    return FavouredSystem(frame, int(both.size), depth, permutations, seed)


def _centre(value: Floats, group: Longs) -> Floats:
    mean = np.bincount(group, weights=value) / np.maximum(np.bincount(group), 1)
    out: Floats = value - mean[group]
    return out


def _weights(table: RankTable, pairs: Longs, depth: int) -> Floats:
    """Return the weight of each pair for each run, minus the mean over runs [runs, pairs]."""
    position = np.full(len(table.pairs), -1, dtype=np.int64)
    position[pairs] = np.arange(pairs.size)
    column = position[table.pair]
    near = (column >= 0) & (table.rank <= depth)
    run = table.run[near]
    weight = np.zeros((len(table.runs), pairs.size))
    weight[run, column[near]] = 1.0 / np.log2(table.rank[near] + 1.0)
    out: Floats = weight - weight.mean(axis=0)
    return out


def _moments(weight: Floats, residual: Floats, start: Longs) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the statistics over all permutations.

    Hoeffding 1951: sum over classes of n w r (means), and of SS(w) SS(r) / (n - 1).
    """
    size = np.diff(start)
    mean_r = np.add.reduceat(residual, start[:-1]) / size
    mean_w = np.add.reduceat(weight, start[:-1], axis=1) / size
    of = np.repeat(np.arange(size.size), size)
    square_r = np.add.reduceat((residual - mean_r[of]) ** 2, start[:-1])
    square_w = np.add.reduceat((weight - mean_w[:, of]) ** 2, start[:-1], axis=1)
    variance = (square_w * square_r / np.maximum(size - 1, 1)).sum(axis=1)
    return (mean_w * mean_r * size).sum(axis=1), np.sqrt(variance)


def _largest(
    weight: Floats,
    residual: Floats,
    start: Longs,
    mean: Floats,
    sd: Floats,
    permutations: int,
    seed: int,
) -> Floats:
    """Return the largest z over systems of each permutation."""
    rng = np.random.default_rng(seed)
    out = np.empty(permutations)
    # A class whose residuals are all equal does not change when permuted.
    classes = [
        (low, high)
        for low, high in zip(start[:-1].tolist(), start[1:].tolist(), strict=True)
        if high - low > 1 and np.ptp(residual[low:high]) > 0
    ]
    for done in range(0, permutations, CHUNK):
        size = min(CHUNK, permutations - done)
        drawn = np.tile(residual, (size, 1))
        for low, high in classes:
            drawn[:, low:high] = rng.permuted(drawn[:, low:high], axis=1)
        z = (drawn @ weight.T - mean) / sd
        out[done : done + size] = z.max(axis=1)
    return out
