"""The loop of all iterative models: sweep over shards, sum the statistics, update the state.

A model gives a :class:`Problem` with ``sweep(state, shard) -> statistics``,
``reduce(state, parts) -> statistics, objective`` and ``update(state, statistics) -> state``.
The loop does not know where a shard is processed, so that any engine can be used: threads,
processes, a cluster.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from venire.arrays import Longs
from venire.engine import Engine, default_engine, is_cancelled
from venire.errors import BadSetting
from venire.progress import Event, Progress, silent, tell_reader
from venire.settings import Settings, setting

State = TypeVar("State")

MAX_SHARDS = 8
JUDGMENTS_PER_SHARD = 20_000


class Shard(NamedTuple):
    """Consecutive blocks (items, or categories of items) that are processed together."""

    start: int
    stop: int


class Problem(Protocol[State]):
    """One fit of a model to the integer codes of its judgments."""

    @property
    def blocks(self) -> Longs:
        """Number of judgments before each block, [blocks + 1]; shards are cut between blocks."""

    def sweep(self, state: State, shard: Shard) -> Any:
        """Return the statistics of one shard at a state."""

    def reduce(self, state: State, parts: Iterable[Any]) -> tuple[Any, float]:
        """Add the statistics of all shards in their order; return them and the objective."""

    def update(self, state: State, statistics: Any) -> State:
        """Return the next state."""


class IterativeModel(Settings):
    """Settings of an iterative model: checked by their rules, and all numbers finite."""

    name: ClassVar[str]
    objective: ClassVar[str] = "log-likelihood"
    """What the model maximises."""
    tolerance: float
    max_iterations: int
    shards: int | None

    def __post_init__(self) -> None:
        """Check every setting.

        Raises
        ------
        BadSetting, UnknownName
        """
        super().__post_init__()
        for field in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            value = getattr(self, field.name)
            if isinstance(value, float) and not math.isfinite(value):
                raise BadSetting(
                    f"must be a finite number (got {value})", argument=field.name, value=value
                )


def declare_tolerance(default: float, objective: str) -> Any:
    """Return the field of the setting ``tolerance``."""
    return setting(default, words=f"Stop when the {objective} changes by less than this.", above=0)


def declare_max_iterations(words: str = "Maximum number of iterations.") -> Any:
    """Return the field of the setting ``max_iterations``."""
    return setting(1000, words=words, least=1)


def declare_shards(words: str = "Number of parts into which the items are cut.") -> Any:
    """Return the field of the setting ``shards``."""
    return setting(
        None,
        words=f"{words} By default one per {JUDGMENTS_PER_SHARD:,} judgments, at most "
        f"{MAX_SHARDS}.",
        least=1,
    )


def cut_shards(weight_before: Longs, shards: int | None = None) -> list[Shard]:
    """Cut blocks into shards with about equal numbers of judgments.

    Parameters
    ----------
    weight_before : int64 [blocks + 1]
        Judgments before each block.
    shards : int, optional
        Number of shards; by default one per 20,000 judgments, at most 8. The number does
        not depend on the machine, so that sums do not either.
    """
    blocks = weight_before.size - 1
    total = int(weight_before[-1])
    if shards is None:
        shards = min(MAX_SHARDS, max(1, total // JUDGMENTS_PER_SHARD))
    if shards < 1:
        raise BadSetting(f"must be >= 1 (got {shards})", argument="shards", value=shards)
    goals = total * np.arange(1, shards) / shards
    edges = np.searchsorted(weight_before, goals)
    edges = np.unique(np.concatenate([[0], edges, [blocks]]))
    if edges.size == 1:
        return [Shard(0, 0)]
    return [Shard(int(a), int(b)) for a, b in pairwise(edges)]


@dataclass(frozen=True)
class Fit:
    """The end of one run of the loop.

    Attributes
    ----------
    state : object
        The last state.
    bounds : tuple of float
        The objective (log-likelihood or ELBO) at every iteration.
    converged : bool
        Whether it changed by less than the tolerance.
    """

    state: Any
    bounds: tuple[float, ...]
    converged: bool


def announce_compilation(kernel: Any, progress: Progress) -> None:
    """Report that a kernel is about to be compiled, unless it is compiled already.

    Without a progress callable, a terminal or notebook gets one line.
    """
    from venire.compilation import is_compiled

    if not is_compiled(kernel):
        event = Event("compiling, once", 0, None)
        if progress is silent:
            tell_reader(event)
        else:
            progress(event)


def run(
    problem: Problem[State],
    state: State,
    model: IterativeModel,
    *,
    engine: Engine | None,
    progress: Progress,
    task: str = "",
) -> Fit:
    """Sweep and update until the objective changes by less than the tolerance.

    ``converged`` is true only if it did: running out of iterations is not convergence.

    Parameters
    ----------
    problem : Problem
    state : State
        The first state.
    model : IterativeModel
        ``tolerance``, ``max_iterations`` and ``shards``.
    engine : Engine or None
        Where shards are processed; None for threads.
    progress : Progress
    task : str
        What progress events call the work; by default the name of the model.
    """
    shards = cut_shards(problem.blocks, model.shards)
    engine = engine or default_engine()
    bounds: list[float] = []
    for iteration in range(model.max_iterations):
        if is_cancelled():
            break
        statistics, bound = problem.reduce(state, engine.map(partial(problem.sweep, state), shards))
        bounds.append(bound)
        detail = f"{model.objective} {bound:,.1f}"
        progress(Event(task or model.name, iteration + 1, model.max_iterations, detail))
        if not math.isfinite(bound):
            break
        if iteration and abs(bound - bounds[-2]) < model.tolerance:
            return Fit(state, tuple(bounds), converged=True)
        state = problem.update(state, statistics)
    return Fit(state, tuple(bounds), converged=False)
