"""Intervals by bootstrap over topics: what other topics would have given.

Judgments of one topic are not independent (one need, one pool, often one annotator), so whole
topics are drawn, with replacement.
"""

from __future__ import annotations

import math

import numpy as np

from venire.arrays import Floats, Longs


def draw_topics(topics: int, times: int, rng: np.random.Generator) -> Longs:
    """Return how often each topic is in each resample [times, topics]."""
    return rng.multinomial(topics, np.full(topics, 1.0 / topics), size=times)


def expand_tail(topics: int, level: float = 0.95) -> float:
    """Return the share of resamples to leave out at either end of an interval.

    The percentile interval is too narrow for few topics: resamples vary by (n - 1) / n of the
    variance, and the normal quantile takes the place of Student's. The expanded percentile
    interval takes the quantile ``Phi(sqrt(n / (n - 1)) t(alpha / 2, n - 1))`` instead of
    ``alpha / 2`` (Hesterberg, The American Statistician 69, 2015, section 5.3).

    Parameters
    ----------
    topics : int
        At least 2.
    level : float
        Confidence level of the interval.

    Examples
    --------
    >>> round(expand_tail(10), 4), round(expand_tail(10_000), 4)
    (0.0086, 0.025)
    """
    from scipy.special import ndtr, stdtrit

    quantile = stdtrit(topics - 1, (1.0 - level) / 2.0)
    return float(ndtr(math.sqrt(topics / (topics - 1)) * quantile))


def read_interval(
    draws: Floats, topics: int, level: float = 0.95
) -> tuple[float | None, float | None, int]:
    """Return the ends of the expanded percentile interval, and the number of undefined draws.

    Undefined draws (nan) are left out. Where they are half of the draws or more, or with fewer
    than two topics, there is no interval.

    Parameters
    ----------
    draws : float64 [times]
        The figure of each resample.
    topics : int
        Number of topics that the resamples were drawn from.
    level : float
        Confidence level.

    Examples
    --------
    >>> low, high, undefined = read_interval(np.arange(101.0), 10_000, level=0.9)
    >>> round(low, 1), round(high, 1), undefined
    (5.0, 95.0, 0)
    """
    known = draws[~np.isnan(draws)]
    undefined = draws.size - known.size
    if topics < 2 or 2 * undefined >= draws.size:
        return None, None, undefined
    tail = expand_tail(topics, level)
    low, high = np.quantile(known, [tail, 1.0 - tail])
    return float(low), float(high), undefined
