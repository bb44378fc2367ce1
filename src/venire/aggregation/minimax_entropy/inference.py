"""Inference of minimax conditional entropy: terms of annotators, terms of items, grades."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from venire.aggregation import loop
from venire.arrays import Floats, Ints, Longs, Shorts

ITEM_STEPS = 2
"""Steps of the terms of an item per sweep."""
HELD_SWEEPS = 5
"""First sweeps, in which the grades stay at the shares of votes."""


class State(NamedTuple):
    """Terms of annotators and items, and grade probabilities.

    D is K * K, or 2 (K - 1) in the ordinal form: one number per threshold and side of it.
    """

    sigma: Floats
    """Terms of the annotators [N, D]."""
    exp_sigma: Floats
    """exp(sigma) [N, grade, label], scaled so that the largest of each row is 1."""
    tau: Floats
    """Terms of the items [M, D]."""
    q: Floats
    """Grade probabilities [M, K]."""
    prior: Floats
    """Grade prior [K]."""


class Sums(NamedTuple):
    """Statistics of all shards."""

    tau: Floats
    """New terms of the items [M, D]."""
    q: Floats
    """New grade probabilities [M, K]."""
    gradient: Floats
    """Gradient of the annotators' tables [N, grade, label]."""
    weight: Floats
    """Expected judgments of each grade [N, K]."""


def build_tables(sigma: Floats, size: int, *, ordinal: bool) -> Floats:
    """Return the table [N, grade, label] of each row of terms.

    Ordinal: the sum over thresholds s of u(s, grade >= s), minus it where label < s.
    """
    if not ordinal:
        return sigma.reshape(-1, size, size)
    table = np.zeros((sigma.shape[0], size, size))
    for s in range(1, size):
        for side, grades in ((0, slice(None, s)), (1, slice(s, None))):
            u = sigma[:, 2 * (s - 1) + side, None, None]
            table[:, grades, s:] += u
            table[:, grades, :s] -= u
    return table


def collect_gradient(gradient: Floats, *, ordinal: bool) -> Floats:
    """Return the gradient of the terms [N, D] from that of the tables [N, grade, label]."""
    n, size, _ = gradient.shape
    if not ordinal:
        return gradient.reshape(n, size * size)
    out = np.zeros((n, 2 * (size - 1)))
    for s in range(1, size):
        for side, grades in ((0, slice(None, s)), (1, slice(s, None))):
            part = gradient[:, grades]
            out[:, 2 * (s - 1) + side] = part[:, :, s:].sum(axis=(1, 2))
            out[:, 2 * (s - 1) + side] -= part[:, :, :s].sum(axis=(1, 2))
    return out


def bound_curvature(size: int) -> Floats:
    """Return f_s' (I - 11'/K) f_t / 2 [K - 1, K - 1], the largest curvature.

    f_s [K] are the signs of threshold s: 1 for labels from s on, -1 below.
    """
    signs = np.where(np.arange(size)[None, :] >= np.arange(1, size)[:, None], 1.0, -1.0)
    centred = signs - signs.mean(axis=1, keepdims=True)
    pairs: Floats = 0.5 * centred @ centred.T
    return pairs


def climb(sigma: Floats, sums: Sums, alpha: float, *, ordinal: bool) -> Floats:
    """Return the annotators' terms after one step uphill that cannot overshoot."""
    slope = collect_gradient(sums.gradient, ordinal=ordinal)
    n, size = sums.weight.shape
    if not ordinal:
        curvature = np.repeat(0.5 * sums.weight + alpha, size, axis=1)
        return sigma + (slope - alpha * sigma) / curvature
    pairs = bound_curvature(size)
    d = sigma.shape[1]
    matrix = np.zeros((n, d, d))
    matrix[:, np.arange(d), np.arange(d)] = 2.0 * alpha
    for c in range(size):
        i = 2 * np.arange(size - 1) + (c >= np.arange(1, size))
        matrix[:, i[:, None], i[None, :]] += sums.weight[:, c, None, None] * pairs
    step = np.linalg.solve(matrix, (slope - 2.0 * alpha * sigma)[:, :, None])[:, :, 0]
    return sigma + step


