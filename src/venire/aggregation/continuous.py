"""Labels as real numbers, with a Gaussian error per annotator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from venire.aggregation import base, loop
from venire.aggregation.posterior import Posterior
from venire.aggregation.result import build_annotators, build_posterior, cell_probabilities
from venire.arrays import Floats, Longs
from venire.engine import Engine
from venire.progress import Progress, silent
from venire.tables.codes import JudgmentCodes
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels


@dataclass(frozen=True)
class Problem:
    """One fit; its state is tau [N], the precision of each annotator."""

    codes: JudgmentCodes
    values: Floats
    known: Floats
    """Known grade of each item [M], nan where it is not known."""

    @property
    def blocks(self) -> Longs:
        """Judgments before each item."""
        return self.codes.indptr

    @property
    def step(self) -> float:
        """The smallest step of the scale."""
        return float(np.min(np.diff(self.values))) if self.values.size > 1 else 1.0

    def begin(self) -> Floats:
        """Return the first state: everybody errs by one step."""
        return np.full(self.codes.n_annotators, 1.0 / self.step**2)

    def sweep(self, state: Floats, shard: loop.Shard) -> tuple[Floats, Floats, Floats, float]:
        """Return means and variances of the items, squared errors and the log-likelihood."""
        from venire.aggregation.kernels.gaussian import sweep

        codes = self.codes
        return sweep(
            codes.indptr,
            codes.annotator,
            codes.label,
            shard.start,
            shard.stop,
            self.values,
            state,
            self.known,
        )

    def reduce(self, state: Floats, parts: Iterable[tuple[Any, ...]]) -> tuple[Floats, float]:
        """Add the squared errors and log-likelihoods of the shards in their order."""
        _, _, squares, log_likelihoods = zip(*parts, strict=True)
        return sum(squares), sum(log_likelihoods)

    def update(self, state: Floats, squares: Floats) -> Floats:
        """Return the most likely precisions, bounded by the variance of rounding, step^2 / 12."""
        highest = 12.0 / self.step**2
        return np.minimum(self.codes.per_annotator / np.maximum(squares, 1e-300), highest)


@dataclass(frozen=True, kw_only=True)
class Continuous(loop.IterativeModel):
    r"""Continuous-ML: :math:`r_{nm} \sim N(z_m, 1/\tau_n)`, by maximum likelihood.

    Expectation maximisation with z integrated out under a flat prior. Labels are whole
    grades, so two annotators who agree on every shared item would have infinite precision;
    the variance is therefore at least that of rounding to a grade, the smallest step^2 / 12.

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 2, 1]}, scale="0,1,2")
    >>> Continuous().fit(judgments).items["estimate"].round(6).to_list()
    [0.0, 1.5]
    """

    tolerance: float = loop.declare_tolerance(0.1, "log-likelihood")
    max_iterations: int = loop.declare_max_iterations()
    shards: int | None = loop.declare_shards()
    name: ClassVar[str] = "continuous"

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
        from venire.aggregation.kernels.gaussian import sweep

        base.check_start(self, judgments, start)
        codes = judgments.codes
        values = judgments.scale.array()
        known, notes = base.find_known_grades(judgments, gold)
        problem = Problem(codes, values, np.where(known >= 0, values[known], np.nan))
        tau = problem.begin()
        if start is not None:
            new, old = base.align_annotators(codes.annotators, start.annotators["annotator_id"])
            tau[new] = start.state[old]
        loop.announce_compilation(sweep, progress)
        fit = loop.run(problem, tau, self, engine=engine, progress=progress)
        tau = fit.state
        mean, variance, _, _ = problem.sweep(tau, loop.Shard(0, codes.n_items))
        sd = np.sqrt(variance)
        return build_posterior(
            self,
            judgments,
            seed=seed,
            probabilities=cell_probabilities(
                mean, sd, judgments.scale.thresholds(outer="infinite")
            ),
            mean=mean,
            sd=sd,
            annotators=build_annotators(
                codes,
                expertise=tau,
                expertise_sd=tau * np.sqrt(2.0 / codes.per_annotator),
            ),
            fits=[fit],
            notes=notes,
            state=tau,
        )
