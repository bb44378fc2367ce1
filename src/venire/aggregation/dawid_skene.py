"""Dawid and Skene: one confusion matrix per annotator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from venire.aggregation import base, loop
from venire.aggregation.posterior import Posterior
from venire.aggregation.result import build_posterior
from venire.aggregation.unchecked import (
    assume_grades,
    describe_unchecked,
    find_unchecked,
    ordinal_centre,
)
from venire.arrays import Floats, Ints, Longs, Shorts
from venire.engine import Engine
from venire.progress import Progress, silent
from venire.settings import setting
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels

FEW = 3.0
"""Judgments of an annotator from which the prior ``uniform-when-many`` is nearer to uniform."""
FLOOR = 1e-12
"""Smallest probability, so that every item keeps a possible grade."""


class State(NamedTuple):
    """The parameters, and the centre of the Dirichlet prior."""

    confusion: Floats
    """theta [N, label, grade]: P(label | grade) of each annotator."""
    prior: Floats
    """p [K]: P(grade)."""
    centre: Floats
    """phi [label, grade] or [N, label, grade]: mean of the Dirichlet prior of theta."""


@dataclass(frozen=True)
class Problem:
    """One fit by expectation maximisation on integer codes; also for the binary decomposition."""

    indptr: Longs
    annotator: Ints
    label: Shorts
    known: Shorts
    n_annotators: int
    size: int
    strength: float
    towards: str = "uniform"
    fixed: Floats | None = None
    """The grade prior [K]; None where it is learnt."""

    @property
    def blocks(self) -> Longs:
        """Judgments before each item."""
        return self.indptr

    @cached_property
    def judgments_per_annotator(self) -> Longs:
        """Number of judgments of each annotator [N]."""
        return np.bincount(self.annotator, minlength=self.n_annotators)

    @property
    def kernel(self) -> Any:
        """The compiled sweep."""
        from venire.aggregation.kernels.dawid_skene import compile_kernels

        return compile_kernels(self.size).sweep

    def begin(self) -> State:
        """Return the first state: the votes of an item are its grade probabilities."""
        from venire.aggregation.kernels.counts import count_soft_votes, count_votes

        shares = count_votes(self.indptr, self.label, self.size)
        shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1.0)
        held = np.flatnonzero(self.known >= 0)
        shares[held] = 0.0
        shares[held, self.known[held]] = 1.0
        counts = count_soft_votes(
            self.indptr, self.annotator, self.label, shares, self.n_annotators
        )
        return self.update(None, (counts.transpose(0, 2, 1), shares.sum(axis=0)))

    def sweep(self, state: State, shard: loop.Shard) -> tuple[Floats, Floats, float]:
        """Return the expected counts and the log-likelihood of a shard."""
        return self.kernel(  # type: ignore[no-any-return]
            self.indptr,
            self.annotator,
            self.label,
            shard.start,
            shard.stop,
            state.confusion,
            state.prior,
            self.known,
        )

    def reduce(
        self, state: State, parts: Iterable[tuple[Floats, Floats, float]]
    ) -> tuple[tuple[Floats, Floats], float]:
        """Add the shards in their order; the log-likelihood includes the Dirichlet prior once."""
        counts = np.zeros_like(state.confusion)
        grades = np.zeros_like(state.prior)
        log_likelihood = 0.0
        for part in parts:  # one at a time: the tables of many annotators are large
            counts += part[0]
            grades += part[1]
            log_likelihood += part[2]
        if self.strength:
            log_likelihood += self.strength * float(np.sum(state.centre * np.log(state.confusion)))
        return (counts, grades), log_likelihood

    def update(self, state: State | None, sums: tuple[Floats, Floats]) -> State:
        """Return the most probable confusion matrices and grade prior."""
        counts, grades = sums
        centre = self.find_centre(counts)
        counts = counts + self.strength * centre
        total = counts.sum(axis=1, keepdims=True)
        # No evidence for a grade that the annotator never met: every label is equally likely.
        confusion = np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1.0 / self.size)
        prior = self.fixed
        if prior is None:
            all_items = grades.sum()
            prior = grades / all_items if all_items else np.full(self.size, 1.0 / self.size)
        confusion = np.ascontiguousarray(np.maximum(confusion, FLOOR))
        return State(confusion, np.maximum(prior, FLOOR), centre)

    def find_centre(self, counts: Floats) -> Floats:
        """Return phi [label, grade] or [N, label, grade], the mean of the Dirichlet prior."""
        if self.towards == "ordinal":
            return ordinal_centre(self.size)
        if self.towards == "uniform-when-many":
            few = FEW / (FEW + self.judgments_per_annotator[:, None, None])
            return few * ordinal_centre(self.size) + (1.0 - few) / self.size
        if self.towards == "pooled":
            # One more judgment of each grade, so that an unseen grade has a column too.
            pooled = counts.sum(axis=0) + 1.0 / self.size
            centre: Floats = pooled / pooled.sum(axis=0)
            return centre
        return np.full((self.size, self.size), 1.0 / self.size)

    def infer(self, state: State) -> Floats:
        """Return the grade probabilities [M, K]."""
        from venire.aggregation.kernels.dawid_skene import compile_kernels

        grades: Floats = compile_kernels(self.size).posterior(
            self.indptr, self.annotator, self.label, state.confusion, state.prior, self.known
        )
        return grades


def declare_strength(default: float) -> Any:
    """Return the field of the setting ``strength``."""
    return setting(
        default,
        words="Dirichlet prior of each annotator: number of judgments of each grade that are "
        "added. 0 is maximum likelihood.",
        least=0,
    )


def declare_towards(default: str) -> Any:
    """Return the field of the setting ``towards``."""
    return setting(
        default,
        words="Labels of these judgments. uniform: all labels equally often; pooled: as all "
        "annotators together label; ordinal: each grade further away half as often; "
        "uniform-when-many: uniform for annotators with many judgments, ordinal for those with "
        "few.",
        choices=("uniform", "pooled", "ordinal", "uniform-when-many"),
    )


@dataclass(frozen=True, kw_only=True)
class DawidSkene(loop.IterativeModel):
    r"""Dawid-Skene by expectation maximisation.

    .. math:: P(r_{nm} = l \mid z_m = k) = \theta_{nkl}, \quad P(z_m = k) = p_k

    Source: Dawid and Skene, "Maximum likelihood estimation of observer error-rates using
    the EM algorithm", Applied Statistics 28 (1979). The estimate is the posterior mean,
    the label the mode.

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 1, 1]})
    >>> DawidSkene().fit(judgments).grades().tolist()
    [0.0, 1.0]
    """

    strength: float = declare_strength(0.0)
    towards: str = declare_towards("uniform")
    grade_prior: str = base.declare_grade_prior("learnt")
    tolerance: float = loop.declare_tolerance(0.01, "log-likelihood (with the prior)")
    max_iterations: int = loop.declare_max_iterations()
    shards: int | None = loop.declare_shards()
    name: ClassVar[str] = "dawid-skene"

    def __post_init__(self) -> None:
        super().__post_init__()
        base.parse_grade_prior(self.grade_prior, None)

    @property
    def bound_rises(self) -> bool:
        """Whether the log-likelihood never falls: the pooled matrix moves from sweep to sweep."""
        return self.towards != "pooled" or not self.strength

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
        codes = judgments.codes
        known, notes = base.find_known_grades(judgments, gold)
        problem = Problem(
            codes.indptr,
            codes.annotator,
            codes.label,
            known,
            codes.n_annotators,
            judgments.scale.size,
            self.strength,
            self.towards,
            base.find_grade_prior(self.grade_prior, judgments),
        )
        state = problem.begin()
        if start is not None:
            state = continue_state(state, start.state, codes.annotators)
        loop.announce_compilation(problem.kernel, progress)
        fit = loop.run(problem, state, self, engine=engine, progress=progress)
        grades = problem.infer(fit.state)
        unchecked = find_unchecked(codes, known)
        grades[unchecked] = assume_grades(
            codes.label[codes.indptr[unchecked]], judgments.scale.size
        )
        return build_posterior(
            self,
            judgments,
            seed=seed,
            probabilities=grades,
            prior=fit.state.prior,
            fits=[fit],
            notes=(*notes, *describe_unchecked(unchecked.size)),
            state={"state": fit.state, "annotators": codes.annotators},
        )


def continue_state(state: State, earlier: dict[str, Any], annotators: pl.Series) -> State:
    """Return the state with the confusion matrices of annotators of an earlier result."""
    before: State = earlier["state"]
    new, old = base.align_annotators(annotators, earlier["annotators"])
    confusion = state.confusion.copy()
    confusion[new] = before.confusion[old]
    return State(confusion, before.prior, state.centre)
