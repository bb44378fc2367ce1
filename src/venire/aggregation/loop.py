"""The loop that every iterative model runs in: shards in, statistics summed, state updated.

A model gives three functions: ``sweep(state, shard) -> statistics``,
``reduce(state, parts) -> statistics, bound`` and ``update(state, statistics) -> state``.
Nothing here knows where a shard is worked on, so threads, processes or a cluster serve alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from venire.arrays import Longs
from venire.engine import Engine, called_off
from venire.errors import BadSetting
from venire.progress import Event, Progress

State = TypeVar("State")

MOST_SHARDS = 8
JUDGMENTS_PER_SHARD = 20_000


class Shard(NamedTuple):
    """Consecutive blocks (items, or categories of items) that are worked on together."""

    start: int
    stop: int


def cut(weight_before: Longs, shards: int | None = None) -> list[Shard]:
    """Cut blocks into shards of about equal numbers of judgments.

    Parameters
    ----------
    weight_before : int64 [blocks + 1]
        Judgments before each block.
    shards : int, optional
        How many; by default one for every 20,000 judgments, at most 8. The number does
        not depend on the machine, so that sums do not either.
    """
    blocks = weight_before.size - 1
    total = int(weight_before[-1])
    if shards is None:
        shards = min(MOST_SHARDS, max(1, total // JUDGMENTS_PER_SHARD))
    if shards < 1:
        raise BadSetting(f"shards must be at least 1, not {shards}")
    goals = total * np.arange(1, shards) / shards
    edges = np.searchsorted(weight_before, goals)
    edges = np.unique(np.concatenate([[0], edges, [blocks]]))
    if edges.size == 1:
        return [Shard(0, 0)]
    return [Shard(int(a), int(b)) for a, b in pairwise(edges)]


@dataclass(frozen=True)
class Fit:
    """What the loop ended with."""

    state: Any
    bounds: tuple[float, ...]
    converged: bool


def iterate(
    state: State,
    shards: Sequence[Shard],
    sweep: Callable[[State, Shard], Any],
    reduce: Callable[[State, Iterable[Any]], tuple[Any, float]],
    update: Callable[[State, Any], State],
    *,
    engine: Engine,
    tolerance: float,
    max_iterations: int,
    progress: Progress,
    task: str,
) -> Fit:
    """Sweep and update until the bound changes by less than the tolerance.

    ``converged`` is true only if it did; running out of iterations is not convergence.
    """
    bounds: list[float] = []
    for iteration in range(max_iterations):
        if called_off():
            break
        statistics, bound = reduce(state, engine.map(partial(sweep, state), shards))
        bounds.append(bound)
        progress(Event(task, iteration + 1, max_iterations, f"bound {bound:,.1f}"))
        if not math.isfinite(bound):
            break
        if iteration and abs(bound - bounds[-2]) < tolerance:
            return Fit(state, tuple(bounds), converged=True)
        state = update(state, statistics)
    return Fit(state, tuple(bounds), converged=False)


def check_settings(model: Any) -> None:
    """Check the settings that iterative models share, and that numbers are finite.

    Raises
    ------
    BadSetting
    """
    for field in fields(model):
        value = getattr(model, field.name)
        if isinstance(value, float) and not math.isfinite(value):
            raise BadSetting(f"{field.name} must be a finite number, not {value}")
    if model.max_iterations < 1:
        raise BadSetting(f"max_iterations must be at least 1, not {model.max_iterations}")
    if not model.tolerance > 0:
        raise BadSetting(f"tolerance must be above 0, not {model.tolerance}")
    if model.shards is not None and model.shards < 1:
        raise BadSetting(f"shards must be at least 1, not {model.shards}")
