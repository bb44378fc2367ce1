"""Dawid and Skene: a confusion matrix for each annotator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from venire.aggregation import base, loop
from venire.aggregation.posterior import Posterior, bounds_frame, moments
from venire.arrays import Floats, Ints, Longs, Shorts
from venire.engine import Engine, default_engine
from venire.errors import BadSetting
from venire.progress import Event, Progress, silent
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels

NAME = "dawid-skene"
TOWARDS = ("uniform", "pooled", "ordinal")
HALF = 0.5
"""A label one grade further away is half as likely, in the ordinal prior."""
FLOOR = 1e-12
"""No probability is taken for smaller, so that an item never has no possible grade."""


class State(NamedTuple):
    """Confusion [N, label, grade], grade prior [K], what the confusion is drawn to."""

    confusion: Floats
    prior: Floats
    centre: Floats
    """P(label | grade) [label, grade] of the Dirichlet prior."""


def ordinal_centre(size: int) -> Floats:
    """Return the matrix [label, grade] in which each grade further off is half as likely."""
    gap = np.abs(np.arange(size)[:, None] - np.arange(size)[None, :])
    weight: Floats = HALF**gap
    matrix: Floats = weight / weight.sum(axis=0)
    return matrix


@dataclass(frozen=True)
class Problem:
    """Expectation maximisation on integer codes; also serves the binary decomposition."""

    indptr: Longs
    annotator: Ints
    label: Shorts
    known: Shorts
    n_annotators: int
    size: int
    strength: float
    towards: str = "uniform"
    fixed: Floats | None = None
    """The grade prior [K], None where it is learnt."""

    def begin(self) -> State:
        """Return the state after counting each item's votes as its grade."""
        from venire.aggregation.kernels.counts import soft_counts, votes

        shares = votes(self.indptr, self.label, self.size)
        shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1.0)
        there = np.flatnonzero(self.known >= 0)
        shares[there] = 0.0
        shares[there, self.known[there]] = 1.0
        counts = soft_counts(self.indptr, self.annotator, self.label, shares, self.n_annotators)
        return self.update(None, (counts.transpose(0, 2, 1), shares.sum(axis=0)))

    def sweep(self, state: State, shard: loop.Shard) -> tuple[Floats, Floats, float]:
        """Return the expected counts and the log likelihood of a shard."""
        from venire.aggregation.kernels.dawid_skene import kernels

        return kernels(self.size).sweep(  # type: ignore[no-any-return]
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
        """Add the shards up in their order; the bound counts the prior once."""
        counts = np.zeros_like(state.confusion)
        grades = np.zeros_like(state.prior)
        bound = 0.0
        for part in parts:  # as they come: tables of many annotators are not all kept
            counts += part[0]
            grades += part[1]
            bound += part[2]
        if self.strength:
            bound += self.strength * float(np.sum(state.centre * np.log(state.confusion)))
        return (counts, grades), bound

    def update(self, state: State | None, sums: tuple[Floats, Floats]) -> State:
        """Return the most probable confusion matrices and grade prior."""
        counts, grades = sums
        centre = self.centre(counts)
        counts = counts + self.strength * centre
        total = counts.sum(axis=1, keepdims=True)
        # A grade that an annotator never met says nothing: every label is as likely.
        confusion = np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1.0 / self.size)
        prior = self.fixed
        if prior is None:
            all_items = grades.sum()
            prior = grades / all_items if all_items else np.full(self.size, 1.0 / self.size)
        confusion = np.ascontiguousarray(np.maximum(confusion, FLOOR))
        return State(confusion, np.maximum(prior, FLOOR), centre)

    def centre(self, counts: Floats) -> Floats:
        """Return what the annotators' matrices are drawn to [label, grade]."""
        if self.towards == "ordinal":
            return ordinal_centre(self.size)
        if self.towards == "pooled":
            # One judgment of each grade more, so that an unseen grade has a row too.
            pooled = counts.sum(axis=0) + 1.0 / self.size
            centre: Floats = pooled / pooled.sum(axis=0)
            return centre
        return np.full((self.size, self.size), 1.0 / self.size)

    def posterior(self, state: State) -> Floats:
        """Return the grade probabilities [M, K]."""
        from venire.aggregation.kernels.dawid_skene import kernels

        grades: Floats = kernels(self.size).posterior(
            self.indptr, self.annotator, self.label, state.confusion, state.prior, self.known
        )
        return grades

    def fit(
        self,
        state: State,
        *,
        shards: int | None,
        engine: Engine,
        tolerance: float,
        max_iterations: int,
        progress: Progress,
        task: str,
    ) -> loop.Fit:
        """Run to convergence from a state."""
        from venire.aggregation.kernels.dawid_skene import kernels
        from venire.compilation import is_compiled

        if not is_compiled(kernels(self.size).sweep):
            progress(Event("compiling, once", 0, None))
        return loop.iterate(
            state,
            loop.cut(self.indptr, shards),
            self.sweep,
            self.reduce,
            self.update,
            engine=engine,
            tolerance=tolerance,
            max_iterations=max_iterations,
            progress=progress,
            task=task,
        )


