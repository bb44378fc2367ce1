"""Compare the order of systems under every two groups of annotators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from venire.arrays import Floats, Mask
from venire.evaluation.paired_tests import compare_systems
from venire.evaluation.score import Scores
from venire.stats.rank_correlation import RankCorrelation, tau_ap_b, tau_b_many

Row = dict[str, Any]
TOLD_APART = 0.05
"""Two systems are told apart where the p of the randomised Tukey HSD is below this level."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options that :func:`venire.reliability.repeatability.compare_groups` describes."""

    pairs: str
    relevant_from: float
    topics: str
    ties: str
    permutations: int
    bootstrap: int
    seed: int


def compare_orders(
    names: Sequence[str], scores: list[Scores], is_counted: Mask, options: Options
) -> tuple[list[Row], list[Row]]:
    """Return rows on the order of the systems, and on swapped pairs, for every two groups."""
    orders: list[Row] = []
    swaps: list[Row] = []
    weights = _draw_topics(is_counted, options)
    for m, measure in enumerate(scores[0].measures):
        told_apart = [_find_told_apart(group, m, options) for group in scores]
        resampled = [weights @ group.values[m].T for group in scores]
        for a, b in combinations(range(len(names)), 2):
            means = scores[a].mean[m], scores[b].mean[m]
            order = RankCorrelation.of(scores[a].runs, *means)
            low, high = None, None
            if is_counted.sum() > 1:
                low, high = _interval(tau_b_many(resampled[a], resampled[b]))
            told_apart_by = {
                pair: [names[group] for group in (a, b) if frozenset(pair) in told_apart[group]]
                for pair in order.swapped
            }
            label = {"measure": str(measure), "first": names[a], "second": names[b]}
            orders.append(
                {
                    **label,
                    "tau": order.tau,
                    "tau_low": low,
                    "tau_high": high,
                    "tau_ap": tau_ap_b(*means),
                    "pairs": order.pairs,
                    "swapped": len(order.swapped),
                    "matter": sum(bool(groups) for groups in told_apart_by.values()),
                    "largest_shift": order.largest_shift,
                }
            )
            swaps += [
                {
                    **label,
                    "better": better,
                    "worse": worse,
                    "told_apart_by": ", ".join(groups) or "neither",
                }
                for (better, worse), groups in told_apart_by.items()
            ]
    return orders, swaps


def _draw_topics(is_counted: Mask, options: Options) -> Floats:
    """Return how often each topic is in each bootstrap sample [bootstrap, topics]."""
    size = int(is_counted.sum())
    drawn = np.random.default_rng(options.seed).multinomial(
        size, np.full(size, 1 / max(size, 1)), size=options.bootstrap
    )
    weights = np.zeros((options.bootstrap, is_counted.size))
    weights[:, is_counted] = drawn
    return weights


def _find_told_apart(scores: Scores, measure: int, options: Options) -> set[frozenset[str]]:
    """Return the pairs of systems with a randomised Tukey HSD p below ``TOLD_APART``."""
    if scores.counted.all(axis=0).sum() < 2:
        return set()
    comparisons = compare_systems(
        scores, measure, permutations=options.permutations, bootstraps=1, seed=options.seed
    )
    return {
        frozenset((comparison.first, comparison.second))
        for comparison in comparisons
        if comparison.p_tukey is not None and comparison.p_tukey < TOLD_APART
    }


def _interval(values: Floats) -> tuple[float | None, float | None]:
    """Return the 95% percentile interval; None where half of the values or more are undefined."""
    known = values[~np.isnan(values)]
    if known.size <= values.size / 2:
        return None, None
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)
