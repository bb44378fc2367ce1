"""Proportions and differences of two proportions, with confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from venire.errors import BadSetting

Z95 = 1.959963984540054
Z99 = 2.5758293035489004


@dataclass(frozen=True)
class Proportion:
    """A proportion, ``hits`` of ``tries``, with the ends of its confidence interval.

    Value and ends are None (undefined) if ``tries`` is 0.
    """

    hits: int
    tries: int
    value: float | None
    low: float | None
    high: float | None


def wilson(hits: int, tries: int, z: float = Z95) -> Proportion:
    """Return a proportion with Wilson's score interval.

    ``(p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)``. The interval lies within 0 to
    1, and its coverage is good for small n and for proportions near 0 and 1. Wilson, "Probable
    inference, the law of succession, and statistical inference" (JASA 1927); recommended for
    small n by Brown, Cai and DasGupta, "Interval estimation for a binomial proportion"
    (Statistical Science 2001).

    Parameters
    ----------
    hits, tries : int
    z : float
        Quantile of the normal distribution; by default that of a 95% interval.

    Raises
    ------
    BadSetting
        More hits than tries, or a negative number.

    Examples
    --------
    >>> accuracy = wilson(8, 10)
    >>> accuracy.value, round(accuracy.low, 3), round(accuracy.high, 3)
    (0.8, 0.49, 0.943)
    """
    if not 0 <= hits <= tries:
        raise BadSetting(
            f"must be between 0 and the {tries} tries (got {hits})", argument="hits", value=hits
        )
    if tries == 0:
        return Proportion(0, 0, None, None, None)
    p = hits / tries
    centre = p + z * z / (2 * tries)
    half_width = z * sqrt(p * (1 - p) / tries + z * z / (4 * tries * tries))
    divisor = 1 + z * z / tries
    # For 0 hits or 0 misses the formula gives exactly 0 or 1, up to rounding.
    low = 0.0 if hits == 0 else max(0.0, (centre - half_width) / divisor)
    high = 1.0 if hits == tries else min(1.0, (centre + half_width) / divisor)
    return Proportion(hits, tries, p, low, high)


def difference(first: Proportion, second: Proportion, z: float = Z95) -> tuple[float, float, float]:
    """Return the difference of two independent proportions, and the ends of its interval.

    Newcombe's method 10: ``d - sqrt((p1 - l1)^2 + (u2 - p2)^2)`` to
    ``d + sqrt((u1 - p1)^2 + (p2 - l2)^2)``, with d = p1 - p2 and Wilson's intervals l to u.
    Newcombe, "Interval estimation for the difference between independent proportions:
    comparison of eleven methods" (Statistics in Medicine 1998).

    Raises
    ------
    BadSetting
        One of the proportions has no tries.

    Examples
    --------
    >>> [round(x, 4) for x in difference(wilson(56, 70), wilson(48, 80))]
    [0.2, 0.0524, 0.3339]
    """
    first, second = wilson(first.hits, first.tries, z), wilson(second.hits, second.tries, z)
    if first.value is None or second.value is None:
        raise BadSetting("The difference of two proportions needs at least one try of each")
    # For mypy: low and high are numbers if value is.
    l1, u1 = first.low or 0.0, first.high or 0.0
    l2, u2 = second.low or 0.0, second.high or 0.0
    p1, p2 = first.value, second.value
    d = p1 - p2
    return d, d - sqrt((p1 - l1) ** 2 + (u2 - p2) ** 2), d + sqrt((u1 - p1) ** 2 + (p2 - l2) ** 2)