@dataclass(frozen=True)
class Problem:
    """One fit on integer codes."""

    indptr: Longs
    annotator: Ints
    label: Shorts
    known: Shorts
    n_annotators: int
    size: int
    alpha: float
    beta: float
    ordinal: bool
    fixed: Floats | None = None
    """The grade prior [K]; None where it is learnt."""

    @property
    def blocks(self) -> Longs:
        """Judgments before each item."""
        return self.indptr

    @property
    def width(self) -> int:
        """D, the number of terms of an annotator or an item."""
        return 2 * (self.size - 1) if self.ordinal else self.size**2

    def begin(self, shards: Sequence[loop.Shard]) -> State:
        """Return the first state: the terms under which grades are the shares of votes."""
        from venire.aggregation.kernels.counts import count_votes

        q = count_votes(self.indptr, self.label, self.size)
        q = q / np.maximum(q.sum(axis=1, keepdims=True), 1.0)
        tau = np.zeros((q.shape[0], self.width))
        state = self.make_state(np.zeros((self.n_annotators, self.width)), tau, q)
        for _ in range(HELD_SWEEPS):
            parts = [self.sweep(state, shard, hold=True) for shard in shards]
            state = self.update(state, self.reduce(state, parts)[0])
        return state

    def make_state(self, sigma: Floats, tau: Floats, q: Floats) -> State:
        """Return a state with its tables; known grades are held."""
        from venire.aggregation.kernels.minimax import FLOOR

        held = np.flatnonzero(self.known >= 0)
        if held.size:
            q = q.copy()
            q[held] = 0.0
            q[held, self.known[held]] = 1.0
        table = build_tables(sigma, self.size, ordinal=self.ordinal)
        top = table.max(axis=2, keepdims=True, initial=-np.inf)
        exp_sigma = np.maximum(np.exp(table - top), FLOOR)
        prior = self.fixed
        if prior is None:
            # One more item, spread over the grades, so that no grade becomes impossible.
            prior = q.sum(axis=0) + 1.0 / self.size
            prior = prior / prior.sum()
        return State(sigma, np.ascontiguousarray(exp_sigma), tau, q, prior)

    def sweep(self, state: State, shard: loop.Shard, *, hold: bool = False) -> tuple[Any, ...]:
        """Return terms and grades of the items, the annotators' statistics, and the objective."""
        from venire.aggregation.kernels.minimax import sweep

        return sweep(
            self.indptr,
            self.annotator,
            self.label,
            shard.start,
            shard.stop,
            state.exp_sigma,
            state.tau,
            state.q,
            self.known,
            np.log(state.prior),
            self.beta,
            ITEM_STEPS,
            hold,
            self.ordinal,
            bound_curvature(self.size),
        )

    def reduce(self, state: State, parts: Iterable[tuple[Any, ...]]) -> tuple[Sums, float]:
        """Add the shards in their order; the objective includes the annotators' penalty."""
        tau, q = [], []
        gradient = np.zeros_like(state.exp_sigma)
        weight = np.zeros(state.exp_sigma.shape[:2])
        objective = -(1.0 if self.ordinal else 0.5) * self.alpha * float(np.sum(state.sigma**2))
        if self.fixed is None:
            objective += float(np.sum(np.log(state.prior))) / self.size
        for part in parts:
            tau.append(part[0])
            q.append(part[1])
            gradient += part[2]
            weight += part[3]
            objective += part[4]
        return Sums(np.concatenate(tau), np.concatenate(q), gradient, weight), objective

    def update(self, state: State, sums: Sums) -> State:
        """Return the state after one step of the annotators' terms."""
        sigma = climb(state.sigma, sums, self.alpha, ordinal=self.ordinal)
        return self.make_state(sigma, sums.tau, sums.q)
