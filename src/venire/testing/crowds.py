"""Simulated crowds for the checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from venire.tables.judgments import Judgments
from venire.tables.scale import Scale


def make_crowd(
    seed: int,
    *,
    items: int = 60,
    people: int = 12,
    per_item: int = 5,
    size: int = 4,
    good: Sequence[float] = (0.5, 0.97),
) -> tuple[Judgments, np.ndarray[Any, Any]]:
    """Simulate a crowd with known grades; each annotator has their own accuracy.

    Parameters
    ----------
    seed : int
    items, people, per_item : int
        Number of items, of annotators, and of judgments per item.
    size : int
        Number of grades.
    good : pair of float
        Lowest and highest accuracy of an annotator.

    Returns
    -------
    Judgments, int array
        The judgments, and the true grade of each item ``("q<i % 5>", "d<i>")``.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, size, items)
    skill = np.linspace(good[0], good[1], people)
    rows = []
    for item in range(items):
        for who in rng.permutation(people)[:per_item]:
            right = rng.random() < skill[who]
            label = truth[item] if right else rng.integers(0, size)
            # Ids sort in another order than they appear: 10 before 9.
            rows.append((f"q{item % 5}", f"d{item}", f"w{who}", int(label)))
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "annotator_id", "label"], orient="row")
    return Judgments.of(frame, scale=Scale.of(range(size))), truth
