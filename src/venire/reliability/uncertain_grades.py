"""Rank runs under qrels drawn from the grade probabilities of an aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from venire.aggregation.decision import SURE
from venire.arrays import Floats
from venire.evaluation.score import score_runs
from venire.evaluation.uncertain import GradeProbabilities, draw_scores
from venire.measures import Measure
from venire.stats.rank_correlation import rank_scores, tau_b
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs


@dataclass(frozen=True)
class UncertainGrades:
    """The ranking under qrels drawn from grade probabilities.

    Attributes
    ----------
    measure : Measure
    frame : polars.DataFrame
        By rank: ``run_id``, ``rank`` and ``score`` under the likeliest grades, ``low`` and
        ``high`` of 95% of the draws, and ``beats_next``: the share of draws in which the run is
        ahead of the next, a tie being half.
    taus : float64 [D]
        Kendall's tau-b between the order of the compared systems by the likeliest grades and that
        of each draw; draws in which it is undefined are left out.
    unsure : int
        Pairs whose likeliest grade has a probability below ``SURE``.
    draws, seed : int
    """

    measure: Measure
    frame: pl.DataFrame
    taus: Floats
    unsure: int
    draws: int
    seed: int

    @property
    def interval(self) -> tuple[float, float] | None:
        """Low and high of tau in 95% of the draws; None where it is undefined in all."""
        if not self.taus.size:
            return None
        low, high = np.quantile(self.taus, [0.025, 0.975])
        return float(low), float(high)


def rank_drawn_grades(
    uncertain: GradeProbabilities,
    runs: Runs,
    measure: str | Measure = "AP",
    *,
    draws: int = 200,
    seed: int = 0,
    topics: str = "qrels",
    ties: str = "trec",
    systems: Sequence[str] | None = None,
) -> UncertainGrades:
    """Rank runs under qrels drawn again and again from the grades' probabilities.

    Pairs are drawn apart from each other, see
    :func:`venire.evaluation.uncertain.draw_scores`: an error that an annotator makes on many
    pairs is not in the intervals.

    Parameters
    ----------
    uncertain : GradeProbabilities
    runs : Runs
    measure : str or Measure
    draws, seed : int
    topics, ties : str
        As for :func:`venire.evaluation.score.score_runs`.
    systems : sequence of str, optional
        Runs whose order is compared; all by default.

    Examples
    --------
    >>> pairs = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"]})
    >>> sure = GradeProbabilities(pairs, np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1]))
    >>> good = Runs.from_dict({"q": {"a": 2.0, "b": 1.0}}, run_id="good")
    >>> poor = Runs.from_dict({"q": {"b": 2.0, "a": 1.0}}, run_id="poor")
    >>> result = rank_drawn_grades(sure, Runs(pl.concat([good.frame, poor.frame])), draws=5)
    >>> result.interval, result.frame["beats_next"].to_list()
    ((1.0, 1.0), [1.0, None])
    """
    drawn = draw_scores(
        uncertain, runs, [measure], draws=draws, seed=seed, topics=topics, ties=ties
    )
    # Not the mean grades: rounded to whole ones they meet in the middle of the scale.
    likeliest = uncertain.grades[np.argmax(uncertain.probabilities, axis=1)]
    settled = Qrels.of(uncertain.pairs.with_columns(pl.Series("relevance", likeliest)))
    scores = score_runs(settled, runs, [measure], topics=topics, ties=ties)
    score = scores.mean[0]
    compared = [scores.runs.index(name) for name in systems or scores.runs]
    taus = [tau_b(score[compared], draw[compared]) for draw in drawn.values[:, 0]]
    low, high = drawn.interval()
    order = np.argsort(-score, kind="stable")
    names = [scores.runs[run] for run in order]
    following = [drawn.better(first, second) for first, second in pairwise(names)]
    frame = pl.DataFrame(
        {
            "run_id": names,
            "rank": rank_scores(score)[order],
            "score": score[order],
            "low": low[0][order],
            "high": high[0][order],
            "beats_next": [*following, None],
        },
        schema_overrides={"run_id": pl.String, "beats_next": pl.Float64},
    )
    return UncertainGrades(
        measure=drawn.measures[0],
        frame=frame,
        taus=np.array([tau for tau in taus if tau is not None], dtype=np.float64),
        unsure=int(np.sum(uncertain.probabilities.max(axis=1) < SURE)),
        draws=draws,
        seed=seed,
    )