@dataclass(frozen=True, kw_only=True)
class DawidSkene:
    r"""Dawid-Skene by expectation maximisation.

    .. math:: P(r_{nm} = l \mid z_m = k) = \theta_{nkl}, \quad P(z_m = k) = p_k

    Source: Dawid and Skene, "Maximum likelihood estimation of observer error-rates using
    the EM algorithm", Applied Statistics 28 (1979). The estimate is the posterior mean,
    the label the mode.

    Parameters
    ----------
    strength : float
        Dirichlet prior: so many judgments of each grade are added for every annotator. 0 is
        maximum likelihood.
    towards : "uniform", "pooled" or "ordinal"
        What labels those judgments have: each as often; as all annotators together give
        them; the right one most often, and each grade further off half as often.
    grade_prior : str
        ``"learnt"``, ``"uniform"``, or the probabilities of the grades, lowest grade first,
        with commas between.
    tolerance : float
        Stop when the log likelihood (with the prior) changes by less.
    max_iterations : int
    shards : int, optional

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 1, 1]})
    >>> DawidSkene().fit(judgments).grades().tolist()
    [0.0, 1.0]
    """

    strength: float = 0.0
    towards: str = "uniform"
    grade_prior: str = "learnt"
    tolerance: float = 0.01
    max_iterations: int = 1000
    shards: int | None = None
    name: ClassVar[str] = NAME

    def __post_init__(self) -> None:
        loop.check_settings(self)
        if self.strength < 0:
            raise BadSetting(f"strength must be 0 or more, not {self.strength}")
        if self.towards not in TOWARDS:
            raise BadSetting(f"towards is one of {', '.join(TOWARDS)}, not {self.towards!r}")
        base.grade_prior(self.grade_prior, None)

    @property
    def bound_rises(self) -> bool:
        """Whether the bound never falls: the pooled matrix moves from sweep to sweep."""
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
        base.same_model(start, self.name, judgments)
        codes = judgments.codes
        known, notes = base.known_grades(judgments, gold)
        problem = Problem(
            codes.indptr,
            codes.annotator,
            codes.label,
            known,
            codes.n_annotators,
            judgments.scale.size,
            self.strength,
            self.towards,
            base.grade_prior(self.grade_prior, judgments.scale.size),
        )
        state = problem.begin()
        if start is not None:
            state = warm(state, start.state, codes.annotators)
        fit = problem.fit(
            state,
            shards=self.shards,
            engine=engine or default_engine(),
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            progress=progress,
            task=self.name,
        )
        return self._finish(judgments, problem, fit, seed, notes)

    def _finish(
        self,
        judgments: Judgments,
        problem: Problem,
        fit: loop.Fit,
        seed: int,
        notes: tuple[str, ...],
    ) -> Posterior:
        codes, scale = judgments.codes, judgments.scale
        state: State = fit.state
        grades = problem.posterior(state)
        mean, sd = moments(grades, scale)
        order = base.item_order(codes)
        confusion = base.confusion(codes, grades)
        return Posterior(
            model=self.name,
            scale=scale,
            items=base.items_frame(codes, order, mean, sd),
            probabilities=grades[order],
            annotators=base.annotators_frame(
                codes, **base.confusion_columns(codes, confusion[0], state.prior)
            ),
            confusions=lambda: confusion,
            bounds=bounds_frame([fit.bounds]),
            converged=fit.converged,
            settings=base.settings_of(self),
            seed=seed,
            notes=(*judgments.notes, *notes, *base.loop_notes([fit], 0)),
            state={"state": state, "annotators": codes.annotators},
        )


def warm(state: State, earlier: dict[str, Any], annotators: pl.Series) -> State:
    """Return the state with the matrices of the annotators that were there before."""
    before: State = earlier["state"]
    new, old = base.align(
        pl.DataFrame({"annotator_id": annotators}),
        pl.DataFrame({"annotator_id": earlier["annotators"]}),
    )
    confusion = state.confusion.copy()
    confusion[new] = before.confusion[old]
    return State(confusion, before.prior, before.centre)
