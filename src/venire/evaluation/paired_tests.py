"""Compare pairs of systems: paired tests, intervals, corrections for many pairs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from venire.arrays import Floats
from venire.errors import BadSetting
from venire.evaluation.score import Scores

CHUNK = 256
"""Number of permutations per step, so that memory does not grow with their total number."""

LEAST_DIFFERENCES = 5
"""Topics on which two runs differ, from which their difference has an interval.

With fewer, most resamples of topics would show no difference, and no interval covers as stated.
"""


@dataclass(frozen=True)
class Comparison:
    """One pair of systems under one measure.

    Attributes
    ----------
    first, second : str
    difference : float
        Mean of first minus second over topics.
    low, high : float or None
        Interval of the difference (Student's t); None where the runs differ on fewer than five
        topics, or by the same amount on all.
    p_t, p_randomisation : float or None
        Two-sided paired tests; None (undefined) where the systems do not differ on any topic.
    p_holm : float or None
        p_randomisation after Holm's correction over all pairs.
    p_tukey : float or None
        Randomised Tukey HSD over all systems.
    wins, ties, losses : int
        Number of topics where the first run is better, equal or worse.
    """

    first: str
    second: str
    difference: float
    low: float | None
    high: float | None
    p_t: float | None
    p_randomisation: float | None
    p_holm: float | None
    p_tukey: float | None
    wins: int
    ties: int
    losses: int


def compare_systems(
    scores: Scores,
    measure: int = 0,
    *,
    permutations: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> list[Comparison]:
    """Compare every pair of systems over the topics that all of them share.

    Paired t-test and its interval of the difference, where the runs differ on at least
    :data:`LEAST_DIFFERENCES` topics; randomisation test (signs of the differences flipped at
    random, with 1 added to both counts so that p is never 0); Holm (1979); randomised Tukey HSD
    (Carterette, ACM TOIS 30, 2012: scores permuted among systems within each topic, largest minus
    smallest mean as the null).

    Parameters
    ----------
    scores : Scores
    measure : int
        Index of the measure in ``scores``.
    permutations : int
        Number of permutations per test.
    level : float
        Confidence level of the interval.
    seed : int
    """
    if permutations < 1:
        raise BadSetting(
            f"must be >= 1 (got {permutations})", argument="permutations", value=permutations
        )
    if not 0 < level < 1:
        raise BadSetting(f"must be > 0 and < 1 (got {level})", argument="level", value=level)
    if len(scores.runs) < 2:
        raise BadSetting("A comparison needs at least two runs")
    shared = scores.counted.all(axis=0)
    if not shared.any():
        raise BadSetting("The runs share no topic", hint="Compare runs of the same topics.")
    values = scores.values[measure][:, shared]
    rng = np.random.default_rng(seed)
    pairs = list(combinations(range(len(scores.runs)), 2))
    differences = np.stack([values[a] - values[b] for a, b in pairs])
    p_randomisation = _randomisation(differences, permutations, rng)
    p_tukey = compute_tukey_p(values, pairs, permutations, rng)
    p_holm = holm(p_randomisation)
    is_equal = ~np.any(differences != 0, axis=1)
    p_t, half_width = _t_test(differences, level)
    has_interval = (differences != 0).sum(axis=1) >= LEAST_DIFFERENCES
    has_interval &= np.isfinite(p_t)
    means = differences.mean(axis=1).tolist()
    comparisons = []
    for number, (a, b) in enumerate(pairs):
        difference = differences[number]
        undefined = bool(is_equal[number])
        comparisons.append(
            Comparison(
                first=scores.runs[a],
                second=scores.runs[b],
                difference=means[number],
                low=means[number] - half_width[number] if has_interval[number] else None,
                high=means[number] + half_width[number] if has_interval[number] else None,
                p_t=None if undefined else _none_if_nan(p_t[number]),
                p_randomisation=None if undefined else float(p_randomisation[number]),
                p_holm=None if undefined else float(p_holm[number]),
                p_tukey=None if undefined else float(p_tukey[number]),
                wins=int((difference > 0).sum()),
                ties=int((difference == 0).sum()),
                losses=int((difference < 0).sum()),
            )
        )
    return comparisons


def _none_if_nan(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _t_test(differences: Floats, level: float) -> tuple[Floats, list[float]]:
    """Return the p of the paired t-test, and half the width of its interval."""
    from scipy.special import stdtr, stdtrit

    n = differences.shape[1]
    sd = differences.std(axis=1, ddof=1) if n > 1 else np.zeros(len(differences))
    error = sd / np.sqrt(n)
    t = np.divide(
        differences.mean(axis=1), error, out=np.full(len(differences), np.nan), where=sd > 0
    )
    p: Floats = 2.0 * stdtr(n - 1, -np.abs(t))
    return p, (stdtrit(max(n - 1, 1), (1.0 + level) / 2.0) * error).tolist()


def _randomisation(differences: Floats, permutations: int, rng: np.random.Generator) -> Floats:
    """Return two-sided p-values; all pairs share the same sign flips."""
    observed = np.abs(differences.mean(axis=1))
    n = differences.shape[1]
    exceedances = np.zeros(len(differences))
    for start in range(0, permutations, CHUNK):
        size = min(CHUNK, permutations - start)
        signs = rng.choice([-1.0, 1.0], (n, size))
        null = np.abs(differences @ signs) / n
        exceedances += (null >= observed[:, None] - 1e-12).sum(axis=1)
    return (exceedances + 1.0) / (permutations + 1.0)


def compute_tukey_p(
    values: Floats, pairs: list[tuple[int, int]], permutations: int, rng: np.random.Generator
) -> Floats:
    """Return p-values of pairs of systems by the randomised Tukey HSD.

    Parameters
    ----------
    values : float64 [systems, topics]
    pairs : list of (int, int)
        Rows of each pair.
    permutations : int
    rng : numpy.random.Generator
    """
    observed = np.array([abs(values[a].mean() - values[b].mean()) for a, b in pairs])
    exceedances = np.zeros(len(pairs))
    for start in range(0, permutations, CHUNK):
        size = min(CHUNK, permutations - start)
        shuffled = rng.permuted(np.broadcast_to(values, (size, *values.shape)), axis=1)
        means = shuffled.mean(axis=2)
        spread = means.max(axis=1) - means.min(axis=1)
        exceedances += (spread[None, :] >= observed[:, None] - 1e-12).sum(axis=1)
    return (exceedances + 1.0) / (permutations + 1.0)


def holm(p: Floats) -> Floats:
    """Return p-values corrected by Holm's step-down method.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p)
    steps = p[order] * np.arange(p.size, 0, -1)
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected
