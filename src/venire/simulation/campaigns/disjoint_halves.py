"""Orders of systems from disjoint halves of the judgments, extrapolated to any number of judges.

Two disjoint sets of ``j0`` judgments per pair give two orders of the systems; t is their mean
tau. Where the difference of two systems is normal, the expected tau of two orders is
``2/pi asin(r)``, r the correlation of the differences (Greiner 1909), so ``r = sin(pi t / 2)``.
Spearman and Brown's formula (1910) lengthens r from ``j0`` to j judgments.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from venire.arrays import Floats, Longs, Shorts
from venire.compilation import jit
from venire.simulation.campaigns.settled_grades import settle_counts

UNSETTLED = -1
"""Position of the grade of a pair with too few judgments for both halves."""


def find_half_size(per_pair: Longs) -> int:
    """Return j0: half of the median number of judgments per pair, rounded down; 1 at least."""
    return max(1, int(np.median(per_pair)) // 2)


@jit
def draw_halves(
    indptr: Longs,
    label: Shorts,
    chance: Floats,
    middle: Floats,
    grades: Floats,
    is_majority: bool,
) -> Longs:
    """Settle two disjoint random sets of the judgments of each pair.

    Parameters
    ----------
    indptr, label
        Labels sorted by pair.
    chance : float64 [P, 2 j0]
        Uniform numbers.
    middle, grades, is_majority
        As for :func:`venire.simulation.campaigns.settled_grades.settle_counts`.

    Returns
    -------
    int64 [2, P]
        Positions of grades; ``UNSETTLED`` for a pair with fewer than 2 j0 judgments.
    """
    size = chance.shape[1] // 2
    settled = np.full((2, indptr.size - 1), UNSETTLED, np.int64)
    counts = np.zeros((2, grades.size), np.int64)
    for p in range(indptr.size - 1):
        if indptr[p + 1] - indptr[p] < 2 * size:
            continue
        labels = label[indptr[p] : indptr[p + 1]].copy()
        counts[:] = 0
        for j in range(2 * size):
            other = j + int(chance[p, j] * (labels.size - j))
            labels[j], labels[other] = labels[other], labels[j]
            counts[j // size, labels[j]] += 1
        for half in range(2):
            settled[half, p] = settle_counts(counts[half], middle, grades, is_majority)
    return settled


def lengthen(tau: float, half_size: int, judges: Sequence[int]) -> tuple[Floats, Floats]:
    """Return expected taus for numbers of judges, from the mean tau of disjoint halves.

    Parameters
    ----------
    tau : float
        Mean tau t of the orders under two disjoint sets of ``half_size`` judgments per pair.
    half_size : int
    judges : sequence of int [G]

    Returns
    -------
    replicated, settled : float64 [G]
        ``2/pi asin(r_j)``, with the order under j judgments of another crowd, and
        ``2/pi asin(sqrt(r_j))``, with the order under infinitely many judgments, where
        ``r_j = k r / (1 + (k - 1) r)``, ``r = sin(pi t / 2)``, ``k = j / half_size``. A negative
        t counts as 0.

    Examples
    --------
    Halves of one judgment each with a tau of 1/3: r is 1/2, with two judges 2/3.

    >>> replicated, settled = lengthen(1 / 3, 1, [1, 2])
    >>> replicated.round(4).tolist(), settled.round(4).tolist()
    ([0.3333, 0.4646], [0.5, 0.6082])
    """
    r = np.sin(np.pi / 2 * min(max(tau, 0.0), 1.0))
    k = np.asarray(judges, dtype=np.float64) / half_size
    r_j = np.minimum(k * r / (1 + (k - 1) * r), 1.0)
    return 2 / np.pi * np.arcsin(r_j), 2 / np.pi * np.arcsin(np.sqrt(r_j))
