"""Move to front (Cormack, Palmer and Clarke 1998), one topic at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from venire.pooling.adaptive import AdaptiveStrategy, Picker


@dataclass(frozen=True, kw_only=True)
class MoveToFront(AdaptiveStrategy):
    """Stay with a run while its documents are relevant; each non-relevant one costs it one place.

    All runs start with the same priority. The run with the highest priority gives its next
    document until one is not relevant; that lowers its priority by one. Among equal priorities,
    the run with the fewest documents taken is next, then the first by name. A document without a
    judgment changes no priority, and the next run is asked.
    """

    name: ClassVar[str] = "move-to-front"
    label: ClassVar[str] = "Move to front: continue where relevant documents were found"
    description: ClassVar[str] = "Stay with a run while its documents are relevant."
    position: ClassVar[int] = 3

    def start_topic(self, size: int, rng: np.random.Generator) -> Picker:
        """Return equal priorities."""
        return _Priorities(size)


class _Priorities:
    """Non-relevant documents of each run, which lower its priority."""

    def __init__(self, size: int) -> None:
        self.misses = np.zeros(size, np.int64)
        self.taken = np.zeros(size, np.int64)
        self.current: int | None = None

    def choose(self, open_runs: list[int]) -> int:
        if self.current in open_runs:
            return open_runs[open_runs.index(self.current)]
        return min(open_runs, key=lambda run: (self.misses[run], self.taken[run], run))

    def learn(self, run: int, relevant: bool | None) -> None:
        self.taken[run] += 1
        self.misses[run] += relevant is False
        self.current = run if relevant else None
