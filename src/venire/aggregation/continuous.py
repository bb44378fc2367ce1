"""Labels as numbers: a Gaussian error for each annotator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from venire.aggregation import base, loop
from venire.aggregation.posterior import Posterior, bounds_frame
from venire.arrays import Floats
from venire.engine import Engine, default_engine
from venire.progress import Event, Progress, silent
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels

NAME = "continuous"


@dataclass(frozen=True, kw_only=True)
class Continuous:
    r"""Continuous-ML: :math:`r_{nm} \sim N(z_m, 1/\tau_n)`, by maximum likelihood.

    Expectation maximisation with z integrated out under a flat prior. Labels are whole
    grades, so two annotators who agree on all they share would have infinite precision;
    no variance is taken for smaller than that of rounding to a grade, the smallest
    step^2 / 12.

    Parameters
    ----------
    tolerance : float
        Stop when the log likelihood changes by less.
    max_iterations : int
    shards : int, optional

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 2, 1]}, scale="0,1,2")
    >>> Continuous().fit(judgments).items["estimate"].round(6).to_list()
    [0.0, 1.5]
    """

    tolerance: float = 0.1
    max_iterations: int = 1000
    shards: int | None = None

    def __post_init__(self) -> None:
        loop.check_settings(self)

    def fit(
        self,
        judgments: Judgments,
        *,
        gold: Qrels | None = None,
        start: Posterior | None = None,
        seed: int = 0,
        engine: Engine | None = None,
        progress: Progress = silent,
    ) -> Posterior:
        """Infer the grades; see :class:`venire.aggregation.base.Aggregator`."""
        from venire.aggregation.kernels import gaussian as kernel
        from venire.compilation import is_compiled

        base.same_model(start, NAME, judgments)
        codes = judgments.codes
        values = judgments.scale.array()
        held, notes = base.known_grades(judgments, gold)
        known = np.where(held >= 0, values[held], np.nan)
        step = float(np.min(np.diff(values))) if values.size > 1 else 1.0
        highest = 12.0 / step**2
        tau = np.full(codes.n_annotators, 1.0 / step**2)
        if start is not None:
            new, old = base.align(
                pl.DataFrame({"annotator_id": codes.annotators}), start.annotators
            )
            tau[new] = start.state[old]

        def sweep(now: Floats, shard: loop.Shard) -> tuple[Any, ...]:
            return kernel.sweep(
                codes.indptr,
                codes.annotator,
                codes.label,
                shard.start,
                shard.stop,
                values,
                now,
                known,
            )

        def reduce(now: Floats, parts: Iterable[tuple[Any, ...]]) -> tuple[Floats, float]:
            _, _, squares, bounds = zip(*parts, strict=True)
            return sum(squares), sum(bounds)

        def update(now: Floats, squares: Floats) -> Floats:
            return np.minimum(codes.per_annotator / np.maximum(squares, 1e-300), highest)

        if not is_compiled(kernel.sweep):
            progress(Event("compiling, once", 0, None))
        fit = loop.iterate(
            tau,
            loop.cut(codes.indptr, self.shards),
            sweep,
            reduce,
            update,
            engine=engine or default_engine(),
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            progress=progress,
            task=NAME,
        )
        tau = fit.state
        mean, var, _, _ = sweep(tau, loop.Shard(0, codes.n_items))
        sd = np.sqrt(var)
        grades = base.cells(mean, sd, judgments.scale.thresholds(outer="infinite"))
        order = base.item_order(codes)
        return Posterior(
            model=NAME,
            scale=judgments.scale,
            items=base.items_frame(codes, order, mean, sd),
            probabilities=grades[order],
            annotators=base.annotators_frame(
                codes,
                expertise=tau,
                expertise_sd=tau * np.sqrt(2.0 / codes.per_annotator),
            ),
            confusions=partial(base.confusion, codes, grades),
            bounds=bounds_frame([fit.bounds]),
            converged=fit.converged,
            settings=base.settings_of(self),
            seed=seed,
            notes=(*judgments.notes, *notes, *base.loop_notes([fit], 0)),
            state=tau,
        )
