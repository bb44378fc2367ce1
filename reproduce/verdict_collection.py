"""A made-up test collection with known grades, and assessors who err: worlds for the simulations.

Runs rank the documents of every topic by the true grade plus noise. Runs of one family share half
of their noise. An assessor is off by one with a given probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from venire import Qrels, Runs
from venire.evaluation.ranks import RankTable
from venire.evaluation.score import rank

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Collection:
    """Runs over documents whose true grades are known.

    Attributes
    ----------
    table : RankTable
    truth : int64 [P]
        True grade of each pair of the table.
    runs : Runs
    qrels : Qrels
        The true grades.
    """

    table: RankTable
    truth: Array
    runs: Runs
    qrels: Qrels


def make_collection(
    rng: np.random.Generator,
    *,
    topics: int = 30,
    documents: int = 30,
    systems: int = 8,
    families: int = 3,
    spread: float = 0.25,
) -> Collection:
    """Return runs whose noise grows by ``spread`` from one to the next."""
    shape = (topics, documents)
    truth = rng.choice([0, 1, 2], shape, p=[0.65, 0.22, 0.13])
    shared = rng.normal(0, 1, (families, *shape))
    names = [f"q{topic:03}" for topic, _ in np.ndindex(shape)]
    ids = [f"d{document:03}" for _, document in np.ndindex(shape)]
    frames = []
    for system in range(systems):
        own = rng.normal(0, 1, shape)
        noise = (0.7 + spread * system) * (shared[system % families] + own) / np.sqrt(2)
        frames.append(
            pl.DataFrame(
                {
                    "query_id": names,
                    "doc_id": ids,
                    "score": (truth + noise).ravel(),
                    "run_id": f"s{system:02}",
                }
            )
        )
    qrels = Qrels(pl.DataFrame({"query_id": names, "doc_id": ids, "relevance": truth.ravel()}))
    runs = Runs.of(pl.concat(frames))
    table = rank(qrels, runs)
    return Collection(table, table.grades(qrels), runs, qrels)


def add_errors(grades: Array, rate: float | Array, rng: np.random.Generator) -> Array:
    """Return grades that are off by one with a probability, each pair apart."""
    errors = (rng.random(len(grades)) < rate) * rng.choice([-1, 1], len(grades))
    return np.clip(grades + errors, 0, 2)
