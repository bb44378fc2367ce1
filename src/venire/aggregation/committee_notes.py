"""Notes of a committee: its weights, its calibration, and where its members disagree."""

from __future__ import annotations

import numpy as np
import polars as pl

from venire.aggregation.calibration import FEWEST, Calibration
from venire.aggregation.posterior import Posterior
from venire.aggregation.weights import Combination
from venire.arrays import Floats
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR

NAMED_PAIRS = 3
"""Pairs that the notes name."""


def prefix_notes(names: list[str], results: list[Posterior], shared: tuple[str, ...]) -> list[str]:
    """Return the notes of the members, each with its name, without those of the judgments."""
    return [
        f"{name}: {note}"
        for name, result in zip(names, results, strict=True)
        for note in result.notes
        if note not in shared
    ]


def describe_weights(
    names: list[str],
    weights: Combination,
    calibration: Calibration | None,
    known: int,
    gold: Qrels | None,
) -> list[str]:
    """Return notes on the weights of the members and on the calibration."""
    if calibration is None:
        why = "no known grades" if gold is None else f"{known} known grades, fewer than {FEWEST}"
        parts = [f"{name} {w:.2f}" for name, w in zip(names, weights.weight, strict=True)]
        return [
            "weights by how well each member foretells annotators it never saw: "
            f"{', '.join(parts)}; NOT calibrated: {why}"
        ]
    parts = [
        f"{name} {w:.2f} ({a:.2f} + {b:.2f} x)"
        for name, w, a, b in zip(names, *weights, strict=True)
    ]
    return [
        f"weights learnt from known grades, one line per member: {', '.join(parts)}",
        calibration.describe(),
    ]


def describe_disagreement(
    names: list[str], distance: Floats, split: Floats, items: pl.DataFrame
) -> list[str]:
    """Return notes on the member that differs most, and on the pairs to judge again first."""
    if not split.size or not float(split.max()) > 0.0:
        return []
    error = np.sqrt(np.mean(distance**2, axis=0))
    far = int(np.argmax(error))
    pairs = items.select(PAIR).with_columns(pl.Series("split", np.round(split, 9)))
    first = pairs.sort(["split", *PAIR], descending=[True, False, False]).head(NAMED_PAIRS)
    named = ", ".join(f"{query}/{doc} ({sd:.2f})" for query, doc, sd in first.iter_rows())
    return [
        f"{names[far]} is furthest from the others: {error[far]:.2f} grades",
        f"the models disagree most on {named} (sd in grades): judge these pairs again first",
    ]
