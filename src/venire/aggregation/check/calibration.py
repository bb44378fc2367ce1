"""Calibration of grades: reliability of probabilities, coverage of intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from venire.aggregation.calibration import find_known_rows
from venire.aggregation.posterior import Posterior
from venire.errors import BadSetting, NoOverlap
from venire.tables.qrels import Qrels

BINS = 10
HALF_WIDTH = 1.959963984540054
"""Half the width of a 95% interval, in standard deviations."""


@dataclass(frozen=True)
class ReliabilityDiagram:
    """Accuracy of the most probable grades, by their probability.

    Attributes
    ----------
    bins : polars.DataFrame
        ``from, to, pairs, confidence, right``; bins without pairs are left out.
    error : float
        Expected calibration error: the mean difference of confidence and share right, with
        bins weighted by their pairs.
    coverage : float
        Share of known grades within the mean plus or minus 1.96 sd.
    pairs : int
    """

    bins: pl.DataFrame
    error: float
    coverage: float
    pairs: int


def build_reliability_diagram(
    posterior: Posterior, gold: Qrels, *, bins: int = BINS
) -> ReliabilityDiagram:
    r"""Return the reliability diagram of the known pairs.

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
        raise BadSetting(f"must be >= 1 (got {bins})", argument="bins", value=bins)
    rows, grade = find_known_rows(posterior.items, gold, posterior.scale.array())
    if not rows.size:
        raise NoOverlap(f"None of the {len(gold):,} known pairs was judged.")
    confidence = posterior.probabilities[rows].max(axis=1)
    right = posterior.mode[rows] == grade
    bin_number = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    count = np.bincount(bin_number, minlength=bins)
    divisor = np.maximum(count, 1)
    mean_confidence = np.bincount(bin_number, weights=confidence, minlength=bins) / divisor
    share_right = np.bincount(bin_number, weights=right, minlength=bins) / divisor
    frame = pl.DataFrame(
        {
            "from": np.arange(bins) / bins,
            "to": (np.arange(bins) + 1) / bins,
            "pairs": count,
            "confidence": mean_confidence,
            "right": share_right,
        }
    ).filter(pl.Series(count > 0))
    known = posterior.scale.array()[grade]
    distance = np.abs(known - posterior.mean[rows])
    within = distance <= HALF_WIDTH * posterior.items["sd"].to_numpy()[rows] + 1e-12
    return ReliabilityDiagram(
        bins=frame,
        error=float(np.sum(count * np.abs(share_right - mean_confidence)) / count.sum()),
        coverage=float(within.mean()),
        pairs=int(rows.size),
    )
