"""GLAD: one ability for each annotator, one difficulty for each item."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from venire.aggregation import base, loop
from venire.aggregation.posterior import Posterior, bounds_frame, moments
from venire.arrays import Floats, Shorts
from venire.engine import Engine, default_engine
from venire.errors import BadSetting
from venire.progress import Event, Progress, silent
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR

NAME = "glad"
FLOOR = 1e-12


class State(NamedTuple):
    """Ability [N], logarithm of ease [M], grade prior [K]."""

    alpha: Floats
    log_beta: Floats
    prior: Floats


@dataclass(frozen=True, kw_only=True)
class Glad:
    r"""GLAD over K grades by generalised expectation maximisation.

    .. math:: P(r_{nm} = z_m) = \sigma(\alpha_n \beta_m),\quad
       P(r_{nm} = l \ne z_m) = (1 - \sigma(\alpha_n \beta_m)) / (K - 1)

    with alpha_n ~ N(1, 1) and ln beta_m ~ N(1, 1). Source: Whitehill et al., "Whose vote
    should count more" (NIPS 2009). Each step of ln beta is Newton's, halved until the
    bound does not fall; each step of alpha uses the curvature bound 1/4 of the logistic
    function, so it cannot overshoot.

    Parameters
    ----------
    grade_prior : "uniform" or "learnt"
        Learnt, it can settle on one grade for all items where annotators are poor.
    prior_alpha, prior_log_beta : float
        Prior means; the prior standard deviations are 1.
    tolerance : float
        Stop when the bound changes by less.
    max_iterations : int
    shards : int, optional

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 1, 1]})
    >>> Glad().fit(judgments).grades().tolist()
    [0.0, 1.0]
    """

    grade_prior: str = "uniform"
    prior_alpha: float = 1.0
    prior_log_beta: float = 1.0
    tolerance: float = 0.1
    max_iterations: int = 1000
    shards: int | None = None

    def __post_init__(self) -> None:
        loop.check_settings(self)
        if self.grade_prior not in ("uniform", "learnt"):
            raise BadSetting(f"grade_prior is 'uniform' or 'learnt', not {self.grade_prior!r}")

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
        from venire.aggregation.kernels import glad as kernel
        from venire.compilation import is_compiled

        base.same_model(start, NAME, judgments)
        codes, size = judgments.codes, judgments.scale.size
        known, notes = base.known_grades(judgments, gold)
        state = State(
            np.full(codes.n_annotators, self.prior_alpha),
            np.full(codes.n_items, self.prior_log_beta),
            np.full(size, 1.0 / size),
        )
        if start is not None:
            state = _warm(state, start.state, judgments)

        def sweep(now: State, shard: loop.Shard) -> tuple[Any, ...]:
            return kernel.sweep(
                codes.indptr,
                codes.annotator,
                codes.label,
                shard.start,
                shard.stop,
                now.alpha,
                now.log_beta,
                np.log(now.prior),
                known,
                self.prior_log_beta,
            )

        def reduce(now: State, parts: Iterable[tuple[Any, ...]]) -> tuple[Any, float]:
            log_beta, gradient, curvature, grades, bound = zip(*parts, strict=True)
            total = sum(bound) - 0.5 * float(np.sum((now.alpha - self.prior_alpha) ** 2))
            return (np.concatenate(log_beta), sum(gradient), sum(curvature), sum(grades)), total

        def update(now: State, sums: Any) -> State:
            log_beta, gradient, curvature, grades = sums
            slope = gradient - (now.alpha - self.prior_alpha)
            prior = now.prior
            if self.grade_prior == "learnt":
                prior = np.maximum(grades / max(grades.sum(), 1.0), FLOOR)
            return State(now.alpha + slope / (curvature + 1.0), log_beta, prior)

        if not is_compiled(kernel.sweep):
            progress(Event("compiling, once", 0, None))
        fit = loop.iterate(
            state,
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
        return self._finish(judgments, known, fit, seed, notes)

    def _finish(
        self,
        judgments: Judgments,
        known: Shorts,
        fit: loop.Fit,
        seed: int,
        notes: tuple[str, ...],
    ) -> Posterior:
        from venire.aggregation.kernels.glad import posterior

        codes, scale = judgments.codes, judgments.scale
        state: State = fit.state
        grades = posterior(
            codes.indptr,
            codes.annotator,
            codes.label,
            state.alpha,
            state.log_beta,
            np.log(state.prior),
            known,
        )
        mean, sd = moments(grades, scale)
        order = base.item_order(codes)
        # What alpha means: chance of a right label on an item of the usual ease.
        usual = float(np.exp(self.prior_log_beta))
        right = 1.0 / (1.0 + np.exp(-state.alpha * usual))
        by_chance = 1.0 / scale.size
        spam = np.clip((1.0 - right) / max(1.0 - by_chance, FLOOR), 0.0, 1.0)
        difficulty = codes.items.select(PAIR).with_columns(
            pl.Series("inverse_difficulty", np.exp(state.log_beta), dtype=pl.Float64)
        )
        return Posterior(
            model=NAME,
            scale=scale,
            items=base.items_frame(codes, order, mean, sd),
            probabilities=grades[order],
            annotators=base.annotators_frame(
                codes,
                expertise=right,
                expertise_sd=base.beta_sd(right, codes.per_annotator),
                spamminess=spam,
                spamminess_sd=base.beta_sd(spam, codes.per_annotator),
                ability=state.alpha,
            ),
            confusions=partial(base.confusion, codes, grades),
            difficulty=difficulty[order],
            bounds=bounds_frame([fit.bounds]),
            converged=fit.converged,
            settings=base.settings_of(self),
            seed=seed,
            notes=(*judgments.notes, *notes, *base.loop_notes([fit], 0)),
            state={
                "state": state,
                "annotators": codes.annotators,
                "items": codes.items.select(PAIR),
            },
        )


def _warm(state: State, earlier: dict[str, Any], judgments: Judgments) -> State:
    """Return the state with the values of the ids that were there before."""
    before: State = earlier["state"]
    alpha, log_beta = state.alpha.copy(), state.log_beta.copy()
    new, old = base.align(
        pl.DataFrame({"annotator_id": judgments.codes.annotators}),
        pl.DataFrame({"annotator_id": earlier["annotators"]}),
    )
    alpha[new] = before.alpha[old]
    new, old = base.align(judgments.codes.items.select(PAIR), earlier["items"])
    log_beta[new] = before.log_beta[old]
    return State(alpha, log_beta, before.prior)
