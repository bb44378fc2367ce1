"""Counts of labels, weighted counts, and pooling of adjacent violators."""

from __future__ import annotations

import numpy as np

from venire.arrays import Floats, Ints, Longs, Shorts
from venire.compilation import jit


@jit
def count_soft_votes(
    indptr: Longs,
    annotator: Ints,
    label: Shorts,
    grades: Floats,
    n_annotators: int,
) -> Floats:
    """Return counts [N, grade, label], weighted by the grade probabilities of the items."""
    size = grades.shape[1]
    out = np.zeros((n_annotators, size, size))
    for m in range(indptr.size - 1):
        for j in range(indptr[m], indptr[m + 1]):
            for grade in range(size):
                out[annotator[j], grade, label[j]] += grades[m, grade]
    return out


@jit
def count_votes(indptr: Longs, label: Shorts, size: int) -> Floats:
    """Return the number of judgments of each label [M, K]."""
    out = np.zeros((indptr.size - 1, size))
    for m in range(indptr.size - 1):
        for j in range(indptr[m], indptr[m + 1]):
            out[m, label[j]] += 1.0
    return out


@jit
def pool_adjacent(above: Floats, weight: Floats) -> Floats:
    """Return the nearest non-increasing rows; the weighted sum of each row stays.

    Pool-adjacent-violators (Ayer et al. 1955) on P(z > k) for k = 1..K-1.

    Parameters
    ----------
    above : float64 [M, K - 1]
    weight : float64 [K - 1]
    """
    rows, size = above.shape
    out = np.empty((rows, size))
    level = np.empty(size)
    mass = np.empty(size)
    length = np.empty(size, np.int64)
    for i in range(rows):
        blocks = 0
        for k in range(size):
            level[blocks] = above[i, k]
            mass[blocks] = weight[k]
            length[blocks] = 1
            blocks += 1
            while blocks > 1 and level[blocks - 2] < level[blocks - 1]:
                total = mass[blocks - 2] + mass[blocks - 1]
                level[blocks - 2] = (
                    mass[blocks - 2] * level[blocks - 2] + mass[blocks - 1] * level[blocks - 1]
                ) / total
                mass[blocks - 2] = total
                length[blocks - 2] += length[blocks - 1]
                blocks -= 1
        column = 0
        for block in range(blocks):
            for _ in range(length[block]):
                out[i, column] = level[block]
                column += 1
    return out
