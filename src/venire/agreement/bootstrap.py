"""Every figure of resampled topics.

A resample is a weighted sum of the topics' tables, so that none is counted again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from venire.arrays import Floats
from venire.errors import BadSetting
from venire.stats.topic_bootstrap import draw_topics

CELLS = 4_000_000
"""Numbers held at once."""


def resample(
    tables: Sequence[Floats],
    figures: Callable[..., Mapping[str, Floats]],
    *,
    times: int,
    seed: int,
) -> dict[str, Floats]:
    """Return every figure of resampled topics, by name [times]; nan where undefined.

    Parameters
    ----------
    tables : sequence of float [T, ...]
        What the figures are made of, one row a topic.
    figures : callable
        Takes the summed tables ([n, ...] each) and returns figures [n] by name.
    times : int
        Number of resamples.
    seed : int

    Raises
    ------
    BadSetting
        For a number of resamples below 1.
    """
    if times < 1:
        raise BadSetting(f"bootstrap is a number of resamples, at least 1, not {times}")
    n_topics = tables[0].shape[0]
    random = np.random.default_rng(seed)
    width = max([n_topics, *(int(np.prod(table.shape[1:])) for table in tables)])
    step = max(1, CELLS // max(width, 1))
    parts: list[Mapping[str, Floats]] = []
    for start in range(0, times, step):
        size = min(step, times - start)
        drawn = draw_topics(n_topics, size, random).astype(np.float64)
        sums = [
            (drawn @ table.reshape(n_topics, -1)).reshape(size, *table.shape[1:])
            for table in tables
        ]
        parts.append(figures(*sums))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
