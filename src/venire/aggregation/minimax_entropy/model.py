"""Minimax conditional entropy: labels depend on annotator and item, as little as possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from venire.aggregation import base, loop
from venire.aggregation.minimax_entropy.inference import Problem, State
from venire.aggregation.posterior import Posterior
from venire.aggregation.result import build_posterior
from venire.engine import Engine
from venire.progress import Progress, silent
from venire.settings import setting
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR

ALPHA = {"ordinal": 1.0, "categorical": 16.0}
"""Penalty of the annotators' terms in each form."""


@dataclass(frozen=True, kw_only=True)
class MinimaxEntropy(loop.IterativeModel):
    r"""Minimax conditional entropy, regularised.

    .. math::
        P(r_{nm} = k \mid z_m = c) \propto e^{\sigma_n(c, k) + \tau_m(c, k)}, \qquad
        \max \sum_{m, c} q_m(c) \sum_n \ln P(r_{nm} \mid c)
        - \frac\alpha2 \lVert\sigma\rVert^2 - \frac\beta2 \lVert\tau\rVert^2

    with :math:`q_m(c) \propto \prod_n P(r_{nm} \mid c)`. In the ordinal form each table is the
    sum over thresholds s of 2 x 2 tables on (c >= s, k >= s), which are what is penalised.
    Every step raises the objective, because the curvature is replaced by its largest value
    (Böhning and Lindsay, "Monotonicity of quadratic-approximation algorithms", 1988).

    Source: Zhou, Platt, Basu and Mao, "Learning from the wisdom of crowds by minimax
    entropy" (NIPS 2012); ordinal: Zhou, Liu, Platt and Meek, "Aggregating ordinal labels
    from crowds by minimax conditional entropy" (ICML 2014).

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 1, 1]})
    >>> MinimaxEntropy().fit(judgments).grades().tolist()
    [0.0, 1.0]
    """

    form: str = setting(
        "ordinal",
        words="ordinal: tables over thresholds; categorical: a table of grades by labels, in "
        "which their order has no meaning.",
        choices=tuple(ALPHA),
    )
    alpha: float = setting(
        0.0,
        words="Penalty of the annotators' terms. 0 takes 1 for ordinal and 16 for categorical.",
        least=0,
    )
    beta: float = setting(10.0, words="Penalty of the items' terms.", above=0)
    grade_prior: str = base.declare_grade_prior("balanced")
    tolerance: float = loop.declare_tolerance(0.1, "objective")
    max_iterations: int = loop.declare_max_iterations()
    shards: int | None = loop.declare_shards()
    name: ClassVar[str] = "minimax-entropy"
    objective: ClassVar[str] = "objective"

    def __post_init__(self) -> None:
        super().__post_init__()
        base.parse_grade_prior(self.grade_prior, None)

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
        from venire.aggregation.kernels.minimax import sweep

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
            self.alpha or ALPHA[self.form],
            self.beta,
            self.form == "ordinal",
            base.find_grade_prior(self.grade_prior, judgments),
        )
        loop.announce_compilation(sweep, progress)
        state = problem.begin(loop.cut_shards(codes.indptr, self.shards))
        if start is not None:
            state = _continue_state(problem, state, start, judgments)
        fit = loop.run(problem, state, self, engine=engine, progress=progress)
        state = fit.state
        return build_posterior(
            self,
            judgments,
            seed=seed,
            probabilities=state.q,
            prior=state.q.sum(axis=0) + 1.0 / judgments.scale.size,
            fits=[fit],
            notes=notes,
            state={
                "state": state,
                "form": self.form,
                "annotators": codes.annotators,
                "items": codes.items.select(PAIR),
            },
        )


def _continue_state(
    problem: Problem, state: State, start: Posterior, judgments: Judgments
) -> State:
    """Return the state with the terms and grades of an earlier result."""
    earlier: State = start.state["state"]
    if (start.state["form"] == "ordinal") != problem.ordinal:
        return state  # the terms of the other form have another meaning
    codes = judgments.codes
    new, old = base.align_annotators(codes.annotators, start.state["annotators"])
    sigma = state.sigma.copy()
    sigma[new] = earlier.sigma[old]
    new, old = base.align_ids(codes.items.select(PAIR), start.state["items"])
    tau, q = state.tau.copy(), state.q.copy()
    tau[new] = earlier.tau[old]
    q[new] = earlier.q[old]
    return problem.make_state(sigma, tau, q)
