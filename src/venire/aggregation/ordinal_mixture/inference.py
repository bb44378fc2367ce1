"""Inference in the ordinal discrete mixture: first states, sweeps, updates, ELBO, result.

Equation numbers are those of arXiv:1305.0015.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from venire.aggregation import base, loop
from venire.aggregation.ordinal_mixture.state import Layout, State, eps_sd
from venire.aggregation.posterior import Posterior
from venire.aggregation.result import build_annotators, build_posterior, cell_probabilities
from venire.arrays import Floats, Longs
from venire.engine import Engine, Serial
from venire.errors import BadSetting
from venire.progress import Progress
from venire.settings import check_seed
from venire.tables.codes import JudgmentCodes
from venire.tables.judgments import Judgments
from venire.tables.schema import PAIR, express

if TYPE_CHECKING:
    from venire.aggregation.ordinal_mixture.model import OrdinalMixture

EDGE = 1e-10
"""Smallest distance of epsilon_n from 0 and 1, so that no likelihood is exactly zero."""
COLLAPSED = 0.05
"""Share of judgments that depend on the item, below which a fit is useless."""
HIGHEST_SHAPE = 100.0
"""Largest shape of the prior of tau: few or similar annotators would raise it without end."""
FAR = 1e10
"""Replaces an infinite threshold in the kernel."""


class Sums(NamedTuple):
    """Statistics of all shards."""

    mu: Floats
    var: Floats
    category_weight: Floats
    category_square: Floats
    annotator_weight: Floats
    annotator_square: Floats
    sharpness: Floats


@dataclass(frozen=True)
class Problem:
    """One fit: settings and data."""

    model: OrdinalMixture
    judgments: Judgments
    layout: Layout
    known: Floats
    """Known grade of each item [M], nan where it is not known."""

    @property
    def codes(self) -> JudgmentCodes:
        """The judgments as integers."""
        return self.judgments.codes

    @cached_property
    def unit(self) -> float:
        """Mean step of the scale. The fit is in steps: labels 0, 25, 50 are like 0, 1, 2."""
        values = self.judgments.scale.array()
        return float(np.mean(np.diff(values))) if values.size > 1 else 1.0

    @property
    def prior_mean(self) -> float:
        """Mean of the scale, in steps."""
        return self.judgments.scale.mean / self.unit

    @property
    def single(self) -> bool:
        """Whether one category holds all items."""
        return self.layout.categories is None

    @property
    def blocks(self) -> Longs:
        """Judgments before each category, or before each item where one category holds all."""
        layout = self.layout
        return layout.indptr if self.single else layout.indptr[layout.category_start]

    def begin(self, restart: int, seed: int) -> State:
        """Return the first state of a restart: item means, and random tau and epsilon.

        One tau and one epsilon are drawn for all annotators, so that a restart depends neither
        on the order of rows nor on ids: errors of half a step to one step, and 80% to 99% of
        the judgments depend on the item. With a smaller epsilon the fit ends with all judgments
        as spam, which always has a high ELBO and is useless (docs/decisions/0003-starts.md).
        """
        check_seed(seed)
        eps, tau = 0.9, 1.0
        if restart:
            rng = np.random.default_rng([seed, restart])
            eps = rng.uniform(0.8, 0.99)
            tau = float(np.exp(rng.uniform(0.0, np.log(4.0))))
        mean = self.prior_mean
        count = np.diff(self.layout.indptr)
        values = self.judgments.scale.array()[self.layout.label] / self.unit
        item = np.repeat(np.arange(count.size), count)
        total = np.bincount(item, weights=values - mean, minlength=count.size)
        mu = mean + total / (self.model.prior_precision + count)
        var = 1.0 / (self.model.prior_precision + tau * count)
        n = self.codes.n_annotators
        c = self.layout.category_start.size - 1
        alpha = 2.0
        return self._hold(
            State(
                mu=mu,
                var=var,
                alpha_n=np.full(n, alpha),
                beta_n=np.full(n, alpha / tau),
                eps=np.full(n, eps if self.model.spam else 1.0),
                phi_c=np.full(c, self.model.phi),
                eta_c=np.full(c, self.model.phi),
                alpha=alpha,
                beta=alpha / tau,
            )
        )

    def continue_from(self, start: Posterior) -> State:
        """Return the state of an earlier result, aligned with the current ids."""
        earlier: State = start.state["state"]
        state = self.begin(0, start.seed)
        state = replace(state, alpha=earlier.alpha, beta=earlier.beta)
        n = self.codes.n_annotators
        fresh = replace(
            state,
            alpha_n=np.full(n, earlier.alpha),
            beta_n=np.full(n, earlier.beta),
            eps=np.full(n, float(np.mean(earlier.eps)) if earlier.eps.size else 1.0),
        )
        new, old = base.align_annotators(self.codes.annotators, start.annotators["annotator_id"])
        for name in ("alpha_n", "beta_n", "eps"):
            getattr(fresh, name)[new] = getattr(earlier, name)[old]
        items = self.codes.items.select(PAIR)[self.layout.order]
        new, old = base.align_ids(items, start.state["items"])
        for name in ("mu", "var"):
            getattr(fresh, name)[new] = getattr(earlier, name)[old]
        fresh.var[fresh.var == 0.0] = 1.0 / self.model.prior_precision
        if self.model.spam:
            # An epsilon of exactly 1, as after a fit without spam, would never change again.
            was_spam = bool(start.settings.get("spam", True))
            fresh = replace(fresh, eps=np.clip(fresh.eps, 0.001, 0.999) if was_spam else state.eps)
        names = self._name_categories()
        if start.state["categories"].columns == names.columns:
            new, old = base.align_ids(names, start.state["categories"])
            fresh.phi_c[new] = earlier.phi_c[old]
            fresh.eta_c[new] = earlier.eta_c[old]
        return self._hold(fresh)

    def _name_categories(self) -> pl.DataFrame:
        if self.layout.categories is None:
            return pl.DataFrame({"category": ["all"]})
        if self.model.difficulty == "item":
            return self.codes.items.select(PAIR)
        return pl.DataFrame({self.model.difficulty: self.layout.categories})

    def _hold(self, state: State) -> State:
        """Return the state with the known grades held."""
        held = ~np.isnan(self.known)
        return replace(
            state,
            mu=np.where(held, self.known / self.unit, state.mu),
            var=np.where(held, 0.0, state.var),
        )

    def run(
        self, starts: Sequence[Callable[[], State]], engine: Engine, progress: Progress
    ) -> list[loop.Fit]:
        """Fit from each first state and return all fits."""

        def run_restart(number: int, engine: Engine) -> loop.Fit:
            task = f"{self.model.name}, restart {number + 1} of {len(starts)}"
            return loop.run(
                self, starts[number](), self.model, engine=engine, progress=progress, task=task
            )

        if len(starts) == 1:
            return [run_restart(0, engine)]
        # Restarts run in parallel, so that no thread waits; shards keep their order in each.
        return list(engine.map(lambda number: run_restart(number, Serial()), range(len(starts))))

    def sweep(self, state: State, shard: loop.Shard) -> tuple[Any, ...]:
        """Process one shard: categories start..stop, or items where one category holds all."""
        from venire.aggregation.kernels.ordinal import sweep

        layout, model, scale = self.layout, self.model, self.judgments.scale
        if self.single:
            category_start = np.array([shard.start, shard.stop], np.int64)
            first = 0
        else:
            category_start = layout.category_start[shard.start : shard.stop + 1]
            first = shard.start
        root_tau, log_gap, root_delta, delta_gap = state.tables
        # Without the ordinal link the width of a cell is the rounding error: never infinite.
        outer = model.outer if model.ordinal else "half-step"
        return sweep(
            layout.indptr,
            layout.annotator,
            layout.label,
            category_start,
            first,
            np.clip(scale.thresholds(outer=outer) / self.unit, -FAR, FAR),
            scale.array() / self.unit,
            self.known,
            state.mu,
            state.var,
            root_tau,
            log_gap,
            state.eps,
            root_delta,
            delta_gap,
            self.prior_mean,
            model.prior_precision,
            model.phi,
            model.eta,
            np.full(scale.size, -np.log(scale.size)),
            model.ordinal,
            model.spam,
            model.responsibility == "exact",
            not self.single,
        )

    def reduce(self, state: State, parts: Iterable[tuple[Any, ...]]) -> tuple[Sums, float]:
        """Add the shards in their order; return the sums and the ELBO at the state."""
        from venire.aggregation.kernels.gamma import gamma_elbo

        columns = list(zip(*parts, strict=True))
        if self.single:
            weight, square = sum(columns[2]), sum(columns[3])
        else:
            weight, square = np.concatenate(columns[2]), np.concatenate(columns[3])
        sums = Sums(
            np.concatenate(columns[0]),
            np.concatenate(columns[1]),
            weight,
            square,
            sum(columns[4]),
            sum(columns[5]),
            sum(columns[6]),
        )
        elbo = sum(columns[7])
        _, log_gap, _, delta_gap = state.tables
        elbo += gamma_elbo(state.alpha_n, state.beta_n, log_gap, state.alpha, state.beta)
        elbo += gamma_elbo(state.phi_c, state.eta_c, delta_gap, self.model.phi, self.model.eta)
        return sums, float(elbo)

    def update(self, state: State, sums: Sums) -> State:
        """Update delta, tau, epsilon, alpha and beta from the sums, in this order."""
        from scipy.special import psi

        from venire.aggregation.kernels.gamma import gamma_shape

        model = self.model
        phi_c = model.phi + 0.5 * sums.category_weight
        eta_c = model.eta + 0.5 * sums.category_square
        square = sums.annotator_square
        if self.single:
            square = square * (phi_c[0] / eta_c[0])
        alpha_n = state.alpha + 0.5 * sums.annotator_weight
        beta_n = state.beta + 0.5 * square
        eps = state.eps
        if model.spam:
            eps = np.clip(sums.annotator_weight / self.codes.per_annotator, EDGE, 1.0 - EDGE)
        tau = alpha_n / beta_n
        alpha, beta = state.alpha, state.beta
        if tau.size:
            mean = float(np.mean(tau))
            mean_log = float(np.mean(psi(alpha_n) - np.log(beta_n)))
            alpha = gamma_shape(mean, mean_log, high=HIGHEST_SHAPE)
            beta = alpha / mean
        return State(
            sums.mu, sums.var, alpha_n, beta_n, eps, phi_c, eta_c, alpha, beta, sums.sharpness
        )

    def choose_restart(self, fits: list[loop.Fit]) -> tuple[int, tuple[str, ...]]:
        """Return the restart with the highest ELBO, and notes.

        A restart in which (nearly) every judgment became spam has moved all items to the prior
        mean. It is chosen only if all restarts ended that way.

        Raises
        ------
        BadSetting
            When the ELBO of every restart is not finite.
        """
        finite = [number for number, fit in enumerate(fits) if np.isfinite(fit.bounds[-1])]
        if not finite:
            raise BadSetting(f"{self.model.name}: the ELBO is not finite with these settings.")
        trust = [self._measure_trust(fit.state) for fit in fits]
        sound = [number for number in finite if trust[number] >= COLLAPSED]
        notes: list[str] = []
        if not sound:
            notes.append("every restart took all judgments for spam: the grades are useless")
        elif len(sound) < len(fits):
            lost = len(fits) - len(sound)
            notes.append(f"{lost} of {len(fits)} restarts took all judgments for spam; not used")
        best = max(sound or finite, key=lambda number: fits[number].bounds[-1])
        if sound and trust[best] < 0.5:
            notes.append(f"{1 - trust[best]:.0%} of the judgments are taken for spam")
        steps = np.diff(self.judgments.scale.array())
        if steps.size and steps.max() > 5 * steps.min():
            notes.append("the steps of the scale are very uneven; they are used as distances")
        return best, tuple(notes)

    def _measure_trust(self, state: State) -> float:
        """Return the share of judgments that depend on their item."""
        count = self.codes.per_annotator
        if not self.model.spam or not count.size:
            return 1.0
        return float(np.average(state.eps, weights=count))

    def build(
        self, fits: list[loop.Fit], best: int, seed: int, notes: tuple[str, ...]
    ) -> Posterior:
        """Return the posterior of the chosen restart."""
        codes, layout = self.codes, self.layout
        state: State = fits[best].state
        back = np.empty_like(layout.order)
        back[layout.order] = np.arange(back.size)
        mean, sd = self.unit * state.mu[back], self.unit * np.sqrt(state.var[back])
        thresholds = self.judgments.scale.thresholds(outer="infinite")
        unsure = int(np.sum(state.var > 0.9 / self.model.prior_precision))
        if unsure:
            notes = (
                *notes,
                f"all judgments of {express(unsure, 'item')} are taken for spam: their sd is that "
                f"of the prior, {self.unit * self.model.prior_precision**-0.5:.3g}",
            )
        columns = {
            "expertise": state.tau / self.unit**2,
            "expertise_sd": np.sqrt(state.alpha_n) / state.beta_n / self.unit**2,
        }
        if self.model.spam:
            columns["spamminess"] = 1.0 - state.eps
            columns["spamminess_sd"] = eps_sd(state, codes.per_annotator)
        difficulty = None
        if not self.single:
            difficulty = self._name_categories().with_columns(
                pl.Series("inverse_difficulty", state.delta),
                pl.Series("inverse_difficulty_sd", np.sqrt(state.phi_c) / state.eta_c),
            )
        return build_posterior(
            self.model,
            self.judgments,
            seed=seed,
            probabilities=cell_probabilities(mean, sd, thresholds),
            mean=mean,
            sd=sd,
            annotators=build_annotators(codes, **columns),
            difficulty=difficulty,
            fits=fits,
            best=best,
            notes=notes,
            state={
                "state": state,
                "items": codes.items.select(PAIR)[layout.order],
                "categories": self._name_categories(),
            },
        )
