"""The fits of a committee: its members, and its members without each fold of annotators."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from venire.aggregation.committee_folds import (
    assign_annotators,
    leave_out,
    match_labels,
    sample_items,
)
from venire.aggregation.committee_members import (
    FOLD_POWER,
    SHARES,
    Opinions,
    Task,
    collect_opinions,
    find_shares,
    fit_tasks,
    make_member,
    set_prior,
)
from venire.aggregation.committee_weights import learn_from_strangers
from venire.aggregation.posterior import Posterior
from venire.arrays import Floats
from venire.engine import Engine
from venire.progress import Event, Progress
from venire.tables.judgments import Judgments

FOLD_ITERATIONS = 60
"""Maximum number of iterations of a member without a fold of annotators."""


@dataclass(frozen=True)
class Fitting:
    """The fits of one committee: of its members, and of its members without each fold."""

    max_iterations: int
    shards: int | None
    seed: int
    engine: Engine
    progress: Progress

    def fit_members(
        self, judgments: Judgments, names: list[str], start: Posterior | None
    ) -> tuple[dict[str, Posterior], Floats | None]:
        """Return the result of each member, and the shares of the grades."""
        shared = {"max_iterations": self.max_iterations, "shards": self.shards}
        earlier = start.state if start is not None else {}
        first = [name for name in names if name in SHARES]
        rest = [name for name in names if name not in SHARES]
        count = Count(self.progress, len(names), "members")
        results: dict[str, Posterior] = {}
        shares: Floats | None = None
        for stage in (first, rest):
            tasks = [
                Task(
                    name,
                    set_prior(name, make_member(name, **shared), shares, 1.0),
                    judgments,
                    earlier.get(name),
                )
                for name in stage
            ]
            results |= dict(zip(stage, self._run(tasks, count), strict=True))
            shares = find_shares(results)
        return {name: results[name] for name in names}, shares

    def learn_weights(
        self, judgments: Judgments, names: list[str], shares: Floats | None
    ) -> dict[str, float]:
        """Return the weight of each member: how well it foretells annotators left out."""
        default = np.array([float(name in SHARES) for name in names])
        if not default.any():
            default[:] = 1.0
        default /= default.sum()
        sample = sample_items(judgments, self.seed)
        fold = assign_annotators(sample.codes)
        parts = leave_out(sample, fold)
        opinions = self._fit_parts(parts, names, shares)
        values = judgments.scale.array()
        unit = float(np.mean(np.diff(values))) if values.size > 1 else 1.0
        held = match_labels(sample, fold, opinions, unit)
        return dict(zip(names, map(float, learn_from_strangers(held, default)), strict=True))

    def _fit_parts(
        self, parts: list[Judgments], names: list[str], shares: Floats | None
    ) -> list[tuple[pl.DataFrame, Opinions] | None]:
        """Return items and opinions of the members without each fold; None where none remain."""
        iterations = min(FOLD_ITERATIONS, self.max_iterations)
        models = [
            shorten(
                set_prior(name, make_member(name, max_iterations=iterations), shares, FOLD_POWER)
            )
            for name in names
        ]
        tasks = [
            Task(name, model, part)
            for part in parts
            if len(part)
            for name, model in zip(names, models, strict=True)
        ]
        results = iter(self._run(tasks, Count(self.progress, len(tasks), "weights")))
        opinions: list[tuple[pl.DataFrame, Opinions] | None] = []
        for part in parts:
            fitted = {name: next(results) for name in names} if len(part) else None
            if fitted is None:
                opinions.append(None)
                continue
            items = next(iter(fitted.values())).items
            opinions.append((items, collect_opinions(fitted, part.scale.array())))
        return opinions

    def _run(self, tasks: list[Task], count: Count) -> list[Posterior]:
        return fit_tasks(
            tasks, seed=self.seed, engine=self.engine, report=count, progress=self.progress
        )


class Count:
    """Counts finished fits and reports them as progress."""

    def __init__(self, progress: Progress, total: int, task: str) -> None:
        self.progress, self.total, self.task = progress, total, task
        self.done = 0

    def __call__(self, name: str) -> None:
        """Count the fit of a member."""
        self.done += 1
        self.progress(Event(f"committee: {self.task}", self.done, self.total, name))


def shorten(model: Any) -> Any:
    """Return a model with one restart, for the folds."""
    return replace(model, restarts=1) if hasattr(model, "restarts") else model
