"""Move to front (Cormack, Palmer and Clarke 1998), one topic at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.pooling.adaptive import adjudicate
from venire.pooling.base import Lists, Pool, at_least
from venire.tables.qrels import Qrels


@dataclass(frozen=True, kw_only=True)
class MoveToFront:
    """Stay with a run while it gives relevant documents; every miss costs it one place.

    All runs begin with the same priority. A run of the highest priority is asked until it gives
    a document that is not relevant; that lowers its priority by one. Among equals the run with
    the fewest documents taken is next, then the first by name. A document that is not judged
    yet changes no priority, and the next run is asked.

    Attributes
    ----------
    budget : int
        Documents a topic.
    """

    budget: int = 100

    def __post_init__(self) -> None:
        """Refuse a budget of nothing."""
        at_least("budget", self.budget, 1)

    def pool(
        self,
        lists: Lists,
        *,
        judged: Qrels | None = None,
        outcomes: Qrels | None = None,
        relevant_from: float = 1,
        seed: int = 0,
    ) -> Pool:
        """Return the documents in order of judging; chance plays no part."""
        return adjudicate(
            lists,
            lambda size, _: _Priorities(size),
            strategy="move-to-front",
            settings={"budget": self.budget},
            budget=self.budget,
            judged=judged,
            outcomes=outcomes,
            relevant_from=relevant_from,
            seed=seed,
        )


class _Priorities:
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
