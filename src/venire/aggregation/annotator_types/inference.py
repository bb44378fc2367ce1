"""Inference of annotator types: places of items, types of annotators, and their frequencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from venire.aggregation import loop
from venire.aggregation.annotator_types.grid import (
    Places,
    Types,
    log_chances,
    spread_prior,
    tilt,
)
from venire.arrays import Floats, Ints, Longs, Shorts

PSEUDO = 1.0
"""Additional annotators, spread over all types, so that no type becomes impossible."""
TYPICAL = (0.0, 0.75, 1.0, 0.85)
"""Bias, error, scale and reliability of every annotator in the first state."""
CHUNK = 4096
"""Annotators whose type probabilities are computed at once."""
IN_MEMORY = 8_000_000
"""Annotators times types up to which these stay in memory for a second use: 64 MB."""


class State(NamedTuple):
    """Frequencies of types, positions and difficulties, and the expected log-likelihoods."""

    weight: Floats
    """Frequency of each type [H]."""
    position: Floats
    """Frequency of each position [Z]."""
    difficulty: Floats
    """Frequency of each difficulty [D]."""
    evidence: Floats
    """E_n(label, place) = sum_h R_nh ln P_h(label | place) [N, label, T]."""
    divergence: float
    """sum_n KL(R_n || weight)."""


@dataclass(frozen=True)
class Problem:
    """One fit on integer codes."""

    indptr: Longs
    annotator: Ints
    label: Shorts
    known: Shorts
    n_annotators: int
    places: Places
    types: Types
    prior: Floats | None
    """Prior of the grades [K], spread over the positions; None where it is learnt."""

    @property
    def blocks(self) -> Longs:
        """Judgments before each item."""
        return self.indptr

    @cached_property
    def chances(self) -> Floats:
        """Logarithm of P(label | place, type) [label, H, T]."""
        return np.ascontiguousarray(log_chances(self.types, self.places).transpose(1, 0, 2))

    @cached_property
    def users(self) -> list[Longs]:
        """The annotators who gave each label; nothing is computed for the others."""
        size = self.types.pi.shape[1]
        return [np.unique(self.annotator[self.label == k]).astype(np.int64) for k in range(size)]

    def find_users(self, k: int, chunk: slice) -> Longs:
        """Return the annotators of a chunk who gave a label."""
        low, high = np.searchsorted(self.users[k], (chunk.start, chunk.stop))
        return self.users[k][low:high]

    @cached_property
    def traits(self) -> Floats:
        """Traits with mean 0 over the types [H, F]: reliability times bias, and times ln scale."""
        e = self.types.reliability
        columns = [e * self.types.bias, e * np.log(self.types.scale)]
        return np.array([column for column in columns if np.ptp(column) > 0]).reshape(-1, e.size).T

    @cached_property
    def window(self) -> tuple[Longs, Longs]:
        """First place of each item and one past its last; a known grade limits them."""
        d = self.places.difficulties.size
        low = np.zeros(self.known.size, np.int64)
        high = np.full(self.known.size, d * self.places.positions.size, np.int64)
        held = self.known >= 0
        low[held] = self.places.grades[self.known[held]] * d
        high[held] = low[held] + d
        return low, high

    def begin(self) -> State:
        """Return the first state: every annotator is typical, every place equally likely."""
        z, d = self.places.positions.size, self.places.difficulties.size
        bias, error, scale, reliability = TYPICAL
        size = self.types.pi.shape[1]
        typical = Types(
            np.array([bias]), np.array([error]), np.array([scale]), np.array([reliability]),
            np.zeros(1, np.int64), np.full((1, size), 1.0 / size), ("uniform",),
        )  # fmt: skip
        evidence = np.repeat(log_chances(typical, self.places), self.n_annotators, axis=0)
        weight = tilt(np.full(self.types.count, 1.0 / self.types.count), self.traits)
        position = np.full(z, 1.0 / z)
        if self.prior is not None:
            position = spread_prior(self.places, self.prior)
        return State(weight, position, np.full(d, 1.0 / d), evidence, 0.0)

    def compute_log_prior(self, state: State) -> Floats:
        """Return ln p(place) [T]."""
        both = state.position[:, None] * state.difficulty[None, :]
        log: Floats = np.log(both).reshape(-1)
        return log

    def sweep(self, state: State, shard: loop.Shard) -> tuple[Any, ...]:
        """Return expected counts, expected places and the log normaliser of a shard."""
        from venire.aggregation.kernels.types import sweep

        return sweep(
            self.indptr,
            self.annotator,
            self.label,
            shard.start,
            shard.stop,
            state.evidence,
            self.compute_log_prior(state),
            *self.window,
        )

    def reduce(
        self, state: State, parts: Iterable[tuple[Any, ...]]
    ) -> tuple[tuple[Floats, Floats], float]:
        """Add the shards in their order."""
        counts = np.zeros_like(state.evidence)
        places = np.zeros(state.position.size * state.difficulty.size)
        elbo = -state.divergence
        for part in parts:
            counts += part[0]
            places += part[1]
            elbo += part[2]
        return (counts, places), elbo

    def update(self, state: State, sums: tuple[Floats, Floats]) -> State:
        """Return the next state: types given places, then the frequencies of both."""
        counts, places = sums
        z, d = state.position.size, state.difficulty.size
        table = places.reshape(z, d)
        position = state.position
        if self.prior is None:
            position = table.sum(axis=1) + 1.0 / z
            position = position / position.sum()
        difficulty = table.sum(axis=0) + 1.0 / d
        difficulty = difficulty / difficulty.sum()
        # Held in memory if few, computed again if N x H is large.
        few = self.n_annotators * self.types.count <= IN_MEMORY
        chunks = list(self.iterate_responsibilities(state, counts)) if few else None
        total = np.zeros(self.types.count)
        for _, r, _ in chunks or self.iterate_responsibilities(state, counts):
            total += r.sum(axis=0)
        weight = tilt(total + PSEUDO / self.types.count, self.traits)
        evidence = np.zeros_like(state.evidence)
        # KL(R || weight): ln R is the score minus its normaliser, under the old weights.
        divergence = float(total @ (np.log(state.weight) - np.log(weight)))
        for chunk, r, normaliser in chunks or self.iterate_responsibilities(state, counts):
            for k, table in enumerate(self.chances):
                who = self.find_users(k, chunk)
                evidence[who, k] = r[who - chunk.start] @ table
            divergence += float(np.vdot(counts[chunk], evidence[chunk])) - normaliser
        return State(weight, position, difficulty, evidence, divergence)

    def iterate_responsibilities(
        self, state: State, counts: Floats
    ) -> Iterator[tuple[slice, Floats, float]]:
        """Yield (annotators, R [n, H], sum of log normalisers) in chunks, to save memory."""
        log_weight = np.log(state.weight)
        for start in range(0, self.n_annotators, CHUNK):
            chunk = slice(start, min(start + CHUNK, self.n_annotators))
            score = np.tile(log_weight, (chunk.stop - chunk.start, 1))
            for k, table in enumerate(self.chances):
                who = self.find_users(k, chunk)
                score[who - start] += counts[who, k] @ table.T
            top = score.max(axis=1, keepdims=True)
            score -= top
            np.exp(score, out=score)
            total = score.sum(axis=1, keepdims=True)
            score /= total
            yield chunk, score, float(np.sum(top) + np.sum(np.log(total)))

    def describe_annotators(self, state: State, shares: Floats) -> dict[str, tuple[Floats, Floats]]:
        """Return mean and sd of each trait [N].

        ``right`` is the probability that a label is the grade, for grades with the
        frequencies ``shares`` [K] and the middle difficulty. Bias, error and scale are averaged
        over the types that look, weighted by their reliability.
        """
        types, places = self.types, self.places
        middle = places.difficulties.size // 2
        grade_places = places.grades * places.difficulties.size + middle
        k = np.arange(places.grades.size)
        right = np.exp(self.chances[k, :, grade_places]).T @ shares
        e = types.reliability
        whole = np.stack([e, right], axis=1)
        looking = np.stack([types.bias, types.error, types.scale], axis=1)
        means = np.zeros((self.n_annotators, 5))
        squares = np.zeros_like(means)
        for rows, r, _ in self.iterate_responsibilities(state, self.expect_counts(state)):
            means[rows, :2], squares[rows, :2] = r @ whole, r @ whole**2
            weight = r * (e + 1e-9)
            weight /= weight.sum(axis=1, keepdims=True)
            means[rows, 2:], squares[rows, 2:] = weight @ looking, weight @ looking**2
        sd = np.sqrt(np.maximum(squares - means**2, 0.0))
        names = ("reliability", "right", "bias", "error", "scale")
        return {name: (means[:, i], sd[:, i]) for i, name in enumerate(names)}

    def expect_counts(self, state: State) -> Floats:
        """Return the expected counts [N, label, T] at a state."""
        (counts, _), _ = self.reduce(state, [self.sweep(state, loop.Shard(0, self.known.size))])
        return counts
