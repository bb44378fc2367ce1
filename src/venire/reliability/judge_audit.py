"""Audit judges: whether one favours a system, and whether the audit would have seen it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs
from venire.evaluation.ranks import RankTable
from venire.progress import Event, Progress, silent
from venire.reliability.favour_power import SEEN, estimate_power
from venire.reliability.favoured_system import Comparison, FavouredSystem, run_test

DEPTH = 10
"""Ranks that an audit looks at, whatever the depth of the pool."""


@dataclass(frozen=True)
class Audit:
    """The audit of a judge.

    Attributes
    ----------
    judge : str
    favoured : FavouredSystem
    power : polars.DataFrame
        Which runs the audit would have caught the judge favouring; see
        :func:`venire.reliability.favour_power.estimate_power`.
    others : int
        Largest number of other assessors per pair, the qrels among them.
    disputed : polars.DataFrame
        ``query_id, doc_id``: pairs in the first ten of the most favoured group on which judge and
        qrels (or the mean of the others) differ; a third assessor should judge these.
    p : float or None
        Smallest p, corrected for the groups and for the number of judges (Holm).
    """

    judge: str
    favoured: FavouredSystem
    power: pl.DataFrame
    others: int
    disputed: pl.DataFrame
    p: float | None

    @property
    def seen(self) -> list[str]:
        """Runs whose favour the audit would have seen."""
        return self.power.filter(pl.col("found") >= SEEN)["run_id"].to_list()

    @property
    def unseen(self) -> list[str]:
        """Audited runs whose favour the audit would probably have missed."""
        return self.power.filter(pl.col("found") < SEEN)["run_id"].to_list()

    @property
    def unaudited(self) -> list[str]:
        """Runs with too few audited pairs."""
        return self.power.filter(pl.col("found").is_null())["run_id"].to_list()


def audit_judges(
    table: RankTable,
    grades: Longs,
    others: Sequence[tuple[str, Longs]],
    *,
    permutations: int = 1000,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[Audit, ...]:
    """Audit every judge against the qrels and all other judges.

    Parameters
    ----------
    table : RankTable
    grades : int64 [P]
        Of the qrels; a negative number is no grade.
    others : sequence of (str, int64 [P])
        Name and grades of each judge.
    permutations : int
        Number of sign flips; more where there are many judges.
    seed : int
    progress : callable
    """
    permutations = max(permutations, 200 * len(others))
    every = [grades, *(judge for _, judge in others)]
    count = np.sum([np.where(judge >= 0, 1, 0) for judge in every], axis=0)
    total = np.sum([np.maximum(judge, 0) for judge in every], axis=0).astype(np.float64)
    comparisons = []
    tests = []
    sizes = []
    for name, judge in others:
        size = count - (judge >= 0)
        # A judge is compared on pairs of the qrels, with the mean of everybody else.
        is_common = (grades >= 0) & (judge >= 0)
        mean: Floats = np.full(count.size, np.nan)
        mean[is_common] = ((total - np.maximum(judge, 0))[is_common]) / size[is_common]
        comparison = Comparison.of(table, mean, judge, DEPTH)
        comparisons.append(comparison)
        tests.append(run_test(comparison, permutations, seed))
        sizes.append(int(size[comparison.pairs].max(initial=1)))
        progress(Event("Judges audited", len(tests), len(others), name))
    corrected = _correct([test.p for test in tests])
    return tuple(
        Audit(
            name,
            test,
            estimate_power(comparison, judges=len(others), seed=seed, progress=progress),
            size,
            _list_disputed(comparison, test.group),
            p,
        )
        for (name, _), comparison, test, size, p in zip(
            others, comparisons, tests, sizes, corrected, strict=True
        )
    )


def _correct(values: Sequence[float | None]) -> list[float | None]:
    """Correct p-values for their number (Holm 1979); None stays None."""
    known = sorted((p, judge) for judge, p in enumerate(values) if p is not None)
    corrected: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (p, judge) in enumerate(known):
        largest = max(largest, min(1.0, (len(values) - rank) * p))
        corrected[judge] = largest
    return corrected


def _list_disputed(comparison: Comparison, group: Sequence[str]) -> pl.DataFrame:
    """Return the pairs in the first ten of a group on which judge and others differ."""
    runs = tuple(run for run, name in enumerate(comparison.table.runs) if name in set(group))
    is_disputed = comparison.grade != comparison.judge
    if runs:
        is_disputed &= comparison.is_top(runs, comparison.depth)
    disputed: pl.DataFrame = comparison.table.pairs[comparison.pairs[is_disputed]]
    return disputed
