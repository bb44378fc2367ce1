"""Multi-armed bandits (Losada, Parapar and Barreiro 2017): an arm is a run.

A run that gave n judged documents, r of them relevant, has the posterior Beta(r + 1, n - r + 1)
from the uniform prior, with mean (r + 1) / (n + 2). Only the run that gave the document learns.
Among equals, the run with the fewest documents taken is next, then the first by name. A document
without a judgment changes no posterior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from venire.pooling.adaptive import AdaptiveStrategy, Picker
from venire.settings import setting


@dataclass(frozen=True, kw_only=True)
class MaxMeanBandit(AdaptiveStrategy):
    """Take documents from the run with the greatest posterior mean."""

    name: ClassVar[str] = "bandit-max-mean"
    label: ClassVar[str] = "Bandit, maximum mean"
    description: ClassVar[str] = "Take documents from the run with the greatest posterior mean."
    position: ClassVar[int] = 4

    def start_topic(self, size: int, rng: np.random.Generator) -> Picker:
        """Return uniform priors."""
        return _Arms(size)


@dataclass(frozen=True, kw_only=True)
class ThompsonBandit(AdaptiveStrategy):
    """Draw from the posterior of every run and take a document from the run with the most."""

    name: ClassVar[str] = "bandit-thompson"
    label: ClassVar[str] = "Bandit, Thompson sampling"
    description: ClassVar[str] = (
        "Draw from the posterior of every run and take a document from the run with the most."
    )
    position: ClassVar[int] = 5

    def start_topic(self, size: int, rng: np.random.Generator) -> Picker:
        """Return uniform priors, drawn from with the topic's random numbers."""
        return _Arms(size, rng=rng)

    def list_settings(self, seed: int) -> dict[str, Any]:
        """Add the seed."""
        return {**super().list_settings(seed), "seed": seed}


@dataclass(frozen=True, kw_only=True)
class NonstationaryBandit(AdaptiveStrategy):
    """Take documents from the run with the greatest posterior mean, discounting old judgments.

    At each judgment of a run's document r <- discount * r + relevant, n <- discount * n + 1.
    """

    name: ClassVar[str] = "bandit-nonstationary"
    label: ClassVar[str] = "Bandit, non-stationary"
    description: ClassVar[str] = (
        "Take documents from the run with the greatest posterior mean, discounting old judgments."
    )
    position: ClassVar[int] = 6

    discount: float = setting(
        0.9,
        words="Weight of earlier judgments at each new one: 1 keeps all, 0 only the last.",
        label="Discount",
        least=0,
        most=1,
    )

    def start_topic(self, size: int, rng: np.random.Generator) -> Picker:
        """Return uniform priors that discount."""
        return _Arms(size, discount=self.discount)

    def list_settings(self, seed: int) -> dict[str, Any]:
        """Add the discount."""
        return {**super().list_settings(seed), "discount": self.discount}


class _Arms:
    """Discounted counts of relevant and of judged documents of each run."""

    def __init__(
        self, size: int, *, discount: float = 1.0, rng: np.random.Generator | None = None
    ) -> None:
        self.relevant = [0.0] * size
        self.judged = [0.0] * size
        self.taken = [0] * size
        self.discount = discount
        self.rng = rng

    def choose(self, open_runs: list[int]) -> int:
        if self.rng is not None:
            hits = np.array([self.relevant[run] for run in open_runs])
            misses = np.array([self.judged[run] for run in open_runs]) - hits
            return open_runs[int(np.argmax(self.rng.beta(hits + 1, misses + 1)))]
        return min(open_runs, key=lambda run: (-self.mean(run), self.taken[run], run))

    def mean(self, run: int) -> float:
        return (self.relevant[run] + 1) / (self.judged[run] + 2)

    def learn(self, run: int, relevant: bool | None) -> None:
        self.taken[run] += 1
        if relevant is not None:
            self.relevant[run] = self.discount * self.relevant[run] + relevant
            self.judged[run] = self.discount * self.judged[run] + 1
