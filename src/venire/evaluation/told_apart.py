"""Find the pairs of systems that the topics tell apart, whatever systems stand beside them.

A test over all systems, such as the randomised Tukey HSD, finds fewer pairs where a hopeless
system widens the range, or where copies add to the number of systems. So copies count once, and
the systems are cut into groups that stand clear (:mod:`venire.evaluation.clear_groups`). Systems of
different groups are told apart: they differ by a paired t of 4 or more. Within a group the
randomised Tukey HSD decides, and likewise among the copies of a system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise, product

import numpy as np
from numpy.typing import ArrayLike

from venire.arrays import Floats, Mask
from venire.errors import BadSetting
from venire.evaluation.clear_groups import find_clear_cuts, order_distinct
from venire.evaluation.paired_tests import compute_tukey_p

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
    apart_copies : frozenset of (str, str)
        Better and worse of two copies that differ little, but more than by chance.
    topics : int
    """

    systems: tuple[str, ...]
    apart: Mask
    copies: tuple[tuple[str, str], ...]
    apart_copies: frozenset[tuple[str, str]]
    topics: int

    def find_better(self, first: str, second: str) -> str | None:
        """Return the system of a pair that is better; None where the topics do not tell.

        Against other systems a copy counts as the system that it is a copy of.

        Examples
        --------
        >>> scores = np.array([[0.1, 0.2, 0.1, 0.3, 0.2, 0.1], [0.5, 0.6, 0.7, 0.5, 0.6, 0.7]])
        >>> tell_apart(scores, ["a", "b"]).find_better("a", "b")
        'b'
        """
        places = self._places
        at_first, at_second = places[first], places[second]
        low, high = sorted((at_first, at_second))
        if low == high:
            ordered = ((first, second), (second, first))
            return next((pair[0] for pair in ordered if pair in self.apart_copies), None)
        if not self._is_apart[low, high]:
            return None
        return first if at_first < at_second else second

    @cached_property
    def _places(self) -> dict[str, int]:
        """Row of every system, copies too."""
        places = {system: row for row, system in enumerate(self.systems)}
        return places | {copy: places[original] for copy, original in self.copies}

    @cached_property
    def _is_apart(self) -> Mask:
        count = len(self.systems)
        is_apart = np.zeros((count, count), dtype=bool)
        is_apart[np.triu_indices(count, 1)] = self.apart
        return is_apart

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
    every = np.asarray(values, dtype=np.float64)
    rows, copies = order_distinct(every, systems)
    scores = every[rows]
    count, topics = scores.shape
    is_apart = np.ones((count, count), dtype=bool)
    for first, end in pairwise([0, *find_clear_cuts(scores), count]):
        high, low = np.triu_indices(end - first, 1)
        is_apart[high + first, low + first] = _test_pairs(scores[first:end], permutations, seed)
    return ToldApart(
        systems=tuple(systems[row] for row in rows),
        apart=is_apart[np.triu_indices(count, 1)],
        copies=copies,
        apart_copies=_test_copies(every, systems, copies, permutations, seed),
        topics=topics,
    )


def _test_pairs(scores: Floats, permutations: int, seed: int) -> Mask:
    """Return whether the randomised Tukey HSD tells each pair apart, as ``triu_indices``."""
    pairs = list(combinations(range(len(scores)), 2))
    if not pairs or scores.shape[1] < 2:
        return np.zeros(len(pairs), dtype=bool)
    p = compute_tukey_p(scores, pairs, permutations, np.random.default_rng(seed))
    return p < LEVEL


def _test_copies(
    scores: Floats,
    systems: Sequence[str],
    copies: Sequence[tuple[str, str]],
    permutations: int,
    seed: int,
) -> frozenset[tuple[str, str]]:
    """Return the better and the worse of copies that differ; equal ones are tested once."""
    row_of = {system: row for row, system in enumerate(systems)}
    copies_of: dict[str, list[str]] = {}
    for copy, original in copies:
        copies_of.setdefault(original, [original]).append(copy)
    apart: set[tuple[str, str]] = set()
    for family in copies_of.values():
        members: dict[bytes, list[str]] = {}
        for system in family:
            members.setdefault(scores[row_of[system]].tobytes(), []).append(system)
        distinct = list(members.values())
        tested = scores[[row_of[equal[0]] for equal in distinct]]
        is_apart = _test_pairs(tested, permutations, seed)
        for (at_one, at_other), differs in zip(
            combinations(range(len(distinct)), 2), is_apart, strict=True
        ):
            if differs:  # rows come best first
                apart.update(product(distinct[at_one], distinct[at_other]))
    return frozenset(apart)
