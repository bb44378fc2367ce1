"""Counts over judgments."""

from __future__ import annotations

import numpy as np

from venire.arrays import Floats, Ints, Longs, Shorts
from venire.compilation import jit


@jit
def soft_counts(
    indptr: Longs,
    annotator: Ints,
    label: Shorts,
    grades: Floats,
    n_annotators: int,
) -> Floats:
    """Return counts [N, grade, label]: each judgment weighted by its item's grade probabilities."""
    size = grades.shape[1]
    out = np.zeros((n_annotators, size, size))
    for m in range(indptr.size - 1):
        for j in range(indptr[m], indptr[m + 1]):
            for grade in range(size):
                out[annotator[j], grade, label[j]] += grades[m, grade]
    return out


@jit
def votes(indptr: Longs, label: Shorts, size: int) -> Floats:
    """Return the number of judgments of each label [M, K]."""
    out = np.zeros((indptr.size - 1, size))
    for m in range(indptr.size - 1):
        for j in range(indptr[m], indptr[m + 1]):
            out[m, label[j]] += 1.0
    return out


@jit
def pool_adjacent(above: Floats, weight: Floats) -> Floats:
    """Return the nearest non-increasing rows, keeping each row's weighted sum.

    Pool-adjacent-violators (Ayer et al. 1955) on P(z > k) for k = 1..K-1.
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
        at = 0
        for block in range(blocks):
            for _ in range(length[block]):
                out[i, at] = level[block]
                at += 1
    return out
