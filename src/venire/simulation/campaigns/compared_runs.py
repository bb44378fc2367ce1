"""Which runs a question about their order is about: not copies, not runs far below the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from venire.arrays import Floats, Longs
from venire.evaluation.ranks import RankTable

FAR_BELOW = 0.5
"""A run with less than this share of the score of every other one may be left out."""
TOLD_APART = 4.0
"""Paired t over topics by which it must be worse than each of them, too."""


def drop_copies(table: RankTable) -> tuple[RankTable, list[str]]:
    """Return the table without runs that rank the pairs exactly as another does, and a note.

    The first run by name stays. A copy adds no order of its own, and would weigh one run twice.
    """
    run, topics = table.run, len(table.topics)
    retrieved = table.retrieved.reshape(len(table.runs), topics)
    first: dict[bytes, int] = {}
    kept_runs, copies = [], []
    for number, name in enumerate(table.runs):
        is_run = run == number
        ranking = np.concatenate(
            [table.segment[is_run] % topics, table.rank[is_run], table.pair[is_run],
             retrieved[number]]
        )  # fmt: skip
        original = first.setdefault(ranking.tobytes(), number)
        if original == number:
            kept_runs.append(number)
        else:
            copies.append(f"{name} (as {table.runs[original]})")
    notes = [f"runs with the same ranking count once: {', '.join(copies)} left out"]
    return select_runs(table, np.array(kept_runs, np.int64)), notes if copies else []


def find_contenders(scores: Floats) -> Longs:
    """Return the runs without those far below all others, in the order of the table.

    Runs that score 0 in every topic are left out. The others are sorted by their mean score. The
    contenders are the smallest group of two or more at
    the top such that every later run has less than half the score of the last of them, and is
    worse than each of them by a paired t of 4 or more. Nobody asks for the order of the others,
    and each adds pairs that always keep their order: so they raise every tau.

    Parameters
    ----------
    scores : float64 [runs, topics]

    Examples
    --------
    >>> scores = np.array([[0.7, 0.8, 0.9], [0.0, 0.01, 0.0], [0.6, 0.8, 0.8]])
    >>> find_contenders(scores).tolist()
    [0, 2]
    """
    runs, topics = scores.shape
    mean = scores.mean(axis=1)
    scoring = np.flatnonzero(scores.any(axis=1))
    if scoring.size < 2:
        return np.arange(runs)
    if topics < 2:
        return scoring
    order = scoring[np.argsort(-mean[scoring], kind="stable")]
    for size in range(2, scoring.size):
        top, rest = order[:size], order[size:]
        if mean[rest].max() >= FAR_BELOW * mean[top].min():
            continue
        difference = scores[top][:, None, :] - scores[rest][None, :, :]
        error = np.maximum(difference.std(axis=2, ddof=1), 1e-12) / np.sqrt(topics)
        if (difference.mean(axis=2) >= TOLD_APART * error).all():
            return np.sort(top)
    return scoring


def select_runs(table: RankTable, runs: Longs) -> RankTable:
    """Return the table with some of its runs only.

    Parameters
    ----------
    table : RankTable
    runs : int64
        Places in ``table.runs``, increasing.
    """
    topics = len(table.topics)
    place = np.full(len(table.runs), -1)
    place[runs] = np.arange(runs.size)
    new_run = place[table.run]
    is_kept = new_run >= 0
    return replace(
        table,
        runs=[table.runs[number] for number in runs],
        segment=new_run[is_kept] * topics + table.segment[is_kept] % topics,
        rank=table.rank[is_kept],
        pair=table.pair[is_kept],
        retrieved=table.retrieved.reshape(-1, topics)[runs].reshape(-1),
    )
