"""Compare the order of systems under every two groups of annotators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from venire.arrays import Floats, Mask
from venire.evaluation.score import Scores
from venire.evaluation.told_apart import tell_apart
from venire.stats.rank_correlation import RankCorrelation, tau_ap_b, tau_b_many
from venire.stats.topic_bootstrap import draw_topics, read_interval

Row = dict[str, Any]


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
                low, high, _ = read_interval(
                    tau_b_many(resampled[a], resampled[b]), int(is_counted.sum())
                )
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
    weights = np.zeros((options.bootstrap, is_counted.size))
    if size:
        rng = np.random.default_rng(options.seed)
        weights[:, is_counted] = draw_topics(size, options.bootstrap, rng)
    return weights


def _find_told_apart(scores: Scores, measure: int, options: Options) -> set[frozenset[str]]:
    """Return the pairs of systems that the common topics tell apart."""
    values = scores.values[measure][:, scores.counted.all(axis=0)]
    if values.shape[1] < 2:
        return set()
    told_apart = tell_apart(
        values, scores.runs, permutations=options.permutations, seed=options.seed
    )
    return {
        frozenset(pair)
        for pair in combinations(scores.runs, 2)
        if told_apart.find_better(*pair) is not None
    }
