"""The ordinal discrete mixture: a Gaussian grade observed through thresholds, and spam.

Model and updates: "Inferring ground truth from multi-annotator ordinal data: a
probabilistic approach" (Lakshminarayanan and Teh, 2013, arXiv:1305.0015).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from venire.aggregation import base, loop
from venire.aggregation.ordinal_mixture.inference import Problem
from venire.aggregation.ordinal_mixture.state import lay_out
from venire.aggregation.posterior import Posterior
from venire.engine import Engine, default_engine
from venire.progress import Progress, silent
from venire.settings import setting
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels


@dataclass(frozen=True, kw_only=True)
class OrdinalMixture(loop.IterativeModel):
    r"""Ordinal discrete mixture, fitted by variational Bayes.

    .. math::
        z_m \sim N(\mu, 1/\lambda),\quad x_{nm} \sim N(z_m, 1/(\tau_n \delta_{c(m)})),\quad
        r_{nm} = k \text{ where } b_{k-1} \le x_{nm} < b_k

    with probability :math:`\epsilon_n`, and :math:`r_{nm} \sim \pi` (uniform) otherwise.
    The posterior mean of z is the grade; 1 - epsilon is an annotator's spamminess, the
    posterior mean of tau the expertise.

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...      "annotator_id": ["x", "y", "x", "y"], "label": [0, 0, 2, 1]}, scale="0,1,2")
    >>> posterior = OrdinalMixture(restarts=2).fit(judgments)
    >>> posterior.items["mean"].to_list()[0] < posterior.items["mean"].to_list()[1]
    True
    """

    difficulty: str = setting(
        "none",
        words="Items that share one delta: none (all items), query, item, or the name of a "
        "column of the judgments that is the same for all judgments of an item.",
    )
    ordinal: bool = setting(
        True,
        words="False takes the label itself as x, known up to rounding (variance step^2 / 12): "
        "a real-valued likelihood.",
    )
    spam: bool = setting(
        True, words="False removes the spam component: epsilon is 1 for all annotators."
    )
    responsibility: str = setting(
        "paper",
        words="paper: the printed update (4); exact: coordinate ascent, under which the ELBO "
        "never falls.",
        choices=("paper", "exact"),
    )
    outer: str = setting(
        "half-step",
        words="Position of the outermost thresholds. half-step: half a step beyond the end "
        "grades; infinite: no limit.",
        choices=("half-step", "infinite"),
    )
    prior_precision: float = setting(
        0.1, words="lambda, the prior precision of the grades.", above=0
    )
    phi: float = setting(10.0, words="Shape of the gamma prior of delta.", above=0)
    eta: float = setting(5.0, words="Rate of the gamma prior of delta.", above=0)
    restarts: int = setting(
        10,
        words="Number of restarts with different random first states. The one with the highest "
        "ELBO is chosen. Continuing from an earlier result takes one.",
        least=1,
    )
    tolerance: float = loop.declare_tolerance(0.1, "ELBO")
    max_iterations: int = loop.declare_max_iterations("Maximum number of iterations per restart.")
    shards: int | None = loop.declare_shards(
        "Number of parts into which the items, or the categories of difficulty, are cut."
    )
    name: ClassVar[str] = "ordinal-mixture"
    objective: ClassVar[str] = "ELBO"

    @property
    def bound_rises(self) -> bool:
        """Whether the ELBO never falls: the printed update does not guarantee it."""
        return self.responsibility == "exact" or not self.spam

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
        from venire.aggregation.kernels.ordinal import sweep

        base.check_start(self, judgments, start)
        codes = judgments.codes
        held, notes = base.find_known_grades(judgments, gold)
        layout = lay_out(judgments, self.difficulty)
        values = judgments.scale.array()
        known = np.full(codes.n_items, np.nan)
        known[held >= 0] = values[held[held >= 0]]
        problem = Problem(self, judgments, layout, known[layout.order])
        loop.announce_compilation(sweep, progress)
        if start is not None:
            starts = [partial(problem.continue_from, start)]
        else:
            starts = [partial(problem.begin, restart, seed) for restart in range(self.restarts)]
        fits = problem.run(starts, engine or default_engine(), progress)
        best, remarks = problem.choose_restart(fits)
        return problem.build(fits, best, seed, (*notes, *remarks))
