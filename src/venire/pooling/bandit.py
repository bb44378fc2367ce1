"""Multi-armed bandits (Losada, Parapar and Barreiro 2017): an arm is a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.errors import BadSetting
from venire.pooling.adaptive import adjudicate
from venire.pooling.base import Lists, Pool, at_least
from venire.tables.qrels import Qrels

RULES = ("max-mean", "thompson", "nonstationary")


@dataclass(frozen=True, kw_only=True)
class Bandit:
    """Ask the run that is most likely to give a relevant document.

    A run that gave n judged documents, r of them relevant, has the posterior
    Beta(r + 1, n - r + 1) of the uniform prior, with mean (r + 1) / (n + 2). Only the run that
    was asked learns.

    - max-mean asks the run with the greatest mean;
    - thompson draws from every posterior and asks the run with the greatest draw;
    - nonstationary is max-mean with forgetting: at each judgment of a run's document
      r <- discount * r + relevant, n <- discount * n + 1; discount 1 forgets nothing,
      0 all but the last.

    Among equals the run with the fewest documents taken is next, then the first by name. A
    document that is not judged yet changes no posterior.

    Attributes
    ----------
    budget : int
        Documents a topic.
    rule : "max-mean", "thompson" or "nonstationary"
    discount : float, 0 to 1
        Only for nonstationary.
    """

    budget: int = 100
    rule: str = "max-mean"
    discount: float = 0.9

    def __post_init__(self) -> None:
        """Refuse settings out of range."""
        at_least("budget", self.budget, 1)
        if self.rule not in RULES:
            raise BadSetting(f"rule is one of {', '.join(RULES)}, not {self.rule!r}")
        if not 0 <= self.discount <= 1:
            raise BadSetting(f"discount lies between 0 and 1, not {self.discount}")

    def pool(
        self,
        lists: Lists,
        *,
        judged: Qrels | None = None,
        outcomes: Qrels | None = None,
        relevant_from: float = 1,
        seed: int = 0,
    ) -> Pool:
        """Return the documents in order of judging; only thompson uses the seed."""
        settings: dict[str, float] = {"budget": self.budget}
        keep = 1.0
        if self.rule == "nonstationary":
            keep = self.discount
            settings |= {"discount": self.discount}
        if self.rule == "thompson":
            settings |= {"seed": seed}
        return adjudicate(
            lists,
            lambda size, rng: _Arms(size, keep, rng if self.rule == "thompson" else None),
            strategy=f"bandit-{self.rule}",
            settings=settings,
            budget=self.budget,
            judged=judged,
            outcomes=outcomes,
            relevant_from=relevant_from,
            seed=seed,
        )


class _Arms:
    """Discounted counts of each run."""

    def __init__(self, size: int, keep: float, rng: np.random.Generator | None) -> None:
        self.relevant = [0.0] * size
        self.judged = [0.0] * size
        self.taken = [0] * size
        self.keep = keep
        self.rng = rng

    def choose(self, open_runs: list[int]) -> int:
        if self.rng is not None:
            hit = np.array([self.relevant[run] for run in open_runs])
            miss = np.array([self.judged[run] for run in open_runs]) - hit
            return open_runs[int(np.argmax(self.rng.beta(hit + 1, miss + 1)))]
        return min(open_runs, key=lambda run: (-self.mean(run), self.taken[run], run))

    def mean(self, run: int) -> float:
        return (self.relevant[run] + 1) / (self.judged[run] + 2)

    def learn(self, run: int, relevant: bool | None) -> None:
        self.taken[run] += 1
        if relevant is not None:
            self.relevant[run] = self.keep * self.relevant[run] + relevant
            self.judged[run] = self.keep * self.judged[run] + 1
