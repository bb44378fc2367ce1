"""Ordinal labels as K - 1 yes-or-no questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from venire.aggregation import base, loop
from venire.aggregation.dawid_skene import Problem, continue_state, declare_strength
from venire.aggregation.posterior import Posterior, build_bounds
from venire.aggregation.result import build_posterior, describe_fits
from venire.aggregation.unchecked import assume_grades, describe_unchecked, find_unchecked
from venire.arrays import Floats
from venire.engine import Engine
from venire.progress import Progress, silent
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import express


@dataclass(frozen=True, kw_only=True)
class BinaryDecomposition(loop.IterativeModel):
    r"""K - 1 two-coin problems "is the label above v_k?".

    .. math:: \hat z_m = v_1 + \sum_k (v_{k+1} - v_k) P(z_m > v_k)

    Each problem has a prior and, per annotator, the probability of a yes where the truth is
    yes and where it is no (Raykar et al., "Learning from crowds", JMLR 2010). The K - 1
    problems are fitted separately, so their answers may contradict each other (P(z > 2) above
    P(z > 1)). Grade probabilities come from the nearest answers without contradictions,
    which does not change the estimate.

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 2, 2]}, scale="0,1,2")
    >>> BinaryDecomposition().fit(judgments).grades().tolist()
    [0.0, 2.0]
    """

    strength: float = declare_strength(0.0)
    tolerance: float = loop.declare_tolerance(0.01, "log-likelihood of a question")
    max_iterations: int = loop.declare_max_iterations("Maximum number of iterations per question.")
    shards: int | None = loop.declare_shards()
    name: ClassVar[str] = "binary"

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
        base.check_start(self, judgments, start)
        codes, scale = judgments.codes, judgments.scale
        known, notes = base.find_known_grades(judgments, gold)
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
                state = continue_state(state, earlier, codes.annotators)
            loop.announce_compilation(problem.kernel, progress)
            task = f"{self.name}, above {scale.names[k]}"
            fit = loop.run(problem, state, self, engine=engine, progress=progress, task=task)
            fits.append(fit)
            above[:, k] = problem.infer(fit.state)[:, 1]
        unchecked = find_unchecked(codes, known)
        grades = assume_grades(codes.label[codes.indptr[unchecked]], scale.size)
        above[unchecked] = 1.0 - np.cumsum(grades, axis=1)[:, :-1]
        notes = (*notes, *describe_unchecked(unchecked.size))
        return self._build(judgments, fits, above, seed, notes)

    def _build(
        self,
        judgments: Judgments,
        fits: list[loop.Fit],
        above: Floats,
        seed: int,
        notes: tuple[str, ...],
    ) -> Posterior:
        """Return the posterior from P(z_m > v_k) [M, K - 1]."""
        from venire.aggregation.kernels.counts import pool_adjacent

        codes, scale = judgments.codes, judgments.scale
        values = scale.array()
        steps = np.diff(values)
        estimate = values[0] + above @ steps
        ordered = pool_adjacent(above, steps)
        rows = codes.n_items
        exceedance = np.hstack([np.ones((rows, 1)), ordered, np.zeros((rows, 1))])
        grades = np.maximum(-np.diff(exceedance, axis=1), 0.0)
        variance = np.einsum("mk,mk->m", grades, (values - estimate[:, None]) ** 2)
        contradictions = int(np.sum(np.any(np.diff(above, axis=1) > 1e-9, axis=1)))
        remarks = list(notes)
        if contradictions:
            remarks.append(f"answers contradict each other for {express(contradictions, 'item')}")
        remarks += [
            f"above {scale.names[k]}: {note}"
            for k, fit in enumerate(fits)
            for note in describe_fits(self, [fit], 0)
        ]
        return build_posterior(
            self,
            judgments,
            seed=seed,
            probabilities=grades,
            mean=estimate,
            sd=np.sqrt(np.maximum(variance, 0.0)),
            bounds=build_bounds([fit.bounds for fit in fits]).select(
                pl.lit(0, dtype=pl.Int64).alias("restart"),
                pl.col("restart").alias("question"),
                "iteration",
                "bound",
            ),
            converged=all(fit.converged for fit in fits),
            notes=remarks,
            state={"states": [fit.state for fit in fits], "annotators": codes.annotators},
        )
