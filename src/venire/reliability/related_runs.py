"""Group runs that rank the same documents high."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from venire.arrays import Floats, Longs

SIMILAR = 0.3
"""Smallest mean correlation of weights within a group."""
LARGEST_SHARE = 0.34
"""Largest share of the runs in a group: the other runs must be able to speak for the truth."""


def rank_weights(
    run: Longs, rank: Longs, pair: Longs, shape: tuple[int, int], depth: int
) -> Floats:
    """Return the weight of each pair for each run [runs, pairs].

    1 / log2(rank + 1) down to ``depth``, and 0 below and for what the run did not retrieve.

    Parameters
    ----------
    run, rank, pair : int64 [H]
        One entry per retrieved pair.
    shape : (runs, pairs)
    depth : int
    """
    is_near = rank <= depth
    weight = np.zeros(shape)
    weight[run[is_near], pair[is_near]] = 1.0 / np.log2(rank[is_near] + 1.0)
    return weight


def merge_copies(weight: Floats) -> list[tuple[int, ...]]:
    """Return the runs with the same weights as one tuple each, in order; runs without any left out.

    Examples
    --------
    >>> merge_copies(np.array([[1.0, 0.5], [0.0, 0.0], [0.5, 1.0], [1.0, 0.5]]))
    [(0, 3), (2,)]
    """
    copies: dict[bytes, list[int]] = {}
    for run in np.flatnonzero(weight.any(axis=1)).tolist():
        copies.setdefault(weight[run].tobytes(), []).append(run)
    return [tuple(runs) for runs in copies.values()]


def list_groups(weight: Floats) -> list[tuple[int, ...]]:
    """Return every run alone, and every branch of the tree of similar runs.

    The tree is made by average linkage (Sokal and Michener 1958) on the correlation of weights. A
    branch is a group where its mean correlation is at least ``SIMILAR`` and it has at most
    ``LARGEST_SHARE`` of the runs.

    Parameters
    ----------
    weight : float64 [runs, pairs]

    Examples
    --------
    >>> list_groups(np.array([[1, 0.5, 0, 0], [1, 0.4, 0, 0], [0, 0, 1, 0.5], [0, 1, 0, 0],
    ...                       [0, 0, 0, 1], [0.2, 0, 0, 1]]))
    [(0,), (1,), (2,), (3,), (4,), (5,), (0, 1), (4, 5)]
    """
    size = len(weight)
    groups: list[tuple[int, ...]] = [(run,) for run in range(size)]
    if size < 3:
        return groups
    centred = weight - weight.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1))
    centred /= np.where(length > 0, length, 1.0)[:, None]
    distance = 1.0 - centred @ centred.T
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(np.maximum(distance, 0.0), checks=False), "average")
    branches = list(groups)
    for left, right, height, _ in tree.tolist():
        branch = tuple(sorted(branches[int(left)] + branches[int(right)]))
        branches.append(branch)
        if height <= 1 - SIMILAR and len(branch) <= LARGEST_SHARE * size:
            groups.append(branch)
    return groups
