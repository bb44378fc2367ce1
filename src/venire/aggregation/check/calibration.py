"""Are grades as sure as they say: reliability of probabilities, coverage of intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from venire.aggregation.calibration import known_rows
from venire.aggregation.posterior import Posterior
from venire.errors import BadSetting, NoOverlap
from venire.tables.qrels import Qrels

BINS = 10
WIDTH = 1.959963984540054
"""Half of a 95% interval, in standard deviations."""


@dataclass(frozen=True)
class ReliabilityDiagram:
    """How often the most probable grade is right, by how probable it is said to be.

    Attributes
    ----------
    bins : polars.DataFrame
        ``from, to, pairs, confidence, right``: bins without pairs are left out.
    error : float
        Expected calibration error: the mean gap of confidence and share right, bins
        weighted by their pairs.
    coverage : float
        Share of known grades within the mean plus or minus 1.96 sd.
    pairs : int
    """

    bins: pl.DataFrame
    error: float
    coverage: float
    pairs: int


def reliability_diagram(
    posterior: Posterior, gold: Qrels, *, bins: int = BINS
) -> ReliabilityDiagram:
    r"""Return how confidence and correctness go together on known pairs.

    .. math:: ECE = \sum_b \frac{n_b}{n} \lvert \mathrm{right}_b - \mathrm{confidence}_b \rvert

    Source: Guo et al., "On calibration of modern neural networks" (ICML 2017), with bins of
    equal width.

    Parameters
    ----------
    posterior : Posterior
    gold : Qrels
    bins : int

    Raises
    ------
    NoOverlap
        When no known pair was judged.
    """
    if bins < 1:
        raise BadSetting(f"bins must be at least 1, not {bins}")
    rows, grade = known_rows(posterior.items, gold, posterior.scale.array())
    if not rows.size:
        raise NoOverlap(f"none of the {len(gold):,} known pairs was judged")
    confidence = posterior.probabilities[rows].max(axis=1)
    right = posterior.mode[rows] == grade
    at = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    count = np.bincount(at, minlength=bins)
    there = count > 0
    divide = np.maximum(count, 1)
    said = np.bincount(at, weights=confidence, minlength=bins) / divide
    found = np.bincount(at, weights=right, minlength=bins) / divide
    frame = pl.DataFrame(
        {
            "from": np.arange(bins) / bins,
            "to": (np.arange(bins) + 1) / bins,
            "pairs": count,
            "confidence": said,
            "right": found,
        }
    ).filter(pl.Series(there))
    known = posterior.scale.array()[grade]
    off = np.abs(known - posterior.mean[rows])
    within = off <= WIDTH * posterior.items["sd"].to_numpy()[rows] + 1e-12
    return ReliabilityDiagram(
        bins=frame,
        error=float(np.sum(count * np.abs(found - said)) / count.sum()),
        coverage=float(within.mean()),
        pairs=int(rows.size),
    )
