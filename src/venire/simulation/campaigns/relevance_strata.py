"""Pairs grouped by what topic and runs alone predict of their labels."""

from __future__ import annotations

import numpy as np

from venire.arrays import Floats, Longs
from venire.evaluation.ranks import RankTable

STRATA = 8
MOST_TOPICS = 300
"""With more topics than this, they are no features: the matrix would be too large."""
PENALTIES = 10.0 ** np.arange(-1, 4.1, 0.5)
TOPIC_WEIGHT = 2.0


def stratify_pairs(mean_label: Floats, table: RankTable) -> Longs:
    """Return the stratum of each pair: eight groups by the predicted mean label.

    The prediction is a ridge regression of the mean label on ``1 / log2(rank + 1)`` in each run,
    their sum, and the topic. Each pair is predicted without its own labels (leave one out), with
    the penalty of least squared error. Without strata, a model of the labels would take all
    systems to be alike before it saw a label, and draw them together.

    Parameters
    ----------
    mean_label : float64 [P]
        In the order of ``table.pairs``.
    table : RankTable

    Returns
    -------
    int64 [P]
        0 .. 7.
    """
    features = _build_features(table)
    y = mean_label - mean_label.mean()
    u, s, _ = np.linalg.svd(features, full_matrices=False)
    projected = u.T @ y
    squares = u**2
    best_error, predicted = np.inf, np.zeros(y.size)
    for penalty in PENALTIES:
        shrink = s**2 / (s**2 + penalty)
        leverage = np.minimum(squares @ shrink, 1 - 1e-9)
        left_out = (u @ (shrink * projected) - leverage * y) / (1 - leverage)
        error = float(((y - left_out) ** 2).sum())
        if error < best_error:
            best_error, predicted = error, left_out
    edges = np.quantile(predicted, np.arange(1, STRATA) / STRATA)
    strata: Longs = np.searchsorted(edges, predicted).astype(np.int64)
    return strata


def _build_features(table: RankTable) -> Floats:
    """Return the features of each pair, each column centred [P, runs + 1 (+ topics)]."""
    weight = np.zeros((len(table.pairs), len(table.runs)))
    weight[table.pair, table.run] = 1.0 / np.log2(table.rank + 1.0)
    columns = np.hstack([weight, weight.sum(axis=1, keepdims=True)])
    columns = (columns - columns.mean(axis=0)) / (columns.std(axis=0) + 1e-9)
    if len(table.topics) <= MOST_TOPICS:
        topics = TOPIC_WEIGHT * np.eye(len(table.topics))[table.topic]
        columns = np.hstack([columns, topics - topics.mean(axis=0)])
    features: Floats = columns
    return features
