"""Made-up crowds for the checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from venire.tables.judgments import Judgments
from venire.tables.scale import Scale


def crowd(
    seed: int,
    *,
    items: int = 60,
    people: int = 12,
    per_item: int = 5,
    size: int = 4,
    good: Sequence[float] = (0.5, 0.97),
) -> tuple[Judgments, np.ndarray[Any, Any]]:
    """Make a crowd whose truth is known: who is right with a chance of their own.

    Returns
    -------
    Judgments, int array
        And the true grade of each item ``("q<i % 5>", "d<i>")``.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, size, items)
    skill = np.linspace(good[0], good[1], people)
    rows = []
    for item in range(items):
        for who in rng.permutation(people)[:per_item]:
            right = rng.random() < skill[who]
            label = truth[item] if right else rng.integers(0, size)
            # Names sort otherwise than they appear: 10 before 9.
            rows.append((f"q{item % 5}", f"d{item}", f"w{who}", int(label)))
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "annotator_id", "label"], orient="row")
    return Judgments.of(frame, scale=Scale.of(range(size))), truth
