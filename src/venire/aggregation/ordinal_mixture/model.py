"""The ordinal discrete mixture: a Gaussian truth seen through thresholds, and spam.

Model and updates: "Inferring ground truth from multi-annotator ordinal data: a
probabilistic approach" (Lakshminarayanan and Teh, 2013, arXiv:1305.0015).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from venire.aggregation import base, loop
from venire.aggregation.ordinal_mixture.inference import NAME, Problem
from venire.aggregation.ordinal_mixture.state import lay_out
from venire.aggregation.posterior import Posterior
from venire.engine import Engine, default_engine
from venire.errors import BadSetting
from venire.progress import Event, Progress, silent
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels

RESPONSIBILITIES = ("paper", "exact")


@dataclass(frozen=True, kw_only=True)
class OrdinalMixture:
    r"""Ordinal discrete mixture, fitted by variational Bayes.

    .. math::
        z_m \sim N(\mu, 1/\lambda),\quad x_{nm} \sim N(z_m, 1/(\tau_n \delta_{c(m)})),\quad
        r_{nm} = k \text{ where } b_{k-1} \le x_{nm} < b_k

    with probability :math:`\epsilon_n`, and :math:`r_{nm} \sim \pi` (uniform) otherwise.
    The posterior mean of z is the grade; 1 - epsilon is an annotator's spamminess, the
    posterior mean of tau the expertise.

    Parameters
    ----------
    difficulty : str
        ``"none"`` (one delta), ``"query"``, ``"item"``, or the name of a column of the
        judgments that is the same for all judgments of an item.
    ordinal : bool
        False takes the label itself as x, known up to rounding (variance step^2 / 12): a
        real-valued likelihood.
    spam : bool
        False leaves the spam component out (epsilon = 1).
    responsibility : "paper" or "exact"
        The printed update (4), or the exact coordinate ascent under which the bound never
        falls (``docs/decisions``).
    outer : "half-step" or "infinite"
        Where the outermost thresholds lie.
    prior_precision : float
        lambda.
    phi, eta : float
        Gamma prior of delta, shape and rate.
    restarts : int
        Starts with distinct random strengths; the highest bound is kept.
    tolerance : float
        Stop when the bound changes by less.
    max_iterations : int
    shards : int, optional
        By default one for every 20,000 judgments, at most 8.

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

    difficulty: str = "none"
    ordinal: bool = True
    spam: bool = True
    responsibility: str = "paper"
    outer: str = "half-step"
    prior_precision: float = 0.1
    phi: float = 10.0
    eta: float = 5.0
    restarts: int = 10
    tolerance: float = 0.1
    max_iterations: int = 1000
    shards: int | None = None

    def __post_init__(self) -> None:
        loop.check_settings(self)
        if self.responsibility not in RESPONSIBILITIES:
            raise BadSetting(f"responsibility is 'paper' or 'exact', not {self.responsibility!r}")
        if self.outer not in ("half-step", "infinite"):
            raise BadSetting(f"outer is 'half-step' or 'infinite', not {self.outer!r}")
        if self.restarts < 1:
            raise BadSetting(f"restarts must be at least 1, not {self.restarts}")
        if min(self.prior_precision, self.phi, self.eta) <= 0:
            raise BadSetting("prior_precision, phi and eta must be above 0")

    @property
    def bound_rises(self) -> bool:
        """Whether the bound never falls: the printed update does not promise it."""
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
        from venire.aggregation.kernels import ordinal as kernel
        from venire.compilation import is_compiled

        base.same_model(start, NAME, judgments)
        codes = judgments.codes
        held, notes = base.known_grades(judgments, gold)
        layout = lay_out(judgments, self.difficulty)
        values = judgments.scale.array()
        known = np.full(codes.n_items, np.nan)
        known[held >= 0] = values[held[held >= 0]]
        problem = Problem(self, judgments, layout, known[layout.order])
        if not is_compiled(kernel.sweep):
            progress(Event("compiling, once", 0, None))
        if start is not None:
            starts = [partial(problem.warm, start)]
        else:
            starts = [partial(problem.begin, restart, seed) for restart in range(self.restarts)]
        fits = problem.run(starts, engine or default_engine(), progress)
        best, more = problem.best(fits)
        return problem.finish(fits, best, seed, (*notes, *more))
