"""How alike two rankings of the same systems are, and which pairs of systems swap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from venire.arrays import Floats, Longs
from venire.errors import BadSetting

TOO_FEW = "fewer than two systems"
ALL_TIED = "all systems tie in one of the rankings"


def places(scores: ArrayLike) -> Longs:
    """Return the place of each system, from 1; systems with equal scores share the best place.

    Examples
    --------
    >>> places([0.3, 0.5, 0.3, 0.1]).tolist()
    [2, 1, 2, 4]
    """
    values = np.asarray(scores, dtype=np.float64)
    out: Longs = 1 + (values[None, :] > values[:, None]).sum(axis=1)
    return out


def tau_b(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return Kendall's tau-b of two scorings of the same systems; None where it is undefined.

    ``(concordant - discordant) / sqrt((pairs - ties of first) (pairs - ties of second))``
    (Kendall 1945). Undefined for fewer than two systems, or where all tie in one scoring.

    Parameters
    ----------
    first, second : array [n]
        Scores; greater is better.

    Examples
    --------
    >>> round(tau_b([3, 2, 1], [3, 1, 2]), 4)
    0.3333
    """
    a, b = _signs(first, second)
    below = float(np.sqrt((a != 0).sum() * float((b != 0).sum())))
    return float((a * b).sum()) / below if below else None


def taus_b(first: Floats, second: Floats) -> Floats:
    """Return :func:`tau_b` of many pairs of scorings at once [S]; nan where it is undefined.

    Parameters
    ----------
    first, second : float64 [S, n]
        Scores; greater is better.

    Examples
    --------
    >>> taus_b(np.array([[3.0, 2, 1]]), np.array([[3.0, 1, 2]])).round(4).tolist()
    [0.3333]
    """
    one, other = np.triu_indices(first.shape[1], 1)
    a, b = (np.sign(scores[:, one] - scores[:, other]) for scores in (first, second))
    below = np.sqrt((a != 0).sum(axis=1) * (b != 0).sum(axis=1).astype(np.float64))
    found: Floats = np.divide(
        (a * b).sum(axis=1), below, out=np.full(below.shape, np.nan), where=below > 0
    )
    return found


def tau_ap(truth: ArrayLike, estimate: ArrayLike) -> float | None:
    """Return the AP correlation: swaps near the top of the estimate cost most.

    ``2/(n-1) sum_{i>=2} C(i)/(i-1) - 1``, with C(i) the systems above place i of the estimate
    that are above it in the truth too (Yilmaz, Aslam and Robertson, SIGIR 2008). It is not
    symmetric. Where systems tie in the estimate, it is the mean over all orders of the tied
    (Urbano and Marrero, ICTIR 2017); a pair that ties in the truth counts one half, so that even
    equal scorings with ties have less than 1. Where neither is the truth: :func:`tau_ap_b`.

    Parameters
    ----------
    truth, estimate : array [n]
        Scores; greater is better.

    Examples
    --------
    >>> round(tau_ap([3, 2, 1], [2, 3, 1]), 4)
    0.0
    """
    a, b = _signs(truth, estimate)
    n = len(a)
    if n < 2:
        return None
    # right[i, j]: how far it is right that j stands above i.
    right = (np.where(a == 0, 0.5, a < 0)).astype(np.float64)
    np.fill_diagonal(right, 0.0)
    above = (right * (b < 0)).sum(axis=1)
    tied = (right * (b == 0)).sum(axis=1)
    before, size = (b < 0).sum(axis=1), (b == 0).sum(axis=1)
    total = 0.0
    for out, inside, first, width in zip(above, tied, before, size, strict=True):
        # Each of the `width` tied systems is equally often at each of their places.
        ahead = np.arange(width) + first
        among = np.arange(width) / max(width - 1, 1)
        term = (out + among * inside)[ahead > 0] / ahead[ahead > 0]
        total += float(term.sum()) / int(width)
    return 2.0 * total / (n - 1) - 1.0


def tau_ap_b(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the AP correlation of two rankings of which neither is the truth, as tau-b with ties.

    The mean of both directions of ``2/m sum_i C(i)/(p_i - 1) - 1``, over the m systems that are
    not in the top group, p_i the first place of i's tied group, C(i) the systems above that group
    which are above i in the other ranking too (tau_ap,b of Urbano and Marrero, ICTIR 2017).
    Equal scorings have 1, tied or not. None for fewer than two systems, or where all tie in one.

    Parameters
    ----------
    first, second : array [n]
        Scores; greater is better.

    Examples
    --------
    >>> tau_ap_b([2, 1, 1], [2, 1, 1]), tau_ap([2, 1, 1], [2, 1, 1])
    (1.0, 0.75)
    """
    a, b = _signs(first, second)
    if not (a.any() and b.any()):
        return None
    return (_ap_above_groups(a, b) + _ap_above_groups(b, a)) / 2


def _ap_above_groups(a: Longs, b: Longs) -> float:
    before = (b < 0).sum(axis=1)
    below = before > 0
    right = ((a < 0) & (b < 0)).sum(axis=1)
    return float(2.0 * (right[below] / before[below]).mean() - 1.0)


@dataclass(frozen=True)
class RankCorrelation:
    """Two rankings of the same systems.

    Attributes
    ----------
    tau, tau_ap : float or None
        None where undefined; ``reason`` says why.
    swapped : tuple of (str, str)
        Pairs whose order turns round; the first of each is better in the first ranking.
    pairs : int
        Of systems.
    largest_shift : int
        Most places that a system moves.
    reason : str or None
    """

    tau: float | None
    tau_ap: float | None
    swapped: tuple[tuple[str, str], ...]
    pairs: int
    largest_shift: int
    reason: str | None = None

    @classmethod
    def of(cls, names: Sequence[str], first: ArrayLike, second: ArrayLike) -> RankCorrelation:
        """Compare two scorings of systems.

        Parameters
        ----------
        names : sequence of str [n]
        first, second : array [n]
            Scores; greater is better. The first is the truth of tau_ap.

        Examples
        --------
        >>> RankCorrelation.of(["a", "b", "c"], [3, 2, 1], [3, 1, 2]).swapped
        (('b', 'c'),)
        """
        a, b = _signs(first, second)
        if len(names) != len(a):
            raise BadSetting(f"{len(names)} names do not fit {len(a)} scores")
        swapped = tuple(
            (names[i], names[j]) if a[i, j] > 0 else (names[j], names[i])
            for i, j in combinations(range(len(names)), 2)
            if a[i, j] * b[i, j] < 0
        )
        tau = tau_b(first, second)
        reason = None if tau is not None else TOO_FEW if len(names) < 2 else ALL_TIED
        moved = np.abs(places(first) - places(second))
        return cls(
            tau=tau,
            tau_ap=tau_ap(first, second) if tau is not None else None,
            swapped=swapped,
            pairs=len(names) * (len(names) - 1) // 2,
            largest_shift=int(moved.max(initial=0)),
            reason=reason,
        )


def _signs(first: ArrayLike, second: ArrayLike) -> tuple[Longs, Longs]:
    """Return for each ordered pair of systems whether i is better (1), worse (-1) or equal."""
    values = [np.asarray(scores, dtype=np.float64) for scores in (first, second)]
    if values[0].ndim != 1 or values[0].shape != values[1].shape:
        raise BadSetting("two rankings to compare must score the same systems")
    if not all(np.isfinite(scores).all() for scores in values):
        raise BadSetting("a score to rank by is not a number")
    a, b = (np.sign(scores[:, None] - scores[None, :]).astype(np.int64) for scores in values)
    return a, b
