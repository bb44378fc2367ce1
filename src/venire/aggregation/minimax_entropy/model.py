"""Minimax conditional entropy: how labels depend on annotator and item, and on nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from venire.aggregation import base, loop
from venire.aggregation.minimax_entropy.inference import Problem, State
from venire.aggregation.posterior import Posterior, bounds_frame, moments
from venire.engine import Engine, default_engine
from venire.errors import BadSetting
from venire.progress import Event, Progress, silent
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR

NAME = "minimax-entropy"
ALPHA = {"ordinal": 1.0, "categorical": 16.0}
"""Penalty of the annotators' terms in each form."""


@dataclass(frozen=True, kw_only=True)
class MinimaxEntropy:
    r"""Minimax conditional entropy, regularised.

    .. math::
        P(r_{nm} = k \mid z_m = c) \propto e^{\sigma_n(c, k) + \tau_m(c, k)}, \qquad
        \max \sum_{m, c} q_m(c) \sum_n \ln P(r_{nm} \mid c)
        - \frac\alpha2 \lVert\sigma\rVert^2 - \frac\beta2 \lVert\tau\rVert^2

    with :math:`q_m(c) \propto \prod_n P(r_{nm} \mid c)`. In the ordinal form each table is a
    sum over thresholds s of 2 x 2 tables on (c >= s, k >= s), and the penalty is on these.
    Each step raises the objective: the curvature is replaced by its largest value (Böhning
    and Lindsay, "Monotonicity of quadratic-approximation algorithms", 1988).

    Source: Zhou, Platt, Basu and Mao, "Learning from the wisdom of crowds by minimax
    entropy" (NIPS 2012); ordinal: Zhou, Liu, Platt and Meek, "Aggregating ordinal labels
    from crowds by minimax conditional entropy" (ICML 2014).

    Parameters
    ----------
    form : "ordinal" or "categorical"
    alpha : float
        Penalty of the annotators' terms; 0 takes 1 for ordinal, 16 for categorical.
    beta : float
        Penalty of the items' terms.
    grade_prior : str
        "uniform", "learnt", or one number a grade with commas between.
    tolerance : float
        Stop when the objective changes by less.
    max_iterations : int
    shards : int, optional

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 1, 1]})
    >>> MinimaxEntropy().fit(judgments).grades().tolist()
    [0.0, 1.0]
    """

    form: str = "ordinal"
    alpha: float = 0.0
    beta: float = 10.0
    grade_prior: str = "uniform"
    tolerance: float = 0.1
    max_iterations: int = 1000
    shards: int | None = None

    def __post_init__(self) -> None:
        loop.check_settings(self)
        if self.form not in ALPHA:
            raise BadSetting(f"form is 'ordinal' or 'categorical', not {self.form!r}")
        if self.alpha < 0 or not self.beta > 0:
            raise BadSetting("alpha must be 0 or more, and beta above 0")
        base.grade_prior(self.grade_prior, None)

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
        from venire.aggregation.kernels import minimax
        from venire.compilation import is_compiled

        base.same_model(start, NAME, judgments)
        codes = judgments.codes
        known, notes = base.known_grades(judgments, gold)
        problem = Problem(
            codes.indptr,
            codes.annotator,
            codes.label,
            known,
            codes.n_annotators,
            judgments.scale.size,
            self.alpha or ALPHA[self.form],
            self.beta,
            self.form == "ordinal",
            base.grade_prior(self.grade_prior, judgments.scale.size),
        )
        if not is_compiled(minimax.sweep):
            progress(Event("compiling, once", 0, None))
        shards = loop.cut(codes.indptr, self.shards)
        state = problem.begin(shards)
        if start is not None:
            state = _warm(problem, state, start, judgments)
        fit = loop.iterate(
            state,
            shards,
            problem.sweep,
            problem.reduce,
            problem.update,
            engine=engine or default_engine(),
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            progress=progress,
            task=NAME,
        )
        return self._finish(judgments, fit, seed, notes)

    def _finish(
        self, judgments: Judgments, fit: loop.Fit, seed: int, notes: tuple[str, ...]
    ) -> Posterior:
        codes, scale = judgments.codes, judgments.scale
        state: State = fit.state
        mean, sd = moments(state.grades, scale)
        order = base.item_order(codes)
        confusion = base.confusion(codes, state.grades)
        shares = state.grades.sum(axis=0) + 1.0 / scale.size
        return Posterior(
            model=NAME,
            scale=scale,
            items=base.items_frame(codes, order, mean, sd),
            probabilities=state.grades[order],
            annotators=base.annotators_frame(
                codes, **base.confusion_columns(codes, confusion[0], shares)
            ),
            confusions=lambda: confusion,
            bounds=bounds_frame([fit.bounds]),
            converged=fit.converged,
            settings=base.settings_of(self),
            seed=seed,
            notes=(*judgments.notes, *notes, *base.loop_notes([fit], 0)),
            state={
                "state": state,
                "form": self.form,
                "annotators": codes.annotators,
                "items": codes.items.select(PAIR),
            },
        )


def _warm(problem: Problem, state: State, start: Posterior, judgments: Judgments) -> State:
    """Return the state with the terms and grades of those that were there before."""
    earlier: State = start.state["state"]
    if (start.state["form"] == "ordinal") != problem.ordinal:
        return state  # the terms of the other form mean something else
    codes = judgments.codes
    new, old = base.align(
        pl.DataFrame({"annotator_id": codes.annotators}),
        pl.DataFrame({"annotator_id": start.state["annotators"]}),
    )
    sigma = state.sigma.copy()
    sigma[new] = earlier.sigma[old]
    new, old = base.align(codes.items.select(PAIR), start.state["items"])
    tau, grades = state.tau.copy(), state.grades.copy()
    tau[new] = earlier.tau[old]
    grades[new] = earlier.grades[old]
    return problem.state(sigma, tau, grades)
