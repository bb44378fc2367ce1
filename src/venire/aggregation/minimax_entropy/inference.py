"""Inference of minimax conditional entropy: annotators' terms, items' terms, grades in turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from venire.aggregation import loop
from venire.arrays import Floats, Ints, Longs, Shorts

STEPS = 2
"""Steps of an item's terms in one sweep."""
HELD = 5
"""Sweeps at first in which the grades stay at the shares of votes."""


class State(NamedTuple):
    """Terms sigma [N, D] and tau [M, D], and grade probabilities [M, K].

    D is K * K, or 2 (K - 1) in the ordinal form: one number a threshold and side of it.
    """

    sigma: Floats
    factor: Floats
    """exp(sigma) [N, grade, label], each row up to 1."""
    tau: Floats
    grades: Floats
    prior: Floats
    """Grade prior [K]."""


class Sums(NamedTuple):
    """Statistics of all shards together."""

    tau: Floats
    grades: Floats
    gradient: Floats
    weight: Floats


def terms(sigma: Floats, size: int, *, ordinal: bool) -> Floats:
    """Return the table [N, grade, label] of each row of parameters.

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


def slopes(gradient: Floats, *, ordinal: bool) -> Floats:
    """Return the gradient of the parameters [N, D] from that of the tables [N, grade, label]."""
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


def threshold_pairs(size: int) -> Floats:
    """Return f_s' (I - 11'/K) f_t / 2 for the thresholds' signs f: the largest curvature."""
    signs = np.where(np.arange(size)[None, :] >= np.arange(1, size)[:, None], 1.0, -1.0)
    centred = signs - signs.mean(axis=1, keepdims=True)
    pairs: Floats = 0.5 * centred @ centred.T
    return pairs


def rise(sigma: Floats, sums: Sums, alpha: float, *, ordinal: bool) -> Floats:
    """Return the annotators' terms one step uphill, a step that cannot overshoot."""
    slope = slopes(sums.gradient, ordinal=ordinal)
    n, size = sums.weight.shape
    if not ordinal:
        curve = np.repeat(0.5 * sums.weight + alpha, size, axis=1)
        return sigma + (slope - alpha * sigma) / curve
    pairs = threshold_pairs(size)
    d = sigma.shape[1]
    matrix = np.zeros((n, d, d))
    matrix[:, np.arange(d), np.arange(d)] = 2.0 * alpha
    for c in range(size):
        at = 2 * np.arange(size - 1) + (c >= np.arange(1, size))
        matrix[:, at[:, None], at[None, :]] += sums.weight[:, c, None, None] * pairs
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
    """The grade prior [K], None where it is learnt."""

    @property
    def width(self) -> int:
        """D, numbers an annotator or an item."""
        return 2 * (self.size - 1) if self.ordinal else self.size**2

    def begin(self, shards: Sequence[loop.Shard]) -> State:
        """Return the start: the terms that the shares of votes give, taken for the grades."""
        from venire.aggregation.kernels.counts import votes

        grades = votes(self.indptr, self.label, self.size)
        grades = grades / np.maximum(grades.sum(axis=1, keepdims=True), 1.0)
        tau = np.zeros((grades.shape[0], self.width))
        state = self.state(np.zeros((self.n_annotators, self.width)), tau, grades)
        for _ in range(HELD):
            parts = [self.sweep(state, shard, hold=True) for shard in shards]
            state = self.update(state, self.reduce(state, parts)[0])
        return state

    def state(self, sigma: Floats, tau: Floats, grades: Floats) -> State:
        """Return a state with its tables, known grades held."""
        from venire.aggregation.kernels.minimax import LEAST

        there = np.flatnonzero(self.known >= 0)
        if there.size:
            grades = grades.copy()
            grades[there] = 0.0
            grades[there, self.known[there]] = 1.0
        table = terms(sigma, self.size, ordinal=self.ordinal)
        top = table.max(axis=2, keepdims=True, initial=-np.inf)
        factor = np.maximum(np.exp(table - top), LEAST)
        prior = self.fixed
        if prior is None:
            # One item more, spread over the grades, so that none becomes impossible.
            prior = grades.sum(axis=0) + 1.0 / self.size
            prior = prior / prior.sum()
        return State(sigma, np.ascontiguousarray(factor), tau, grades, prior)

    def sweep(self, state: State, shard: loop.Shard, *, hold: bool = False) -> tuple[Any, ...]:
        """Return the shard's terms and grades, what the annotators need, and the bound."""
        from venire.aggregation.kernels.minimax import sweep

        return sweep(
            self.indptr,
            self.annotator,
            self.label,
            shard.start,
            shard.stop,
            state.factor,
            state.tau,
            state.grades,
            self.known,
            np.log(state.prior),
            self.beta,
            STEPS,
            hold,
            self.ordinal,
            threshold_pairs(self.size),
        )

    def reduce(self, state: State, parts: Iterable[tuple[Any, ...]]) -> tuple[Sums, float]:
        """Add the shards up in their order; the bound has the annotators' penalty."""
        tau, grades = [], []
        gradient = np.zeros_like(state.factor)
        weight = np.zeros(state.factor.shape[:2])
        bound = -(1.0 if self.ordinal else 0.5) * self.alpha * float(np.sum(state.sigma**2))
        if self.fixed is None:
            bound += float(np.sum(np.log(state.prior))) / self.size
        for part in parts:
            tau.append(part[0])
            grades.append(part[1])
            gradient += part[2]
            weight += part[3]
            bound += part[4]
        return Sums(np.concatenate(tau), np.concatenate(grades), gradient, weight), bound

    def update(self, state: State, sums: Sums) -> State:
        """Return the state with the annotators' terms moved uphill."""
        sigma = rise(state.sigma, sums, self.alpha, ordinal=self.ordinal)
        return self.state(sigma, sums.tau, sums.grades)
