"""Copies among systems, and groups of systems that stand clear of every later one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from venire.arrays import Floats, Longs

COPY_DISTANCE = 0.02
"""Root mean square difference over topics up to which two systems count as copies; a choice."""
CLEAR_T = 4.0
"""Paired t from which a system is clearly below the top group; a choice."""


def order_distinct(
    scores: Floats, systems: Sequence[str]
) -> tuple[Longs, tuple[tuple[str, str], ...]]:
    """Return the rows of the systems that are no copies, best first, and the copies.

    Systems with the same mean come in the order of their names. Each copy is returned with the
    system that it counts as.
    """
    names = np.asarray(systems, dtype=str)
    order = np.lexsort((names, -scores.sum(axis=1)))
    distinct, counts_as = merge_copies(scores[order])
    copies = tuple(
        (str(names[order[row]]), str(names[order[original]]))
        for row, original in enumerate(counts_as)
        if row != original
    )
    return order[distinct], copies


def merge_copies(scores: Floats) -> tuple[list[int], list[int]]:
    """Return the rows that stay, and for every row the one it counts as.

    A row counts as the first row before it that stays and differs from it by at most
    ``COPY_DISTANCE`` (root mean square over topics). Rows come best first.
    """
    distinct: list[int] = []
    counts_as: list[int] = []
    topics = max(scores.shape[1], 1)
    for row, values in enumerate(scores):
        distances = np.sqrt(((scores[distinct] - values) ** 2).sum(axis=1) / topics)
        near = np.flatnonzero(distances <= COPY_DISTANCE)
        counts_as.append(distinct[near[0]] if len(near) else row)
        if not len(near):
            distinct.append(row)
    return distinct, counts_as


def size_of_top_group(scores: Floats) -> int:
    """Return the size of the smallest top group, of two systems or more, that stands clear.

    Rows come best first. Where no group stands clear, all systems are in it.
    """
    return next((size for size in find_clear_cuts(scores) if size > 1), len(scores))


def find_clear_cuts(scores: Floats) -> list[int]:
    """Return the sizes of all top groups that every later system is clearly below.

    Rows come best first. Every system of such a group is ahead of every later one by a paired t of
    ``CLEAR_T`` or more.
    """
    systems, topics = scores.shape
    if topics < 2:
        return []
    means = scores.mean(axis=1)
    centred = scores - means[:, None]
    squares = (centred**2).sum(axis=1)
    spread = squares[:, None] + squares[None, :] - 2 * centred @ centred.T
    deviation = np.sqrt(np.maximum(spread, 0.0) / (topics - 1))
    limit = CLEAR_T * np.maximum(deviation, 1e-12) / math.sqrt(topics)
    is_clear = means[:, None] - means[None, :] > limit
    return [size for size in range(1, systems) if is_clear[:size, size:].all()]
