"""Ordinal labels as K - 1 yes-or-no questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from venire.aggregation import base, loop
from venire.aggregation.dawid_skene import Problem, warm
from venire.aggregation.posterior import Posterior, bounds_frame
from venire.arrays import Floats
from venire.engine import Engine, default_engine
from venire.errors import BadSetting
from venire.progress import Progress, silent
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import counted

NAME = "binary"


@dataclass(frozen=True, kw_only=True)
class BinaryDecomposition:
    r"""K - 1 two-coin problems "is the label above v_k?".

    .. math:: \hat z_m = v_1 + \sum_k (v_{k+1} - v_k) P(z_m > v_k)

    Each problem has an instance prior and, for each annotator, a chance of yes where the
    truth is yes and one where it is no (Raykar et al., "Learning from crowds", JMLR 2010).
    The K - 1 answers are fitted apart and may contradict each other (P(z > 2) above
    P(z > 1)); for the grade probabilities the nearest answers that do not are taken,
    which leaves the estimate as it is.

    Parameters
    ----------
    strength : float
        Dirichlet prior as in :class:`DawidSkene`.
    tolerance : float
        Stop when the log likelihood of a problem changes by less.
    max_iterations : int
    shards : int, optional

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 2, 2]}, scale="0,1,2")
    >>> BinaryDecomposition().fit(judgments).grades().tolist()
    [0.0, 2.0]
    """

    strength: float = 0.0
    tolerance: float = 0.01
    max_iterations: int = 1000
    shards: int | None = None

    def __post_init__(self) -> None:
        loop.check_settings(self)
        if self.strength < 0:
            raise BadSetting(f"strength must be 0 or more, not {self.strength}")

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
        base.same_model(start, NAME, judgments)
        codes, scale = judgments.codes, judgments.scale
        known, notes = base.known_grades(judgments, gold)
        values = scale.array()
        fits: list[loop.Fit] = []
        above = np.empty((codes.n_items, scale.size - 1))
        for k in range(scale.size - 1):
            problem = Problem(
                codes.indptr,
                codes.annotator,
                (codes.label > k).astype(np.int16),
                np.where(known >= 0, known > k, -1).astype(np.int16),
                codes.n_annotators,
                2,
                self.strength,
            )
            state = problem.begin()
            if start is not None:
                earlier = {"state": start.state["states"][k], **start.state}
                state = warm(state, earlier, codes.annotators)
            fit = problem.fit(
                state,
                shards=self.shards,
                engine=engine or default_engine(),
                tolerance=self.tolerance,
                max_iterations=self.max_iterations,
                progress=progress,
                task=f"{NAME}, above {scale.names[k]}",
            )
            fits.append(fit)
            above[:, k] = problem.posterior(fit.state)[:, 1]
        return self._finish(judgments, fits, above, values, seed, notes)

    def _finish(
        self,
        judgments: Judgments,
        fits: list[loop.Fit],
        above: Floats,
        values: Floats,
        seed: int,
        notes: tuple[str, ...],
    ) -> Posterior:
        from venire.aggregation.kernels.counts import pool_adjacent

        codes = judgments.codes
        steps = np.diff(values)
        estimate = values[0] + above @ steps
        ordered = pool_adjacent(above, steps)
        rows = codes.n_items
        steps_down = np.hstack([np.ones((rows, 1)), ordered, np.zeros((rows, 1))])
        grades = np.maximum(-np.diff(steps_down, axis=1), 0.0)
        spread = np.sqrt(
            np.maximum(np.einsum("mk,mk->m", grades, (values - estimate[:, None]) ** 2), 0.0)
        )
        order = base.item_order(codes)
        confusion = base.confusion(codes, grades)
        prior = grades.mean(axis=0) if rows else np.full(values.size, 1.0 / values.size)
        states: list[Any] = [fit.state for fit in fits]
        contradictions = int(np.sum(np.any(np.diff(above, axis=1) > 1e-9, axis=1)))
        odd = (f"answers contradict each other for {counted(contradictions, 'item')}",)
        return Posterior(
            model=NAME,
            scale=judgments.scale,
            items=base.items_frame(codes, order, estimate, spread),
            probabilities=grades[order],
            annotators=base.annotators_frame(
                codes, **base.confusion_columns(codes, confusion[0], prior)
            ),
            confusions=lambda: confusion,
            bounds=bounds_frame([fit.bounds for fit in fits]).select(
                pl.lit(0, dtype=pl.Int64).alias("restart"),
                pl.col("restart").alias("question"),
                "iteration",
                "bound",
            ),
            converged=all(fit.converged for fit in fits),
            settings=base.settings_of(self),
            seed=seed,
            notes=(
                *judgments.notes,
                *notes,
                *(odd if contradictions else ()),
                *(
                    f"above {judgments.scale.names[k]}: {note}"
                    for k, fit in enumerate(fits)
                    for note in base.loop_notes([fit], 0)
                ),
            ),
            state={"states": states, "annotators": codes.annotators},
        )
