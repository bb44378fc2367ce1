"""Score systems by the judgments of a pool, and compare the order with that by all judgments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.arrays import Floats, Longs, Mask
from venire.evaluation.ranks import ABSENT, RankTable
from venire.evaluation.score import Scores, score, smallest_relevant
from venire.measures import Measure
from venire.stats.rank_correlation import count_swaps, tau_b


@dataclass(frozen=True)
class PoolEffect:
    """What a pool finds, and how its judgments order the systems.

    Attributes
    ----------
    scores, pool_scores : float64 [R]
        Scores of the runs by all judgments, and by those of the pool.
    tau : float or None
        Kendall's tau-b between both orders; None where it is undefined.
    swapped : int
        Number of swapped pairs of systems.
    relevant, relevant_pooled : int
        Number of relevant pairs, in all and in the pool.
    """

    scores: Floats
    pool_scores: Floats
    tau: float | None
    swapped: int
    relevant: int
    relevant_pooled: int

    @property
    def found_share(self) -> float | None:
        """Share of the relevant pairs that are in the pool; None where no pair is relevant."""
        return self.relevant_pooled / self.relevant if self.relevant else None


def measure_pool_effect(
    table: RankTable,
    grades: Longs,
    pooled: Mask,
    whole: Scores,
    *,
    relevant_from: int | None = None,
) -> PoolEffect:
    """Score the runs as if only the pairs of a pool had been judged.

    Averages are over the same topics before and after.

    Parameters
    ----------
    table : RankTable
    grades : int64 [P]
    pooled : bool [P]
        The pairs of the pool.
    whole : Scores
        Scores by all judgments, of one measure.
    relevant_from : int, optional
        Smallest relevant grade; that of the measure by default.
    """
    measure = whole.measures[0]
    threshold = smallest_relevant(measure) if relevant_from is None else relevant_from
    is_relevant = grades >= threshold
    before = whole.mean[0]
    after = score_masked(table, grades, pooled, measure, whole.counted)
    return PoolEffect(
        scores=before,
        pool_scores=after,
        tau=tau_b(before, after),
        swapped=int(count_swaps(before, after)),
        relevant=int(is_relevant.sum()),
        relevant_pooled=int((is_relevant & pooled).sum()),
    )


def score_masked(
    table: RankTable, grades: Longs, judged: Mask, measure: Measure, counted: Mask
) -> Floats:
    """Return the scores of the runs where only some pairs are judged [R].

    Parameters
    ----------
    table : RankTable
    grades : int64 [P]
    judged : bool [P]
        Pairs that keep their grade; the others become unjudged.
    measure : Measure
    counted : bool [runs, topics]
        Topics that the averages are over.
    """
    scores = score(table, np.where(judged, grades, ABSENT), [measure])
    means: Floats = scores.over(counted).mean[0]
    return means
