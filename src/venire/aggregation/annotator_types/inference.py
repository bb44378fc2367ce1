"""Inference of annotator types: places of items, types of annotators, their frequencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from venire.aggregation import loop
from venire.aggregation.annotator_types.grid import Places, Types, log_chances, tilt
from venire.arrays import Floats, Ints, Longs, Shorts

PSEUDO = 1.0
"""Annotators more, spread over all types, so that none becomes impossible."""
TYPICAL = (0.0, 0.75, 1.0, 0.85)
"""Bias, error, scale and reliability that everybody is taken to have at first."""
CHUNK = 4096
"""Annotators whose probabilities over types are worked out at once."""
KEPT = 8_000_000
"""Annotators times types up to which these stay in memory for a second use: 64 MB."""


class State(NamedTuple):
    """Frequencies of types, of positions and difficulties, and what they say of each label."""

    weight: Floats
    """[H]"""
    position: Floats
    """[Z]"""
    difficulty: Floats
    """[D]"""
    evidence: Floats
    """[N, label, T] sum_h R_nh ln P_h(label | place)."""
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
    """Of the grades [K], spread over the positions; None where it is learnt."""

    @cached_property
    def chances(self) -> Floats:
        """Logarithm of P(label | place, type) [label, H, T]."""
        return np.ascontiguousarray(log_chances(self.types, self.places).transpose(1, 0, 2))

    @cached_property
    def users(self) -> list[Longs]:
        """Who ever gave each label: nothing is worked out for labels that somebody never gives."""
        size = self.types.pi.shape[1]
        return [np.unique(self.annotator[self.label == k]).astype(np.int64) for k in range(size)]

    def among(self, k: int, at: slice) -> Longs:
        """Return the annotators of a chunk who gave a label."""
        low, high = np.searchsorted(self.users[k], (at.start, at.stop))
        return self.users[k][low:high]

    @cached_property
    def traits(self) -> Floats:
        """What has mean 0 over the types [H, F]: reliability times bias, and times ln scale."""
        e = self.types.reliability
        columns = [e * self.types.bias, e * np.log(self.types.scale)]
        return np.array([column for column in columns if np.ptp(column) > 0]).reshape(-1, e.size).T

    @cached_property
    def window(self) -> tuple[Longs, Longs]:
        """First and past-the-last place of each item; where its grade is known, that grade."""
        d = self.places.difficulties.size
        low = np.zeros(self.known.size, np.int64)
        high = np.full(self.known.size, d * self.places.positions.size, np.int64)
        there = self.known >= 0
        low[there] = self.places.grades[self.known[there]] * d
        high[there] = low[there] + d
        return low, high

    def begin(self) -> State:
        """Return the start: everybody typical, every place as likely."""
        z, d = self.places.positions.size, self.places.difficulties.size
        bias, error, scale, reliability = TYPICAL
        size = self.types.pi.shape[1]
        one = Types(
            np.array([bias]), np.array([error]), np.array([scale]), np.array([reliability]),
            np.zeros(1, np.int64), np.full((1, size), 1.0 / size), ("uniform",),
        )  # fmt: skip
        evidence = np.repeat(log_chances(one, self.places), self.n_annotators, axis=0)
        weight = tilt(np.full(self.types.count, 1.0 / self.types.count), self.traits)
        position = np.full(z, 1.0 / z)
        if self.prior is not None:
            position = np.interp(
                self.places.positions, self.places.positions[self.places.grades], self.prior
            )
            position = position / position.sum()
        return State(weight, position, np.full(d, 1.0 / d), evidence, 0.0)

    def log_prior(self, state: State) -> Floats:
        """Return ln p(place) [T]."""
        both = state.position[:, None] * state.difficulty[None, :]
        log: Floats = np.log(both).reshape(-1)
        return log

    def sweep(self, state: State, shard: loop.Shard) -> tuple[Any, ...]:
        """Return expected counts, expected places and the bound of a shard."""
        from venire.aggregation.kernels.types import sweep

        return sweep(
            self.indptr,
            self.annotator,
            self.label,
            shard.start,
            shard.stop,
            state.evidence,
            self.log_prior(state),
            *self.window,
        )

    def reduce(
        self, state: State, parts: Iterable[tuple[Any, ...]]
    ) -> tuple[tuple[Floats, Floats], float]:
        """Add the shards up in their order."""
        counts = np.zeros_like(state.evidence)
        taken = np.zeros(state.position.size * state.difficulty.size)
        bound = -state.divergence
        for part in parts:
            counts += part[0]
            taken += part[1]
            bound += part[2]
        return (counts, taken), bound

    def update(self, state: State, sums: tuple[Floats, Floats]) -> State:
        """Return the state with types given places, then how frequent each is."""
        counts, taken = sums
        z, d = state.position.size, state.difficulty.size
        table = taken.reshape(z, d)
        position = state.position
        if self.prior is None:
            position = table.sum(axis=1) + 1.0 / z
            position = position / position.sum()
        difficulty = table.sum(axis=0) + 1.0 / d
        difficulty = difficulty / difficulty.sum()
        # Kept where they are few, made again where N x H would be large.
        few = self.n_annotators * self.types.count <= KEPT
        kept = list(self.responsibilities(state, counts)) if few else None
        total = np.zeros(self.types.count)
        for _, r, _ in kept or self.responsibilities(state, counts):
            total += r.sum(axis=0)
        weight = tilt(total + PSEUDO / self.types.count, self.traits)
        evidence = np.zeros_like(state.evidence)
        # KL(R || weight): ln R is the score less its normaliser, under the weights so far.
        divergence = float(total @ (np.log(state.weight) - np.log(weight)))
        for at, r, normaliser in kept or self.responsibilities(state, counts):
            for k, table in enumerate(self.chances):
                who = self.among(k, at)
                evidence[who, k] = r[who - at.start] @ table
            divergence += float(np.vdot(counts[at], evidence[at])) - normaliser
        return State(weight, position, difficulty, evidence, divergence)

    def responsibilities(
        self, state: State, counts: Floats
    ) -> Iterator[tuple[slice, Floats, float]]:
        """Yield (annotators, R [n, H], sum of log normalisers) in chunks: never all of N x H."""
        log_weight = np.log(state.weight)
        for start in range(0, self.n_annotators, CHUNK):
            at = slice(start, min(start + CHUNK, self.n_annotators))
            score = np.tile(log_weight, (at.stop - at.start, 1))
            for k, table in enumerate(self.chances):
                who = self.among(k, at)
                score[who - start] += counts[who, k] @ table.T
            top = score.max(axis=1, keepdims=True)
            score -= top
            np.exp(score, out=score)
            total = score.sum(axis=1, keepdims=True)
            score /= total
            yield at, score, float(np.sum(top) + np.sum(np.log(total)))

    def people(
        self, state: State, shares: Floats
    ) -> tuple[dict[str, tuple[Floats, Floats]], Floats]:
        """Return mean and sd of each trait [N], and the probability of kinds of spam [N, S].

        ``right`` is the chance that a label is the grade, for grades as frequent as
        ``shares`` says and the middle difficulty. Bias, error and scale are averaged over
        the types that look, weighted by how often they do.
        """
        types, places = self.types, self.places
        middle = places.difficulties.size // 2
        at = places.grades * places.difficulties.size + middle
        k = np.arange(places.grades.size)
        right = np.exp(self.chances[k, :, at]).T @ shares
        e = types.reliability
        whole = np.stack([e, right], axis=1)
        looking = np.stack([types.bias, types.error, types.scale], axis=1)
        spam = np.zeros((types.count, types.pi.shape[0]))
        spam[np.arange(types.count), types.spam] = 1.0 - e
        means = np.zeros((self.n_annotators, 5))
        squares = np.zeros_like(means)
        kinds = np.zeros((self.n_annotators, types.pi.shape[0]))
        for rows, r, _ in self.responsibilities(state, self.counts(state)):
            means[rows, :2], squares[rows, :2] = r @ whole, r @ whole**2
            weight = r * (e + 1e-9)
            weight /= weight.sum(axis=1, keepdims=True)
            means[rows, 2:], squares[rows, 2:] = weight @ looking, weight @ looking**2
            kinds[rows] = r @ spam
        sd = np.sqrt(np.maximum(squares - means**2, 0.0))
        total = kinds.sum(axis=1, keepdims=True)
        names = ("reliability", "right", "bias", "error", "scale")
        traits = {name: (means[:, i], sd[:, i]) for i, name in enumerate(names)}
        return traits, kinds / np.maximum(total, 1e-300)

    def counts(self, state: State) -> Floats:
        """Return the expected counts [N, label, T] at a state."""
        (counts, _), _ = self.reduce(state, [self.sweep(state, loop.Shard(0, self.known.size))])
        return counts
