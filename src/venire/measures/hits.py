"""The input of a measure: ranks and grades of the retrieved documents that are in the qrels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from venire.arrays import Floats, Longs, Mask


@dataclass(frozen=True)
class Judged:
    """The qrels of all topics: one grade per pair, sorted by topic, then by descending grade.

    Attributes
    ----------
    topic : int64 [Q]
    grade : int64 [Q]
        Negative means "in the pool, not judged".
    topics : int
        T, the number of topics.
    stratum : int64 [Q], optional
        Code of the stratum each pair was sampled from.
    """

    topic: Longs
    grade: Longs
    topics: int
    stratum: Longs | None = None

    @classmethod
    def of(cls, topic: Longs, grade: Longs, topics: int, stratum: Longs | None = None) -> Judged:
        """Return judged pairs, sorted."""
        order = np.lexsort((-grade, topic))
        return cls(topic[order], grade[order], topics, None if stratum is None else stratum[order])

    @property
    def strata(self) -> Longs:
        """Stratum of each pair [Q]; a single stratum if none were recorded."""
        return np.zeros(self.grade.size, np.int64) if self.stratum is None else self.stratum

    def count(self, mask: Mask) -> Floats:
        """Return the number of pairs of each topic that a mask selects [T]."""
        return np.bincount(self.topic[mask], minlength=self.topics).astype(np.float64)

    def count_relevant(self, rel: int) -> Floats:
        """Return R, the number of relevant pairs of each topic [T]."""
        return self.count(self.grade >= rel)

    @cached_property
    def position(self) -> Longs:
        """Rank of each pair in the ideal order of its topic, starting at 1 [Q]."""
        start = np.searchsorted(self.topic, np.arange(self.topics))
        return np.arange(self.topic.size) - start[self.topic] + 1


@dataclass(frozen=True)
class Hits:
    """Retrieved documents that are in the qrels, sorted by segment (run x topic), then rank.

    Attributes
    ----------
    segment : int64 [H]
        ``run * T + topic``.
    rank : int64 [H]
        Rank among all retrieved documents, starting at 1.
    grade : int64 [H]
    retrieved : int64 [S]
        Number of documents retrieved in each segment.
    judged : Judged
        The qrels.
    stratum : int64 [H], optional
        Code of the stratum each document was sampled from.
    """

    segment: Longs
    rank: Longs
    grade: Longs
    retrieved: Longs
    judged: Judged
    stratum: Longs | None = None

    @property
    def strata(self) -> Longs:
        """Stratum of each document [H]; a single stratum if none were recorded."""
        return np.zeros(self.grade.size, np.int64) if self.stratum is None else self.stratum

    @property
    def segments(self) -> int:
        """S, the number of runs times topics."""
        return self.retrieved.size

    @cached_property
    def _start(self) -> Longs:
        return np.searchsorted(self.segment, np.arange(self.segments))

    def repeat_for_runs(self, value: Floats) -> Floats:
        """Repeat one value per topic [T] for every run [S]."""
        return np.tile(value, self.segments // max(self.judged.topics, 1))

    def count_up_to(self, mask: Mask) -> Longs:
        """Return, per document, how many of a mask are at its rank or above in its segment [H]."""
        total = np.cumsum(mask)
        before = np.concatenate([[0], total])[self._start]
        so_far: Longs = total - before[self.segment]
        return so_far

    def sum(self, value: Floats, mask: Mask | None = None) -> Floats:
        """Sum a value [H] over each segment [S]."""
        segment = self.segment if mask is None else self.segment[mask]
        weight = value if mask is None else value[mask]
        total = np.bincount(segment, weights=weight, minlength=self.segments)
        return total.astype(np.float64, copy=False)

    def select_ranks(self, *, judged_only: bool = False) -> Longs:
        """Return the ranks, or the ranks among the judged documents only [H]."""
        return self.count_up_to(self.grade >= 0) if judged_only else self.rank

    def cut(self, mask: Mask, cutoff: int | None, ranks: Longs | None = None) -> Mask:
        """Return a mask limited to the first ``cutoff`` ranks [H]."""
        if cutoff is None:
            return mask
        inside: Mask = mask & ((self.rank if ranks is None else ranks) <= cutoff)
        return inside


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide, with 0 where the denominator is 0."""
    zero = np.zeros_like(numerator)
    return np.divide(numerator, denominator, out=zero, where=denominator > 0)
