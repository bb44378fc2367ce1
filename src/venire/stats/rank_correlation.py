"""Compare rankings of the same systems: ranks, Kendall's tau-b, AP correlation, swapped pairs."""

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


def rank_scores(scores: ArrayLike) -> Longs:
    """Return the rank of each system, from 1; systems with equal scores share the best rank.

    Parameters
    ----------
    scores : array [..., n]
        Greater is better.

    Examples
    --------
    >>> rank_scores([0.3, 0.5, 0.3, 0.1]).tolist()
    [2, 1, 2, 4]
    """
    values = np.asarray(scores, dtype=np.float64)
    better: Longs = (values[..., None, :] > values[..., :, None]).sum(axis=-1)
    return better + 1


def tau_b(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return Kendall's tau-b of two scorings of the same systems; None if it is undefined.

    ``(concordant - discordant) / sqrt((pairs - ties of first) (pairs - ties of second))``
    (Kendall 1945). Undefined for fewer than two systems, or if all tie in one scoring.

    Parameters
    ----------
    first, second : array [n]
        Scores; greater is better.

    Examples
    --------
    >>> round(tau_b([3, 2, 1], [3, 1, 2]), 4)
    0.3333
    """
    tau = float(tau_b_many(first, second))
    return None if np.isnan(tau) else tau


def tau_b_many(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return :func:`tau_b` of many scorings at once; nan if it is undefined.

    Parameters
    ----------
    first, second : array [n] or [S, n]
        Scores; greater is better. One scoring is compared with each of S others.

    Returns
    -------
    float64 [S], or without a dimension for two single scorings.

    Examples
    --------
    One of six pairs is swapped, then none:

    >>> tau_b_many([4, 3, 2, 1], [[4, 3, 1, 2], [8, 7, 6, 5]]).round(4).tolist()
    [0.6667, 1.0]
    """
    a, b = _pair_signs(first, second)
    squares = np.abs(a).sum(axis=-1) * np.abs(b).sum(axis=-1).astype(np.float64)
    norm = np.sqrt(squares)
    tau: Floats = np.divide(
        (a * b).sum(axis=-1), norm, out=np.full(norm.shape, np.nan), where=norm > 0
    )
    return tau


def count_swaps(first: ArrayLike, second: ArrayLike) -> Longs:
    """Return the number of pairs of systems in opposite order; a tie is not a swap.

    Parameters
    ----------
    first, second : array [n] or [S, n]
        Scores; greater is better. One scoring is compared with each of S others.

    Returns
    -------
    int64 [S], or without a dimension for two single scorings.

    Examples
    --------
    >>> count_swaps([3, 2, 1], [[3, 1, 2], [1, 2, 3], [1, 1, 1]]).tolist()
    [1, 3, 0]
    """
    a, b = _pair_signs(first, second)
    swaps: Longs = (a * b < 0).sum(axis=-1)
    return swaps


def tau_ap(truth: ArrayLike, estimate: ArrayLike) -> float | None:
    """Return the AP correlation of an estimated ranking with the true ranking.

    ``2/(n-1) sum_{i>=2} C(i)/(i-1) - 1``, where C(i) is the number of systems above rank i of the
    estimate that are above it in the truth too (Yilmaz, Aslam and Robertson, SIGIR 2008). Swaps
    near the top of the estimate cost most. The coefficient is not symmetric. For systems that tie
    in the estimate, it is the mean over all orders of the tied systems (Urbano and Marrero, ICTIR
    2017). A pair that ties in the truth counts one half, so even two equal scorings have a
    coefficient below 1 if there are ties. If neither ranking is the truth, use :func:`tau_ap_b`.

    Parameters
    ----------
    truth, estimate : array [n]
        Scores; greater is better.

    Examples
    --------
    >>> round(tau_ap([3, 2, 1], [2, 3, 1]), 4)
    0.0
    """
    a, b = _ordered_signs(truth, estimate)
    n = len(a)
    if n < 2:
        return None
    # is_above[i, j]: whether j ranks above i in the truth; one half for a tie.
    is_above = (np.where(a == 0, 0.5, a < 0)).astype(np.float64)
    np.fill_diagonal(is_above, 0.0)
    right_above = (is_above * (b < 0)).sum(axis=1)
    right_tied = (is_above * (b == 0)).sum(axis=1)
    above, group_size = (b < 0).sum(axis=1), (b == 0).sum(axis=1)
    total = 0.0
    for right, right_in_group, first, size in zip(
        right_above, right_tied, above, group_size, strict=True
    ):
        # Each of the `size` tied systems is equally often at each of their ranks.
        systems_above = np.arange(size) + first
        share_above = np.arange(size) / max(size - 1, 1)
        is_defined = systems_above > 0
        term = (right + share_above * right_in_group)[is_defined] / systems_above[is_defined]
        total += float(term.sum()) / int(size)
    return 2.0 * total / (n - 1) - 1.0


def tau_ap_b(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the symmetric AP correlation of two rankings, neither of which is the truth.

    The mean of both directions of ``2/m sum_i C(i)/(p_i - 1) - 1``, over the m systems that are
    not in the top group of tied systems. p_i is the first rank of the tied group of system i.
    C(i) is the number of systems that are above this group, and above i in the other ranking
    (tau_ap,b of Urbano and Marrero, ICTIR 2017). Two equal scorings have a coefficient of 1, with
    or without ties. None (undefined) for fewer than two systems, or if all tie in one scoring.

    Parameters
    ----------
    first, second : array [n]
        Scores; greater is better.

    Examples
    --------
    >>> tau_ap_b([2, 1, 1], [2, 1, 1]), tau_ap([2, 1, 1], [2, 1, 1])
    (1.0, 0.75)
    """
    a, b = _ordered_signs(first, second)
    if not (a.any() and b.any()):
        return None
    return (_tau_ap_b_one_way(a, b) + _tau_ap_b_one_way(b, a)) / 2


def _tau_ap_b_one_way(a: Longs, b: Longs) -> float:
    above = (b < 0).sum(axis=1)
    is_below_top = above > 0
    right = ((a < 0) & (b < 0)).sum(axis=1)
    return float(2.0 * (right[is_below_top] / above[is_below_top]).mean() - 1.0)


@dataclass(frozen=True)
class RankCorrelation:
    """The comparison of two rankings of the same systems.

    Attributes
    ----------
    tau, tau_ap : float or None
        None if undefined; ``reason`` states why.
    swapped : tuple of (str, str)
        Pairs of systems in opposite order; the first of each is better in the first ranking.
    pairs : int
        Number of pairs of systems.
    largest_shift : int
        Largest number of ranks that a system moves.
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
        a, b = _ordered_signs(first, second)
        if len(names) != len(a):
            raise BadSetting(
                f"must have one name per score (got {len(names)} names for {len(a)} scores)",
                argument="names",
            )
        swapped = tuple(
            (names[i], names[j]) if a[i, j] > 0 else (names[j], names[i])
            for i, j in combinations(range(len(names)), 2)
            if a[i, j] * b[i, j] < 0
        )
        tau = tau_b(first, second)
        reason = None if tau is not None else TOO_FEW if len(names) < 2 else ALL_TIED
        shifts = np.abs(rank_scores(first) - rank_scores(second))
        return cls(
            tau=tau,
            tau_ap=tau_ap(first, second) if tau is not None else None,
            swapped=swapped,
            pairs=len(names) * (len(names) - 1) // 2,
            largest_shift=int(shifts.max(initial=0)),
            reason=reason,
        )


def _pair_signs(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """Return the order of each pair of systems in both scorings: 1, -1 or 0 [..., pairs]."""
    values = _check_scores(first, second)
    i, j = np.triu_indices(values[0].shape[-1], 1)
    a, b = (np.sign(scores[..., i] - scores[..., j]) for scores in values)
    return a, b


def _ordered_signs(first: ArrayLike, second: ArrayLike) -> tuple[Longs, Longs]:
    """Return per pair of systems whether i is better (1), worse (-1) or equal (0) [n, n]."""
    values = _check_scores(first, second)
    if values[0].ndim != 1 or values[1].ndim != 1:
        raise BadSetting("A comparison needs two scorings of the same systems")
    a, b = (np.sign(scores[:, None] - scores[None, :]).astype(np.int64) for scores in values)
    return a, b


def _check_scores(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    a, b = (np.asarray(scores, dtype=np.float64) for scores in (first, second))
    if not (a.ndim and b.ndim and a.shape[-1] == b.shape[-1]):
        raise BadSetting("A comparison needs two scorings of the same systems")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise BadSetting("Scores of systems must be finite numbers")
    return a, b
