"""Which runs a test would have caught a judge favouring."""

from __future__ import annotations

import numpy as np
import polars as pl

from venire.arrays import Floats
from venire.progress import Event, Progress, silent
from venire.reliability.favoured_system import NO_DISAGREEMENT, TOP, Comparison

ACCEPT = 0.5
"""Probability that the simulated judge raises a document of the favoured run, as in the article."""
SEEN = 0.8
"""Share of the trials with a finding from which a favour would have been seen."""
FEWEST_TRIALS, MOST_TRIALS = 10, 40
TRIALS = 3000
"""Number of trials over all runs and judges, within the bounds per run."""
FEWEST_PAIRS = 20
"""A run with fewer audited pairs in its first ten was not audited."""
BATCH = 100
"""Number of trials computed at once; bounds the memory."""


def estimate_power(
    comparison: Comparison,
    *,
    level: float = 0.05,
    judges: int = 1,
    seed: int = 0,
    progress: Progress = silent,
) -> pl.DataFrame:
    """Add a known favour of each run to the judge's grades, and count how often it is found.

    The favour: each pair among the first five of the run that the judge grades below the middle of
    the scale is raised to it with probability ``ACCEPT``. The middle is the smallest grade in use
    of at least half of the largest. A trial finds it where some familywise p is below
    ``level / judges``.

    Parameters
    ----------
    comparison : Comparison
    level : float
    judges : int
        Number of judges that are tested.
    seed : int
    progress : callable

    Returns
    -------
    polars.DataFrame
        One row per run of the table: ``run_id``; ``pairs``, audited pairs in its first documents;
        ``raisable``, pairs among its first five that can be raised; ``found``, the share of the
        trials with a finding, null where the run was not audited; ``trials``.
    """
    table = comparison.table
    sizes = (comparison.weight > 0).sum(axis=1)
    middle = _find_middle(comparison)
    is_low = comparison.judge < middle
    top = [comparison.is_top((run,), TOP) & is_low for run in range(len(table.runs))]
    shares: list[float | None] = [None] * len(table.runs)
    audited = []
    if comparison.reason in ("", NO_DISAGREEMENT):
        audited = [copy for copy in comparison.copies if sizes[copy[0]] >= FEWEST_PAIRS]
    trials = min(max(TRIALS // max(len(audited) * judges, 1), FEWEST_TRIALS), MOST_TRIALS)
    # The smallest p of the flips must lie below the corrected level.
    flips = max(199, int(np.ceil(2 * judges / level)) - 1)
    step = max(BATCH // trials, 1)
    for first in range(0, len(audited), step):
        batch = audited[first : first + step]
        draws = np.random.default_rng([seed, first]).random((len(batch), trials, top[0].size))
        is_raised = (draws < ACCEPT) & np.stack([top[copy[0]] for copy in batch])[:, None, :]
        grades = np.where(is_raised, middle, comparison.judge)
        outcome = comparison.statistic.test(_flatten(grades), flips, seed)
        is_found = (outcome.p.min(axis=0) < level / judges).reshape(len(batch), trials)
        for copy, share in zip(batch, is_found.mean(axis=1).tolist(), strict=True):
            for run in copy:
                shares[run] = share
        progress(Event("Runs whose favour would be seen", first + len(batch), len(audited)))
    return pl.DataFrame(
        {
            "run_id": table.runs,
            "pairs": sizes,
            "raisable": [int(mask.sum()) for mask in top],
            "found": shares,
            "trials": [None if share is None else trials for share in shares],
        },
        schema_overrides={"found": pl.Float64, "trials": pl.Int64},
    ).sort("run_id")


def _flatten(grades: Floats) -> Floats:
    """Return grades [runs, trials, N] as [N, runs x trials]."""
    return np.ascontiguousarray(grades.reshape(-1, grades.shape[2]).T)


def _find_middle(comparison: Comparison) -> float:
    """Return the smallest grade in use of at least half of the largest."""
    in_use = np.unique(comparison.judge)
    return float(in_use[in_use >= in_use.max(initial=0.0) / 2].min(initial=np.inf))
