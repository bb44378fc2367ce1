"""Estimates from a sampled pool, with standard errors by the jackknife."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.arrays import Floats, Longs
from venire.errors import BadSetting, DataError
from venire.evaluation.ranks import RankTable
from venire.evaluation.score import Scores, parse_measures, rank, score
from venire.measures import Measure
from venire.measures.family import list_estimates
from venire.tables.qrels import UNSAMPLED, Qrels
from venire.tables.runs import Runs
from venire.tables.schema import express


@dataclass(frozen=True)
class SamplingError:
    """Estimates from a sampled pool with their standard errors.

    Attributes
    ----------
    scores : Scores
    error : float64 [measures, runs]
        Standard error of each mean (or sum) over topics. It covers the sampling of documents
        only; the topics are treated as fixed.
    by_topic : float64 [measures, runs, topics]
        Standard error of the value of each topic.
    notes : tuple of str
    """

    scores: Scores
    error: Floats
    by_topic: Floats
    notes: tuple[str, ...] = ()

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends of the normal confidence intervals, low and high [measures, runs]."""
        from statistics import NormalDist

        if not 0 < level < 1:
            raise BadSetting(f"must be > 0 and < 1 (got {level})", argument="level", value=level)
        half_width = NormalDist().inv_cdf(0.5 + level / 2.0) * self.error
        return self.scores.mean - half_width, self.scores.mean + half_width


def sampling_error(
    qrels: Qrels,
    runs: Runs,
    measures: Sequence[str | Measure] = ("xinfAP(corrected=True)",),
    *,
    topics: str = "qrels",
    ties: str = "trec",
) -> SamplingError:
    """Estimate measures from a sampled pool, with their standard errors.

    Delete-one jackknife within topic and stratum, with the finite population correction:
    ``sum_c (1 - n_c/N_c) (n_c - 1)/n_c sum_i (v_(-i) - v_(-.))^2``, where v_(-i) is the value
    after sampled document i is treated as unsampled (Wolter, Introduction to Variance Estimation,
    4.5). A stratum with a single sampled document out of several adds no variance; a note counts
    these strata.

    Parameters
    ----------
    qrels : Qrels
        A random sample: negative grades stand for pool documents that were not sampled.
    runs : Runs
    measures : sequence of str or Measure
        Any of xinfAP, infAP, infNDCG and infNumRel.
    topics, ties : str
        As for :func:`venire.evaluation.score.score_runs`.

    Raises
    ------
    BadSetting
        A measure that is not an estimate from a sample.
    DataError
        Qrels without unsampled pairs, or qrels of an adaptive pool, where the sampling
        probabilities are unknown.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": -1, "d": 1, "e": -1}})
    >>> runs = Runs.from_dict({"q": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}})
    >>> estimate = sampling_error(qrels, runs, ["infNumRel"])
    >>> round(float(estimate.scores.mean[0, 0]), 4), round(float(estimate.error[0, 0]), 4)
    (3.3333, 1.0541)
    """
    parsed = parse_measures(measures)
    for measure in parsed:
        if not measure.family.is_estimate:
            raise BadSetting(
                f"{measure} is not an estimate from a sample",
                hint=f"Choose from {', '.join(list_estimates())}.",
            )
    table = rank(qrels, runs, ties=ties)
    grades = table.grades(qrels)
    scores = score(table, grades, parsed, topics=topics)
    if (grades >= 0).all():
        raise DataError(
            "All pairs of the qrels have a grade, so no pair of the pool is unsampled",
            hint="List the unsampled pairs with grade -1.",
        )
    stratum, position, spread, n_single = _design(table, grades)
    shape = (*scores.values.shape, spread.shape[2])
    total, squares = np.zeros(shape), np.zeros(shape)
    for step in range(int(position.max(initial=-1)) + 1):
        # Errors of different topics are independent, so each step deletes one pair per topic.
        deleted = np.flatnonzero(position == step)
        remaining_grades = np.where(position == step, UNSAMPLED, grades)
        change = score(table, remaining_grades, parsed, topics=topics).values - scores.values
        topic = table.topic[deleted]
        total[:, :, topic, stratum[deleted]] += change[:, :, topic]
        squares[:, :, topic, stratum[deleted]] += change[:, :, topic] ** 2
    variance = (squares * spread[1] - total**2 * spread[0]).sum(axis=-1)
    variance = np.maximum(variance, 0.0)
    error = np.sqrt(np.where(scores.counted, variance, 0.0).sum(axis=-1))
    notes: tuple[str, ...] = ()
    if n_single:
        notes = (
            f"{express(n_single, 'stratum', 'strata')} with a single sampled document out of "
            "several: the interval does not include their variance",
        )
    averages = [measure.family.across_topics == "mean" for measure in parsed]
    error[averages] /= np.maximum(scores.counted.sum(axis=1), 1)
    return SamplingError(scores, error, np.sqrt(variance), notes)


def _design(table: RankTable, grades: Longs) -> tuple[Longs, Longs, Floats, int]:
    """Return the design of the sample.

    Returns
    -------
    stratum : int64 [P]
    position : int64 [P]
        Position of each pair among the pairs of its topic that the jackknife deletes; -1 for the
        other pairs.
    spread : float64 [2, topics, strata]
        ``f / n`` and ``f`` with ``f = (1 - n/N) (n - 1)/n``.
    n_single : int
        Number of strata with a single sampled pair out of several.
    """
    stratum = np.zeros(grades.size, np.int64) if table.stratum is None else table.stratum
    width = int(stratum.max(initial=0)) + 1
    shape = (len(table.topics), width)
    cell = table.topic * width + stratum
    sampled = grades >= 0
    size = np.bincount(cell, minlength=shape[0] * width)
    sample_size = np.bincount(cell[sampled], minlength=shape[0] * width)
    has_variance = (sample_size > 1) & (sample_size < size)
    position = np.full(grades.size, -1, np.int64)
    order = np.flatnonzero(sampled & has_variance[cell])
    order = order[np.argsort(table.topic[order], kind="stable")]
    topic = table.topic[order]
    position[order] = np.arange(order.size) - np.searchsorted(topic, topic)
    n = np.maximum(sample_size, 1)
    factor = np.where(has_variance, (1.0 - n / np.maximum(size, 1)) * (n - 1) / n, 0.0)
    spread = np.stack([(factor / n).reshape(shape), factor.reshape(shape)])
    return stratum, position, spread, int(np.sum((sample_size == 1) & (size > 1)))
