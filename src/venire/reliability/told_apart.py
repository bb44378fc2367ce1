"""Find the pairs of systems that the topics tell apart, whatever systems stand beside them.

A test over all systems, such as the randomised Tukey HSD, finds fewer pairs where a hopeless
system widens the range, or where copies add to the number of systems. So copies count once, and
the systems are cut into groups that stand clear (:mod:`venire.reliability.top_order`). Systems of
different groups are told apart: they differ by a paired t of 4 or more. Within a group the
randomised Tukey HSD decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike

from venire.arrays import Mask
from venire.errors import BadSetting
from venire.evaluation.paired_tests import compute_tukey_p
from venire.reliability.top_order import find_clear_cuts, order_distinct

LEVEL = 0.05


@dataclass(frozen=True)
class ToldApart:
    """The pairs of systems that the topics tell apart.

    Attributes
    ----------
    systems : tuple of str [S]
        Copies left out, best first.
    apart : bool [S (S - 1) / 2]
        Whether each pair is told apart, in the order of ``numpy.triu_indices``.
    copies : tuple of (str, str)
        System that counts as a copy, and the one that stays.
    topics : int
    """

    systems: tuple[str, ...]
    apart: Mask
    copies: tuple[tuple[str, str], ...]
    topics: int

    def count_worse(self) -> dict[str, int]:
        """Return for each system the number of systems that it is told apart from and ahead of."""
        high, _ = np.triu_indices(len(self.systems), 1)
        counts = np.bincount(high[self.apart], minlength=len(self.systems)).tolist()
        return dict(zip(self.systems, counts, strict=True))


def tell_apart(
    values: ArrayLike, systems: Sequence[str], *, permutations: int = 1000, seed: int = 0
) -> ToldApart:
    """Return the pairs of systems that the topics tell apart, at the level .05.

    Parameters
    ----------
    values : array [systems, topics]
        Scores; every system has every topic.
    systems : sequence of str
    permutations : int
        Number of permutations of the randomised Tukey HSD, per group.
    seed : int
        The same for every group.

    Raises
    ------
    BadSetting
        Fewer than one permutation.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.6, 0.7, 0.5, 0.6, 0.7], [0.1, 0.2, 0.1, 0.3, 0.2, 0.1]])
    >>> tell_apart(scores, ["a", "b"]).apart.tolist()
    [True]
    """
    if permutations < 1:
        raise BadSetting(
            f"must be >= 1 (got {permutations})", argument="permutations", value=permutations
        )
    scores = np.asarray(values, dtype=np.float64)
    rows, copies = order_distinct(scores, systems)
    scores = scores[rows]
    count, topics = scores.shape
    is_apart = np.ones((count, count), dtype=bool)
    for first, end in pairwise([0, *find_clear_cuts(scores), count]):
        pairs = list(combinations(range(end - first), 2))
        if not pairs:
            continue
        high, low = np.array(pairs).T + first
        is_apart[high, low] = False
        if topics > 1:
            rng = np.random.default_rng(seed)
            p = compute_tukey_p(scores[first:end], pairs, permutations, rng)
            is_apart[high, low] = p < LEVEL
    return ToldApart(
        systems=tuple(systems[row] for row in rows),
        apart=is_apart[np.triu_indices(count, 1)],
        copies=copies,
        topics=topics,
    )
