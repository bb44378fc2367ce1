"""How far an estimate from a sampled pool may be off: its error by the jackknife."""

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
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import express

UNSAMPLED = -1


@dataclass(frozen=True)
class SamplingError:
    """Estimates from a sampled pool with their standard errors.

    Attributes
    ----------
    scores : Scores
    error : float64 [measures, runs]
        Standard error of each mean (or sum) over the topics, by the drawing of the sample alone:
        topics are taken as given.
    by_topic : float64 [measures, runs, topics]
        Standard error of each topic.
    notes : tuple of str
    """

    scores: Scores
    error: Floats
    by_topic: Floats
    notes: tuple[str, ...] = ()

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return low and high of each measure and run [measures, runs], normal at a level."""
        from statistics import NormalDist

        if not 0 < level < 1:
            raise BadSetting(f"level is between 0 and 1, not {level}")
        wide = NormalDist().inv_cdf(0.5 + level / 2.0) * self.error
        return self.scores.mean - wide, self.scores.mean + wide


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
    with sampled document i taken as not sampled (Wolter, Introduction to Variance Estimation, 4.5).
    It knows nothing of strata with one document sampled of several: a note counts them.

    Parameters
    ----------
    qrels : Qrels
        A random sample: negative grades stand for pool documents that were not sampled.
    runs : Runs
    measures : sequence of str or Measure
        Of xinfAP, infAP, infNDCG, infNumRel.
    topics, ties : str
        As for :func:`venire.evaluation.score.score_runs`.

    Raises
    ------
    BadSetting
        For a measure that is no estimate from a sample.
    DataError
        For qrels of an adaptive pool: its documents have no known probability.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": -1, "d": 1, "e": -1}})
    >>> runs = Runs.from_dict({"q": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}})
    >>> found = sampling_error(qrels, runs, ["infNumRel"])
    >>> round(float(found.scores.mean[0, 0]), 4), round(float(found.error[0, 0]), 4)
    (3.3333, 1.0541)
    """
    parsed = parse_measures(measures)
    for measure in parsed:
        if not measure.family.is_estimate:
            raise BadSetting(
                f"{measure} is no estimate from a sample; those are {', '.join(list_estimates())}"
            )
    table = rank(qrels, runs, ties=ties)
    grades = table.grades(qrels)
    scores = score(table, grades, parsed, topics=topics)
    if (grades >= 0).all():
        raise DataError(
            "all pairs of the qrels have a grade, so nothing was left unsampled; an interval "
            "needs the unsampled pairs, with grade -1"
        )
    stratum, number, spread, alone = _design(table, grades)
    shape = (*scores.values.shape, spread.shape[2])
    total, squares = np.zeros(shape), np.zeros(shape)
    for step in range(int(number.max(initial=-1)) + 1):
        # Topics and strata do not touch each other's errors, so one pair of each topic a step.
        gone = np.flatnonzero(number == step)
        without = np.where(number == step, UNSAMPLED, grades)
        change = score(table, without, parsed, topics=topics).values - scores.values
        topic = table.topic[gone]
        total[:, :, topic, stratum[gone]] += change[:, :, topic]
        squares[:, :, topic, stratum[gone]] += change[:, :, topic] ** 2
    variance = (squares * spread[1] - total**2 * spread[0]).sum(axis=-1)
    variance = np.maximum(variance, 0.0)
    error = np.sqrt(np.where(scores.counted, variance, 0.0).sum(axis=-1))
    notes: tuple[str, ...] = ()
    if alone:
        notes = (
            f"{express(alone, 'stratum', 'strata')} of topics with one document sampled of "
            "several: the interval leaves out what they add",
        )
    averages = [measure.family.across_topics == "mean" for measure in parsed]
    error[averages] /= np.maximum(scores.counted.sum(axis=1), 1)
    return SamplingError(scores, error, np.sqrt(variance), notes)


def _design(table: RankTable, grades: Longs) -> tuple[Longs, Longs, Floats, int]:
    """Return how the sample was drawn.

    Returns
    -------
    stratum : int64 [P]
    number : int64 [P]
        Place of each pair among those of its topic to leave out, -1 for the others.
    spread : float64 [2, topics, strata]
        ``f / n`` and ``f`` with ``f = (1 - n/N) (n - 1)/n``.
    alone : int
        Strata of topics with one pair sampled of several.
    """
    stratum = np.zeros(grades.size, np.int64) if table.stratum is None else table.stratum
    width = int(stratum.max(initial=0)) + 1
    shape = (len(table.topics), width)
    cell = table.topic * width + stratum
    sampled = grades >= 0
    size = np.bincount(cell, minlength=shape[0] * width)
    drawn = np.bincount(cell[sampled], minlength=shape[0] * width)
    part = (drawn > 1) & (drawn < size)
    out = sampled & part[cell]
    number = np.full(grades.size, -1, np.int64)
    order = np.flatnonzero(out)
    order = order[np.argsort(table.topic[order], kind="stable")]
    topic = table.topic[order]
    number[order] = np.arange(order.size) - np.searchsorted(topic, topic)
    n = np.maximum(drawn, 1)
    factor = np.where(part, (1.0 - n / np.maximum(size, 1)) * (n - 1) / n, 0.0)
    spread = np.stack([(factor / n).reshape(shape), factor.reshape(shape)])
    return stratum, number, spread, int(np.sum((drawn == 1) & (size > 1)))
