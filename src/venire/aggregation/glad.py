"""GLAD: one ability per annotator, one difficulty per item."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from venire.aggregation import base, loop
from venire.aggregation.posterior import Posterior
from venire.aggregation.result import (
    beta_sd,
    build_annotators,
    build_difficulty,
    build_posterior,
)
from venire.arrays import Floats, Longs, Shorts
from venire.engine import Engine
from venire.progress import Progress, silent
from venire.settings import setting
from venire.tables.codes import JudgmentCodes
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR

FLOOR = 1e-12


class State(NamedTuple):
    """Ability [N], logarithm of ease [M], grade prior [K]."""

    alpha: Floats
    log_beta: Floats
    prior: Floats


@dataclass(frozen=True)
class Problem:
    """One fit on integer codes."""

    codes: JudgmentCodes
    size: int
    """K."""
    known: Shorts
    prior_alpha: float
    prior_log_beta: float
    learns_prior: bool

    @property
    def blocks(self) -> Longs:
        """Judgments before each item."""
        return self.codes.indptr

    def begin(self) -> State:
        """Return the first state: the prior means."""
        return State(
            np.full(self.codes.n_annotators, self.prior_alpha),
            np.full(self.codes.n_items, self.prior_log_beta),
            np.full(self.size, 1.0 / self.size),
        )

    def continue_from(self, earlier: dict[str, Any]) -> State:
        """Return the first state with the values that an earlier result had."""
        before: State = earlier["state"]
        alpha, log_beta, _ = self.begin()
        new, old = base.align_annotators(self.codes.annotators, earlier["annotators"])
        alpha[new] = before.alpha[old]
        new, old = base.align_ids(self.codes.items.select(PAIR), earlier["items"])
        log_beta[new] = before.log_beta[old]
        return State(alpha, log_beta, before.prior)

    def sweep(self, state: State, shard: loop.Shard) -> tuple[Any, ...]:
        """Return the new ease, gradient and curvature of ability, grades and log-likelihood."""
        from venire.aggregation.kernels.glad import sweep

        codes = self.codes
        return sweep(
            codes.indptr,
            codes.annotator,
            codes.label,
            shard.start,
            shard.stop,
            state.alpha,
            state.log_beta,
            np.log(state.prior),
            self.known,
            self.prior_log_beta,
        )

    def reduce(self, state: State, parts: Iterable[tuple[Any, ...]]) -> tuple[Any, float]:
        """Add the shards in their order; the log-likelihood includes the prior of ability."""
        log_beta, gradient, curvature, grades, log_likelihood = zip(*parts, strict=True)
        total = sum(log_likelihood) - 0.5 * float(np.sum((state.alpha - self.prior_alpha) ** 2))
        return (np.concatenate(log_beta), sum(gradient), sum(curvature), sum(grades)), total

    def update(self, state: State, sums: Any) -> State:
        """Return the state after one step of ability, the new ease and the new grade prior."""
        log_beta, gradient, curvature, grades = sums
        slope = gradient - (state.alpha - self.prior_alpha)
        prior = state.prior
        if self.learns_prior:
            prior = np.maximum(grades / max(grades.sum(), 1.0), FLOOR)
        return State(state.alpha + slope / (curvature + 1.0), log_beta, prior)

    def infer(self, state: State) -> Floats:
        """Return the grade probabilities [M, K]."""
        from venire.aggregation.kernels.glad import infer_grades

        codes = self.codes
        grades: Floats = infer_grades(
            codes.indptr,
            codes.annotator,
            codes.label,
            state.alpha,
            state.log_beta,
            np.log(state.prior),
            self.known,
        )
        return grades


@dataclass(frozen=True, kw_only=True)
class Glad(loop.IterativeModel):
    r"""GLAD over K grades by generalised expectation maximisation.

    .. math:: P(r_{nm} = z_m) = \sigma(\alpha_n \beta_m),\quad
       P(r_{nm} = l \ne z_m) = (1 - \sigma(\alpha_n \beta_m)) / (K - 1)

    with alpha_n ~ N(1, 1) and ln beta_m ~ N(1, 1). Source: Whitehill et al., "Whose vote
    should count more" (NIPS 2009). Each step of ln beta is a Newton step, halved until the
    log-likelihood does not fall; each step of alpha uses the curvature bound 1/4 of the
    logistic function, so it cannot overshoot.

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 1, 1]})
    >>> Glad().fit(judgments).grades().tolist()
    [0.0, 1.0]
    """

    grade_prior: str = setting(
        "uniform",
        words="Prior of the grades. A learnt prior can settle on one grade for all items where "
        "annotators are poor.",
        choices=("uniform", "learnt"),
    )
    prior_alpha: float = setting(
        1.0, words="Prior mean of the ability of an annotator; its standard deviation is 1."
    )
    prior_log_beta: float = setting(
        1.0,
        words="Prior mean of the logarithm of the ease of an item; its standard deviation is 1.",
    )
    tolerance: float = loop.declare_tolerance(0.1, "log-likelihood (with the priors)")
    max_iterations: int = loop.declare_max_iterations()
    shards: int | None = loop.declare_shards()
    name: ClassVar[str] = "glad"

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
        from venire.aggregation.kernels.glad import sweep

        base.check_start(self, judgments, start)
        codes = judgments.codes
        known, notes = base.find_known_grades(judgments, gold)
        problem = Problem(
            codes,
            judgments.scale.size,
            known,
            self.prior_alpha,
            self.prior_log_beta,
            self.grade_prior == "learnt",
        )
        state = problem.begin() if start is None else problem.continue_from(start.state)
        loop.announce_compilation(sweep, progress)
        fit = loop.run(problem, state, self, engine=engine, progress=progress)
        state = fit.state
        # alpha as the probability of a right label on an item of average ease.
        average_ease = float(np.exp(self.prior_log_beta))
        right = 1.0 / (1.0 + np.exp(-state.alpha * average_ease))
        by_chance = 1.0 / judgments.scale.size
        guessing = np.clip((1.0 - right) / max(1.0 - by_chance, FLOOR), 0.0, 1.0)
        return build_posterior(
            self,
            judgments,
            seed=seed,
            probabilities=problem.infer(state),
            annotators=build_annotators(
                codes,
                expertise=right,
                expertise_sd=beta_sd(right, codes.per_annotator),
                guessing=guessing,
                guessing_sd=beta_sd(guessing, codes.per_annotator),
                ability=state.alpha,
            ),
            difficulty=build_difficulty(codes, np.exp(state.log_beta)),
            fits=[fit],
            notes=notes,
            state={
                "state": state,
                "annotators": codes.annotators,
                "items": codes.items.select(PAIR),
            },
        )
