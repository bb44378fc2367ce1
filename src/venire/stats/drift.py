"""Detect that a rate departs from an earlier one, tested after every try."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from venire.arrays import Floats
from venire.errors import BadSetting

PRIOR = 0.5
"""Of both Beta distributions: Jeffreys' prior."""


@dataclass(frozen=True)
class Departure:
    """What a sequential test of a rate found.

    Attributes
    ----------
    raised_at : int or None
        After how many tries of the new wave the alarm was raised; None where it was not.
    rises : bool
        Whether the rate is above the earlier one, at the alarm or at the end.
    evidence : float
        Greatest Bayes factor against "the rate is the same" so far.
    threshold : float
        Bayes factor at which the alarm is raised, ``1 / alpha``.
    """

    raised_at: int | None
    rises: bool
    evidence: float
    threshold: float


def bayes_factors(hits: int, tries: int, wave: ArrayLike) -> Floats:
    """Return the Bayes factor against one common rate after each try of a new wave [n].

    With R of N tries hits in the earlier wave and r of n so far in the new one,
    ``BF_n = B(r+1/2, n-r+1/2) / B(1/2, 1/2) * B(R+1/2, N-R+1/2) / B(R+r+1/2, N+n-R-r+1/2)``:
    the chance of the new tries under a rate of their own (Jeffreys' prior), over that under the
    earlier wave's rate as far as it is known.

    Parameters
    ----------
    hits, tries : int
        Of the earlier wave.
    wave : array of bool [n]
        Tries of the new wave in their order.

    Examples
    --------
    >>> bool(bayes_factors(5, 100, [True, True, True, True])[-1] > 1000)
    True
    """
    if not 0 <= hits <= tries:
        raise BadSetting(f"{hits} of {tries} is no share")
    from scipy.special import betaln

    new = np.asarray(wave, dtype=bool)
    r = np.cumsum(new)
    n = np.arange(1, new.size + 1)
    a = PRIOR
    alone = betaln(r + a, n - r + a) - betaln(a, a)
    same = betaln(hits + r + a, tries + n - hits - r + a) - betaln(hits + a, tries - hits + a)
    factors: Floats = np.exp(np.minimum(alone - same, 700.0))
    return factors


def departure(hits: int, tries: int, wave: Sequence[bool], *, alpha: float = 0.05) -> Departure:
    """Return whether, and when, a wave's rate departs from the rate before.

    The alarm is raised at the first try after which the Bayes factor reaches ``1 / alpha``. While
    the rate stays the same the Bayes factor is a martingale of mean 1 under what the earlier wave
    says of the rate, so by Ville's inequality it ever reaches ``1 / alpha`` with a probability of
    at most alpha, however long the wave is and however often it is looked at (Robbins, "Statistical
    methods related to the law of the iterated logarithm", Ann. Math. Stat. 41, 1970; Johari et
    al., "Always valid inference", Operations Research 70, 2022). The guarantee is an average over
    what the earlier wave leaves open, not for each rate by itself.

    Parameters
    ----------
    hits, tries : int
        Of the earlier wave.
    wave : sequence of bool
        Tries of the new wave in their order: was it a hit (a batch rejected)?
    alpha : float
        Chance of a false alarm in a whole steady wave.

    Examples
    --------
    >>> departure(5, 100, [True, False, True, True, True]).raised_at
    4
    >>> departure(5, 100, [False] * 50).raised_at is None
    True
    """
    if not 0 < alpha < 1:
        raise BadSetting(f"alpha is between 0 and 1, not {alpha}")
    threshold = 1.0 / alpha
    if not tries or not len(wave):
        return Departure(None, False, 1.0, threshold)
    factors = bayes_factors(hits, tries, wave)
    over = np.flatnonzero(factors >= threshold)
    raised_at = int(over[0]) + 1 if over.size else None
    seen = np.asarray(wave[: raised_at or len(wave)], dtype=bool)
    return Departure(
        raised_at=raised_at,
        rises=bool(seen.mean() > hits / tries),
        evidence=float(factors.max()),
        threshold=threshold,
    )


def chance_below(right: int, asked: int, level: float) -> float:
    """Return the probability that somebody's accuracy is below a level, given gold right of asked.

    The posterior is ``Beta(1 + right, 1 + wrong)``: nothing is known of an annotator at first.

    Examples
    --------
    >>> round(chance_below(0, 4, 0.5), 4)
    0.9688
    >>> chance_below(0, 0, 0.5)
    0.5
    """
    if not 0 <= right <= asked:
        raise BadSetting(f"{right} of {asked} is no share")
    from scipy.special import betainc

    return float(betainc(1 + right, 1 + asked - right, level))
