"""What a measure sees: ranks and grades of the retrieved documents that the qrels name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """The qrels of all topics: a grade for each pair, sorted by topic, then grade falling.

    Attributes
    ----------
    topic : int64 [Q]
    grade : int64 [Q]
        Negative means "in the pool, not judged".
    topics : int
        T.
    stratum : int64 [Q], optional
        Code of the stratum each pair was sampled from.
    """

    topic: Longs
    grade: Longs
    topics: int
    stratum: Longs | None = None

    @classmethod
    def of(cls, topic: Longs, grade: Longs, topics: int, stratum: Longs | None = None) -> Judged:
        """Return the grades sorted."""
        order = np.lexsort((-grade, topic))
        return cls(topic[order], grade[order], topics, None if stratum is None else stratum[order])

    @property
    def strata(self) -> Longs:
        """The stratum of each pair [Q]; one for all where there are none."""
        return np.zeros(self.grade.size, np.int64) if self.stratum is None else self.stratum

    def count(self, mask: Mask) -> Floats:
        """Return how many pairs of each topic are in a mask [T]."""
        return np.bincount(self.topic[mask], minlength=self.topics).astype(np.float64)

    def relevant(self, rel: int) -> Floats:
        """Return R, the number of relevant pairs of each topic [T]."""
        return self.count(self.grade >= rel)

    @cached_property
    def position(self) -> Longs:
        """Rank of each pair in the ideal order of its topic, from 1 [Q]."""
        start = np.searchsorted(self.topic, np.arange(self.topics))
        return np.arange(self.topic.size) - start[self.topic] + 1


@dataclass(frozen=True)
class Hits:
    """Retrieved documents that the qrels name, sorted by segment (run x topic), then rank.

    Attributes
    ----------
    segment : int64 [H]
        ``run * T + topic``.
    rank : int64 [H]
        From 1.
    grade : int64 [H]
    retrieved : int64 [S]
        Documents retrieved in each segment.
    judged : Judged
    stratum : int64 [H], optional
    """

    segment: Longs
    rank: Longs
    grade: Longs
    retrieved: Longs
    judged: Judged
    stratum: Longs | None = None

    @property
    def strata(self) -> Longs:
        """The stratum of each document [H]; one for all where there are none."""
        return np.zeros(self.grade.size, np.int64) if self.stratum is None else self.stratum

    @property
    def segments(self) -> int:
        """S, the number of runs times topics."""
        return self.retrieved.size

    @cached_property
    def _start(self) -> Longs:
        return np.searchsorted(self.segment, np.arange(self.segments))

    def per_topic(self, value: Floats) -> Floats:
        """Repeat a value of each topic for every run [S]."""
        return np.tile(value, self.segments // max(self.judged.topics, 1))

    def running(self, mask: Mask) -> Longs:
        """Return how many of a mask stand in the segment up to here, this one included [H]."""
        total = np.cumsum(mask)
        before = np.concatenate([[0], total])[self._start]
        so_far: Longs = total - before[self.segment]
        return so_far

    def sum(self, value: Floats, mask: Mask | None = None) -> Floats:
        """Return the sum of a value over each segment [S]."""
        segment = self.segment if mask is None else self.segment[mask]
        weight = value if mask is None else value[mask]
        total = np.bincount(segment, weights=weight, minlength=self.segments)
        return total.astype(np.float64, copy=False)

    def ranks(self, *, judged_only: bool = False) -> Longs:
        """Return ranks, or ranks among the judged documents alone."""
        return self.running(self.grade >= 0) if judged_only else self.rank

    def within(self, mask: Mask, cutoff: int | None, ranks: Longs | None = None) -> Mask:
        """Return a mask cut at a rank."""
        if cutoff is None:
            return mask
        inside: Mask = mask & ((self.rank if ranks is None else ranks) <= cutoff)
        return inside


def ratio(above: Floats, below: Floats) -> Floats:
    """Return above / below, and 0 where below is 0."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
