"""Detect that a rate differs from an earlier rate, with a test after every trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from venire.arrays import Floats
from venire.errors import BadSetting

PRIOR = 0.5
"""Both parameters of the Beta prior: Jeffreys' prior."""
FREEDOM = 10.0
"""Degrees of freedom by which a dispersion is drawn to 1."""


@dataclass(frozen=True)
class Departure:
    """The result of a sequential test of a rate.

    Attributes
    ----------
    raised_at : int or None
        Number of trials of the new wave after which the alarm was raised; None without an alarm.
    rises : bool
        Whether the rate is above the earlier rate, at the alarm or at the end of the wave.
    evidence : float
        Largest Bayes factor so far against the hypothesis of an unchanged rate.
    threshold : float
        Bayes factor at which the alarm is raised, ``1 / alpha``.
    """

    raised_at: int | None
    rises: bool
    evidence: float
    threshold: float


def bayes_factors(hits: int, tries: int, wave: ArrayLike) -> Floats:
    """Return the Bayes factor against a common rate after each trial of a new wave [n].

    With R hits in N trials of the earlier wave, and r hits in the first n trials of the new wave,
    ``BF_n = B(r+1/2, n-r+1/2) / B(1/2, 1/2) * B(R+1/2, N-R+1/2) / B(R+r+1/2, N+n-R-r+1/2)``.
    The numerator is the marginal likelihood of the new trials under a rate of their own
    (Jeffreys' prior), the denominator that under the posterior of the earlier rate.

    Parameters
    ----------
    hits, tries : int
        Hits and trials of the earlier wave.
    wave : array of bool [n]
        Trials of the new wave in order: True for a hit.

    Examples
    --------
    >>> bool(bayes_factors(5, 100, [True, True, True, True])[-1] > 1000)
    True
    """
    if not 0 <= hits <= tries:
        raise BadSetting(
            f"must be between 0 and the {tries} tries (got {hits})", argument="hits", value=hits
        )
    from scipy.special import betaln

    is_hit = np.asarray(wave, dtype=bool)
    r = np.cumsum(is_hit)
    n = np.arange(1, is_hit.size + 1)
    a = PRIOR
    log_own_rate = betaln(r + a, n - r + a) - betaln(a, a)
    log_common_rate = betaln(hits + r + a, tries + n - hits - r + a) - betaln(
        hits + a, tries - hits + a
    )
    factors: Floats = np.exp(np.minimum(log_own_rate - log_common_rate, 700.0))
    return factors


def estimate_dispersion(waves: Sequence[tuple[ArrayLike, ArrayLike]]) -> float:
    r"""Return how much more the hits of the people of each wave vary than independent trials would.

    .. math:: \phi = \frac{c + X^2}{c + \sum_w (A_w - 1)}, \quad X^2 = \sum_w \sum_a
        \frac{(h_{wa} - n_{wa} p_w)^2}{n_{wa} p_w (1 - p_w)}, \quad p_w = h_w / n_w

    Pearson's statistic over its degrees of freedom (McCullagh and Nelder, Generalized Linear
    Models, 1989, section 4.5), drawn to 1 by c = ``FREEDOM`` of them, and at least 1.

    Parameters
    ----------
    waves : sequence of (hits [A], tries [A])
        Hits and trials of each person of a wave.

    Examples
    --------
    Two people with all hits and two with none, of 5 trials each: (10 + 4 times 5) / (10 + 3).

    >>> round(estimate_dispersion([([5, 5, 0, 0], [5, 5, 5, 5])]), 3)
    2.308
    """
    total, freedom = 0.0, 0.0
    for hits, tries in waves:
        h, n = np.asarray(hits, dtype=np.float64), np.asarray(tries, dtype=np.float64)
        if not n.sum() or not 0 < h.sum() < n.sum():
            continue
        p = h.sum() / n.sum()
        total += float(((h - n * p) ** 2 / (n * p * (1 - p))).sum())
        freedom += h.size - 1
    return max(1.0, (FREEDOM + total) / (FREEDOM + freedom))


def departure(
    hits: int,
    tries: int,
    wave: Sequence[bool],
    *,
    alpha: float = 0.05,
    dispersion: float = 1.0,
) -> Departure:
    """Test whether, and when, the rate of a new wave differs from the earlier rate.

    The alarm is raised at the first trial where the Bayes factor reaches ``1 / alpha``. If the
    rate does not change, the Bayes factor is a martingale of mean 1 under the posterior of the
    earlier rate. By Ville's inequality it then ever reaches ``1 / alpha`` with probability <=
    alpha, for any length of the wave and any number of looks (Robbins, "Statistical methods
    related to the law of the iterated logarithm", Ann. Math. Stat. 41, 1970; Johari et al.,
    "Always valid inference", Operations Research 70, 2022). The guarantee holds on average over
    the posterior of the earlier rate, not for every single rate. People differ in their rates, so
    that trials of one person are not independent: the Bayes factor is then raised to the power
    1 / dispersion, as a quasi-likelihood. Error rates by simulation: docs/reference/verdicts.md.

    Parameters
    ----------
    hits, tries : int
        Hits and trials of the earlier wave.
    wave : sequence of bool
        Trials of the new wave in order: True for a hit (a rejected batch).
    alpha : float
        Probability of a false alarm over the whole wave if the rate does not change.
    dispersion : float
        Of :func:`estimate_dispersion`; 1 for independent trials.

    Examples
    --------
    >>> departure(5, 100, [True, False, True, True, True]).raised_at
    4
    >>> departure(5, 100, [False] * 50).raised_at is None
    True
    """
    if not 0 < alpha < 1:
        raise BadSetting(f"must be > 0 and < 1 (got {alpha})", argument="alpha", value=alpha)
    if dispersion < 1:
        raise BadSetting(f"must be >= 1 (got {dispersion})", argument="dispersion")
    threshold = 1.0 / alpha
    if not tries or not len(wave):
        return Departure(None, False, 1.0, threshold)
    factors = bayes_factors(hits, tries, wave) ** (1.0 / dispersion)
    alarms = np.flatnonzero(factors >= threshold)
    raised_at = int(alarms[0]) + 1 if alarms.size else None
    tested = np.asarray(wave[: raised_at or len(wave)], dtype=bool)
    return Departure(
        raised_at=raised_at,
        rises=bool(tested.mean() > hits / tries),
        evidence=float(factors.max()),
        threshold=threshold,
    )


def chance_below(right: int, asked: int, level: float) -> float:
    """Return the posterior probability that an annotator's accuracy is below a level.

    With ``right`` correct answers to ``asked`` gold documents and a uniform prior, the posterior
    is ``Beta(1 + right, 1 + asked - right)``.

    Examples
    --------
    >>> round(chance_below(0, 4, 0.5), 4)
    0.9688
    >>> chance_below(0, 0, 0.5)
    0.5
    """
    if not 0 <= right <= asked:
        raise BadSetting(
            f"must be between 0 and `asked`, which is {asked} (got {right})",
            argument="right",
            value=right,
        )
    from scipy.special import betainc

    return float(betainc(1 + right, 1 + asked - right, level))
