"""A share with its interval, and the difference of two shares with its own."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from venire.errors import BadSetting

Z95 = 1.959963984540054
Z99 = 2.5758293035489004


@dataclass(frozen=True)
class Proportion:
    """A share: ``hits`` of ``tries``, its value and the ends of its interval.

    All three are None where there were no tries: nothing is known then.
    """

    hits: int
    tries: int
    value: float | None
    low: float | None
    high: float | None


def wilson(hits: int, tries: int, z: float = Z95) -> Proportion:
    """Return a share with Wilson's score interval.

    ``(p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)``; it never leaves 0 to 1 and
    holds for few tries and for shares near 0 and 1. Wilson, "Probable inference, the law of
    succession, and statistical inference" (JASA 1927); recommended for small n by Brown, Cai
    and DasGupta, "Interval estimation for a binomial proportion" (Statistical Science 2001).

    Parameters
    ----------
    hits, tries : int
    z : float
        Quantile of the normal distribution; that of a 95% interval by default.

    Raises
    ------
    BadSetting
        More hits than tries, or a negative number.

    Examples
    --------
    >>> share = wilson(8, 10)
    >>> share.value, round(share.low, 3), round(share.high, 3)
    (0.8, 0.49, 0.943)
    """
    if not 0 <= hits <= tries:
        raise BadSetting(f"{hits} of {tries} is no share")
    if tries == 0:
        return Proportion(0, 0, None, None, None)
    p = hits / tries
    middle = p + z * z / (2 * tries)
    half = z * sqrt(p * (1 - p) / tries + z * z / (4 * tries * tries))
    whole = 1 + z * z / tries
    # At the ends the formula is 0 or 1 exactly; rounding would miss it.
    low = 0.0 if hits == 0 else max(0.0, (middle - half) / whole)
    high = 1.0 if hits == tries else min(1.0, (middle + half) / whole)
    return Proportion(hits, tries, p, low, high)


def difference(first: Proportion, second: Proportion, z: float = Z95) -> tuple[float, float, float]:
    """Return ``first - second`` of two independent shares, and the ends of its interval.

    Newcombe's method 10: with Wilson's ends l and u,
    ``d - sqrt((p1 - l1)^2 + (u2 - p2)^2)`` to ``d + sqrt((u1 - p1)^2 + (p2 - l2)^2)``.
    Newcombe, "Interval estimation for the difference between independent proportions:
    comparison of eleven methods" (Statistics in Medicine 1998).

    Raises
    ------
    BadSetting
        One of them has no tries.

    Examples
    --------
    >>> [round(x, 4) for x in difference(wilson(56, 70), wilson(48, 80))]
    [0.2, 0.0524, 0.3339]
    """
    first, second = wilson(first.hits, first.tries, z), wilson(second.hits, second.tries, z)
    if first.value is None or second.value is None:
        raise BadSetting("a share without tries has no difference from another")
    # For mypy: ends are there where the value is.
    l1, u1 = first.low or 0.0, first.high or 0.0
    l2, u2 = second.low or 0.0, second.high or 0.0
    p1, p2 = first.value, second.value
    d = p1 - p2
    return d, d - sqrt((p1 - l1) ** 2 + (u2 - p2) ** 2), d + sqrt((u1 - p1) ** 2 + (p2 - l2) ** 2)
