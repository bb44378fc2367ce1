"""Inference in the ordinal discrete mixture: starts, sweeps, updates, bound, result.

Equation numbers are those of the source document (arXiv:1305.0015).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from venire.aggregation import base, loop
from venire.aggregation.ordinal_mixture.state import Layout, Settings, State, eps_sd
from venire.aggregation.posterior import Posterior, bounds_frame
from venire.arrays import Floats
from venire.engine import Engine, Serial
from venire.errors import BadSetting
from venire.progress import Progress
from venire.tables.codes import JudgmentCodes
from venire.tables.judgments import Judgments
from venire.tables.schema import PAIR, counted

NAME = "ordinal-mixture"
EDGE = 1e-10
"""epsilon_n stays this far from 0 and 1, so that no likelihood is exactly zero."""
COLLAPSED = 0.05
"""Where a smaller share of the judgments answers to the item, the fit says nothing."""
HIGHEST_SHAPE = 100.0
"""Of the prior of tau: alike or few annotators would raise it, and their certainty, for ever."""
FAR = 1e10
"""Stands for an infinite threshold in the kernel."""


class Sums(NamedTuple):
    """Statistics of all shards together."""

    mu: Floats
    var: Floats
    category_weight: Floats
    category_square: Floats
    annotator_weight: Floats
    annotator_square: Floats
    sharpness: Floats


@dataclass(frozen=True)
class Problem:
    """One fit: the settings met with the data."""

    model: Settings
    judgments: Judgments
    layout: Layout
    known: Floats

    @property
    def codes(self) -> JudgmentCodes:
        """The judgments as integers."""
        return self.judgments.codes

    @cached_property
    def unit(self) -> float:
        """Mean step of the scale; the fit is in steps, so that labels 0, 25, 50 are as 0, 1, 2."""
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

    def begin(self, restart: int, seed: int) -> State:
        """Return a start: item means, and strengths that differ between restarts.

        What is drawn is how far annotators are trusted at first, one number for all of
        them, so that a start depends neither on the order of rows nor on the names of ids:
        they err by half a step to a whole one, and answer to the item in 80 to 99 of 100
        cases. From distrustful starts the fit ends where everything is spam, which always
        has a high bound and says nothing (docs/decisions/0003-starts.md).
        """
        base.check_seed(seed)
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

    def warm(self, start: Posterior) -> State:
        """Return the state of an earlier result, met with the ids there are now."""
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
        new, old = base.align(
            pl.DataFrame({"annotator_id": self.codes.annotators}), start.annotators
        )
        for name in ("alpha_n", "beta_n", "eps"):
            getattr(fresh, name)[new] = getattr(earlier, name)[old]
        items = self.codes.items.select(PAIR)[self.layout.order]
        new, old = base.align(items, start.state["items"])
        for name in ("mu", "var"):
            getattr(fresh, name)[new] = getattr(earlier, name)[old]
        fresh.var[fresh.var == 0.0] = 1.0 / self.model.prior_precision
        if self.model.spam:
            # An epsilon of exactly 1, as a fit without spam leaves it, could never move again.
            was_spam = bool(start.settings.get("spam", True))
            fresh = replace(fresh, eps=np.clip(fresh.eps, 0.001, 0.999) if was_spam else state.eps)
        names = self._category_names()
        if start.state["categories"].columns == names.columns:
            new, old = base.align(names, start.state["categories"])
            fresh.phi_c[new] = earlier.phi_c[old]
            fresh.eta_c[new] = earlier.eta_c[old]
        return self._hold(fresh)

    def _category_names(self) -> pl.DataFrame:
        if self.layout.categories is None:
            return pl.DataFrame({"category": ["all"]})
        if self.model.difficulty == "item":
            return self.codes.items.select(PAIR)
        return pl.DataFrame({self.model.difficulty: self.layout.categories})

    def _hold(self, state: State) -> State:
        there = ~np.isnan(self.known)
        return replace(
            state,
            mu=np.where(there, self.known / self.unit, state.mu),
            var=np.where(there, 0.0, state.var),
        )

    def run(
        self, starts: Sequence[Callable[[], State]], engine: Engine, progress: Progress
    ) -> list[loop.Fit]:
        """Fit from each start and return what each ended with."""
        model = self.model
        layout = self.layout
        block = layout.indptr[layout.category_start] if not self.single else layout.indptr
        shards = loop.cut(block, model.shards)

        def one(number: int, inner: Engine) -> loop.Fit:
            return loop.iterate(
                starts[number](),
                shards,
                self.sweep,
                self.reduce,
                self.update,
                engine=inner,
                tolerance=model.tolerance,
                max_iterations=model.max_iterations,
                progress=progress,
                task=f"{NAME}, start {number + 1} of {len(starts)}",
            )

        if len(starts) == 1:
            return [one(0, engine)]
        # Starts side by side leave no thread waiting; shards keep their order within each.
        return list(engine.map(lambda number: one(number, Serial()), range(len(starts))))

    def sweep(self, state: State, shard: loop.Shard) -> tuple[Any, ...]:
        """Work on one shard: categories start..stop, or items where one category spans all."""
        from venire.aggregation.kernels.ordinal import sweep

        layout, model, scale = self.layout, self.model, self.judgments.scale
        if self.single:
            category_start = np.array([shard.start, shard.stop], np.int64)
            first = 0
        else:
            category_start = layout.category_start[shard.start : shard.stop + 1]
            first = shard.start
        root_tau, log_gap, root_delta, delta_gap = state.tables
        # Without the ordinal link the width of a cell is what rounding hides: never infinite.
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
        """Add the shards up in their order; return the sums and the bound at the state."""
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
        bound = sum(columns[7])
        from venire.aggregation.kernels.gamma import gamma_bound

        _, log_gap, _, delta_gap = state.tables
        bound += gamma_bound(state.alpha_n, state.beta_n, log_gap, state.alpha, state.beta)
        bound += gamma_bound(state.phi_c, state.eta_c, delta_gap, self.model.phi, self.model.eta)
        return sums, float(bound)

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

    def best(self, fits: list[loop.Fit]) -> tuple[int, tuple[str, ...]]:
        """Return the start with the highest bound, and what to say of it.

        A start in which (nearly) every judgment became spam has set all items to the prior
        mean. It is kept only where all starts ended so.

        Raises
        ------
        BadSetting
            When every start ended in numbers that are none.
        """
        finite = [at for at, fit in enumerate(fits) if np.isfinite(fit.bounds[-1])]
        if not finite:
            raise BadSetting(f"{NAME}: the bound is no number with these settings")
        trust = [self._trust(fit.state) for fit in fits]
        sound = [at for at in finite if trust[at] >= COLLAPSED]
        notes: list[str] = []
        if not sound:
            notes.append("every start took all judgments for spam: the grades say nothing")
        elif len(sound) < len(fits):
            lost = len(fits) - len(sound)
            notes.append(f"{lost} of {len(fits)} starts took all judgments for spam, set aside")
        best = max(sound or finite, key=lambda at: fits[at].bounds[-1])
        if sound and trust[best] < 0.5:
            notes.append(f"{1 - trust[best]:.0%} of the judgments are taken for spam")
        steps = np.diff(self.judgments.scale.array())
        if steps.size and steps.max() > 5 * steps.min():
            notes.append("the steps of the scale are very uneven and are taken for distances")
        return best, tuple(notes)

    def _trust(self, state: State) -> float:
        """Return the share of judgments that answer to their item."""
        count = self.codes.per_annotator
        if not self.model.spam or not count.size:
            return 1.0
        return float(np.average(state.eps, weights=count))

    def finish(
        self, fits: list[loop.Fit], best: int, seed: int, notes: tuple[str, ...]
    ) -> Posterior:
        """Return the posterior of the chosen start."""
        codes, scale, layout = self.codes, self.judgments.scale, self.layout
        state: State = fits[best].state
        back = np.empty_like(layout.order)
        back[layout.order] = np.arange(back.size)
        mean, sd = self.unit * state.mu[back], self.unit * np.sqrt(state.var[back])
        grades = base.cells(mean, sd, scale.thresholds(outer="infinite"))
        order = base.item_order(codes)
        blank = int(np.sum(state.var > 0.9 / self.model.prior_precision))
        if blank:
            unsure = counted(blank, "item")
            notes = (
                *notes,
                f"all judgments of {unsure} are taken for spam: their sd is that of the prior, "
                f"{self.unit * self.model.prior_precision**-0.5:.3g}",
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
            difficulty = self._category_names().with_columns(
                pl.Series("inverse_difficulty", state.delta),
                pl.Series("inverse_difficulty_sd", np.sqrt(state.phi_c) / state.eta_c),
            )
        return Posterior(
            model=NAME,
            scale=scale,
            items=base.items_frame(codes, order, mean, sd),
            probabilities=grades[order],
            annotators=base.annotators_frame(codes, **columns),
            confusions=partial(base.confusion, codes, grades),
            difficulty=difficulty,
            bounds=bounds_frame([fit.bounds for fit in fits]),
            converged=fits[best].converged,
            restart=best,
            settings=base.settings_of(self.model),
            seed=seed,
            notes=(*self.judgments.notes, *notes, *base.loop_notes(fits, best)),
            state={
                "state": state,
                "items": codes.items.select(PAIR)[layout.order],
                "categories": self._category_names(),
            },
        )
