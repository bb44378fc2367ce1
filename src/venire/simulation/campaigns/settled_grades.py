"""Labels settled into one grade per pair, and how near such grades are to known ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from venire.arrays import Floats, Longs, Mask, Shorts
from venire.compilation import jit

RULES = ("mean", "majority")
TIE = 1e-9
DRAWS = 100
"""Draws of j of J judgments per pair, for the comparison with known grades."""


@jit
def settle_counts(counts: Longs, middle: Floats, grades: Floats, is_majority: bool) -> int:
    """Return the position of the grade that the labels of one pair settle on.

    Parameters
    ----------
    counts : int64 or float64 [K]
        Number of times each label was given.
    middle : float64 [K - 1]
        Midpoints of neighbouring grades.
    grades : float64 [K]
    is_majority : bool
        The most frequent label; else the grade nearest to the mean. The lower one of ties.
    """
    best = 0
    if is_majority:
        for k in range(1, counts.size):
            if counts[k] > counts[best]:
                best = k
        return best
    total = 0.0
    weight = 0.0
    for k in range(counts.size):
        total += counts[k] * grades[k]
        weight += counts[k]
    while best < middle.size and middle[best] < total / weight - TIE:
        best += 1
    return best


@jit
def draw_settled(
    indptr: Longs,
    label: Shorts,
    chance: Floats,  # [P, most] uniform numbers
    middle: Floats,
    grades: Floats,
    is_majority: bool,
    settled: Longs,  # [most, P] positions of grades, filled
) -> None:
    """Draw labels of each pair without replacement; settle the first 1, 2, ... of them."""
    counts = np.zeros(grades.size, np.int64)
    for p in range(indptr.size - 1):
        labels = label[indptr[p] : indptr[p + 1]].copy()
        counts[:] = 0
        for j in range(settled.shape[0]):
            other = j + int(chance[p, j] * (labels.size - j))
            labels[j], labels[other] = labels[other], labels[j]
            counts[labels[j]] += 1
            settled[j, p] = settle_counts(counts, middle, grades, is_majority)


def settle(counts: Longs | Floats, grades: Floats, rule: str) -> Longs:
    """Return the position of the grade that labels settle on; the lower one of ties.

    Parameters
    ----------
    counts : int64 or float64 [P, K]
        Number of times each label was given.
    grades : float64 [K]
    rule : "mean" or "majority"
    """
    if rule == "majority":
        return np.asarray(np.argmax(counts, axis=1), dtype=np.int64)
    total = counts.sum(axis=1)
    mean = counts @ grades / np.where(total > 0, total, 1)
    settled: Longs = np.searchsorted(midpoints(grades), mean - TIE, side="left").astype(np.int64)
    return settled


def midpoints(grades: Floats) -> Floats:
    """Return the midpoints of neighbouring grades [K - 1]."""
    middle: Floats = (grades[1:] + grades[:-1]) / 2
    return middle


def compare_grades(grades: Floats, truth: Floats) -> tuple[float, float, float]:
    """Return accuracy, Cohen's kappa and mean squared error of grades [P].

    Kappa is nan where both have one and the same grade only.
    """
    accuracy = float((grades == truth).mean())
    values = np.unique(np.concatenate([grades, truth]))
    chance = sum(float((grades == v).mean() * (truth == v).mean()) for v in values)
    kappa = (accuracy - chance) / (1 - chance) if chance < 1 else np.nan
    return accuracy, kappa, float(((grades - truth) ** 2).mean())


def compare_by_judges(
    indptr: Longs,
    label: Shorts,
    truth: Floats,
    is_used: Mask,
    grades: Floats,
    rule: str,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Compare the grades of j of J judgments per pair with known ones, for j = 1 .. J.

    J is the median number of judgments of the pairs used; pairs with fewer are left out. Each of
    100 draws is without replacement, so at j = J the draws differ only in pairs with more.

    Parameters
    ----------
    indptr, label
        Labels sorted by pair.
    truth : float64 [P]
        Known grades.
    is_used : bool [P]
        Pairs with a known grade.
    grades : float64 [K]
    rule : str
    rng : Generator

    Returns
    -------
    list of dict
        ``judges, accuracy, kappa, error`` (mean squared), each figure with its ``_sd``; and
        ``pairs``.
    """
    per_pair = np.diff(indptr)
    most = int(np.median(per_pair[is_used]))
    used = np.flatnonzero(is_used & (per_pair >= most))
    rows = np.concatenate([np.arange(indptr[p], indptr[p + 1]) for p in used])
    bounds = np.concatenate([[0], np.cumsum(per_pair[used])])
    figures = np.empty((DRAWS, most, 3))
    settled = np.empty((most, used.size), np.int64)
    for draw in range(DRAWS):
        chance = rng.random((used.size, most))
        draw_settled(
            bounds, label[rows], chance, midpoints(grades), grades, rule == "majority", settled
        )
        for j in range(most):
            figures[draw, j] = compare_grades(grades[settled[j]], truth[used])
    return [_summarise(j + 1, figures[:, j], used.size) for j in range(most)]


def _summarise(judges: int, figures: Floats, pairs: int) -> dict[str, Any]:
    row: dict[str, Any] = {"judges": judges}
    for column, name in enumerate(("accuracy", "kappa", "error")):
        known = figures[~np.isnan(figures[:, column]), column]
        row[name] = float(known.mean()) if known.size else None
        row[f"{name}_sd"] = float(known.std(ddof=1)) if known.size > 1 else None
    return {**row, "pairs": pairs}
