"""Runs over documents whose relevance is all known, and a pool of the runs: worlds for simulations.

A run ranks the documents of every topic by relevance plus noise. Part of the noise is shared by the
runs of a family, and part of the relevant documents are found by some families only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from common import DATA

from venire import Qrels, Runs
from venire.evaluation.ranks import ABSENT, RankTable
from venire.evaluation.score import Scores, score
from venire.formats.run_files import read_run_files
from venire.measures import Measure, parse
from venire.reliability.pool_effect import score_masked

Array = np.ndarray[Any, Any]
MEASURE = parse("AP")
DOCUMENTS, LISTED, FAMILIES = 150, 60, 4
RELEVANT = 0.1
"""Share of the documents that are relevant."""
SHARED = 0.6
"""Share of the variance of a run's noise that its family shares."""


@dataclass(frozen=True)
class World:
    """Runs, and the true relevance of every document.

    Attributes
    ----------
    runs : Runs
    table : RankTable
    truth : int64 [P]
        Relevance of each pair of the table.
    scores : Scores
        By the true relevance.
    ties : str
        Tie rule of the table.
    """

    runs: Runs
    table: RankTable
    truth: Array
    scores: Scores
    ties: str = "trec"

    def pool(self, members: Sequence[str], depth: int) -> Array:
        """Return the grades of the pairs in the first ``depth`` of some member [P]."""
        table = self.table
        is_member = np.isin(np.array(table.runs), list(members))
        pooled = np.zeros(len(self.truth), dtype=bool)
        pooled[table.pair[is_member[table.run] & (table.rank <= depth)]] = True
        return np.where(pooled, self.truth, ABSENT)

    def restrict(self, names: Sequence[str], grades: Array) -> tuple[RankTable, Array]:
        """Return a table of some runs and the judged pairs, and its grades."""
        is_named = pl.col("run_id").is_in(list(names))
        judged = self.table.pairs.with_columns(relevance=pl.Series(grades))
        qrels = Qrels(judged.filter(pl.col("relevance") >= 0))
        some = Runs(self.runs.frame.filter(is_named))
        table = RankTable.of(some, qrels.frame.select("query_id", "doc_id"), ties=self.ties)
        return table, table.grades(qrels)

    def score(self, grades: Array) -> Array:
        """Return the scores of the runs by some grades [R]."""
        return score_masked(
            self.table, grades, grades != ABSENT, self.scores.measures[0], self.scores.counted
        )


def make_world(
    rng: np.random.Generator,
    *,
    runs: int = 10,
    outsiders: int = 0,
    topics: int = 25,
    skill: float = 2.0,
    spread: float = 0.6,
    novelty: float = 0.0,
) -> World:
    """Return runs ``m00``, ``m01``, ... of some families, and outsiders ``x00``, ... of another.

    Parameters
    ----------
    rng : numpy.random.Generator
    runs, outsiders, topics : int
    skill : float
        Mean over the runs of what relevance adds to a document's score, in units of noise.
    spread : float
        Range of skill over the runs, as a share of the mean.
    novelty : float
        Share of the relevant documents that outsiders find more easily, by half of ``skill``, and
        members less easily.
    """
    shape = (topics, DOCUMENTS)
    truth = (rng.random(shape) < RELEVANT).astype(np.int64)
    truth[:, 0] = 1
    difficulty = rng.normal(0, 0.5, shape)
    is_new = (rng.random(shape) < novelty) & (truth == 1)
    names = [f"m{run:02}" for run in range(runs)] + [f"x{run:02}" for run in range(outsiders)]
    family = np.append(rng.integers(0, FAMILIES, runs), np.full(outsiders, FAMILIES))
    common = rng.normal(0, 1, (FAMILIES + 1, *shape))
    queries = np.repeat([f"q{topic:03}" for topic in range(topics)], LISTED)
    frames = []
    for name, group in zip(names, family.tolist(), strict=True):
        own_skill = skill * (1 + spread * (rng.random() - 0.5))
        noise = np.sqrt(SHARED) * common[group] + np.sqrt(1 - SHARED) * rng.normal(0, 1, shape)
        shift = np.where(is_new, 0.5 if name[0] == "x" else -0.5, 0.0)
        value = (own_skill * (1 + shift) + difficulty) * truth + noise
        first = np.argsort(-value, axis=1)[:, :LISTED]
        frames.append(
            pl.DataFrame(
                {
                    "query_id": queries,
                    "doc_id": first.ravel(),
                    "score": np.take_along_axis(value, first, axis=1).ravel(),
                }
            ).with_columns(pl.format("d{}", "doc_id").alias("doc_id"), run_id=pl.lit(name))
        )
    every = Runs.of(pl.concat(frames))
    documents = pl.DataFrame(
        {
            "query_id": np.repeat([f"q{topic:03}" for topic in range(topics)], DOCUMENTS),
            "doc_id": [f"d{document}" for document in range(DOCUMENTS)] * topics,
        }
    )
    table = RankTable.of(every, documents)
    rows = documents.with_columns(pl.Series("relevance", truth.ravel()))
    grades = table.pairs.join(rows, on=["query_id", "doc_id"], how="left", maintain_order="left")
    true = grades["relevance"].to_numpy()
    return World(every, table, true, score(table, true, [MEASURE]))


def read_collections() -> Iterator[tuple[str, Runs, Qrels, str]]:
    """Yield name, runs cut at 100 documents, qrels of two grades and tie rule, where at hand."""
    if (DATA / "cranfield").is_dir():
        import cranfield

        qrels, runs, _ = cranfield.collection()
        yield "Cranfield", _cut(runs, cranfield.TIES), _split(qrels, 1), cranfield.TIES
    if (DATA / "trec-dl19").is_dir():
        runs = read_run_files(sorted((DATA / "trec-dl19" / "runs").iterdir()))
        qrels = Qrels.read(DATA / "trec-dl19" / "qrels-pass.txt")
        yield "TREC DL 2019", _cut(runs, "trec"), _split(qrels, 2), "trec"


def _cut(runs: Runs, ties: str) -> Runs:
    ranked = runs.ranks(ties=ties)
    return Runs(ranked.filter(pl.col("rank") <= 100).select(runs.frame.columns))


def _split(qrels: Qrels, relevant: int) -> Qrels:
    is_relevant = (pl.col("relevance") >= relevant).cast(pl.Int64).alias("relevance")
    return Qrels(qrels.frame.with_columns(is_relevant))


def sample_collection(
    runs: Runs,
    qrels: Qrels,
    size: int,
    topics: int,
    ties: str,
    rng: np.random.Generator,
    measure: Measure = MEASURE,
) -> World:
    """Return a world of some runs and topics of a collection, its qrels taken as the truth."""
    names = rng.choice(np.sort(runs.frame["run_id"].unique().to_numpy()), size, replace=False)
    known = qrels.frame.filter(pl.col("relevance") > 0)["query_id"].unique().sort()
    queries = rng.choice(known.to_numpy(), topics, replace=False)
    frame = runs.frame.filter(
        pl.col("run_id").is_in(names.tolist()) & pl.col("query_id").is_in(queries.tolist())
    )
    qrels = Qrels(qrels.frame.filter(pl.col("query_id").is_in(queries.tolist())))
    some = Runs(frame)
    # Every retrieved document and every relevant one may be judged; what has no grade has grade 0.
    pairs = pl.concat([part.select("query_id", "doc_id") for part in (frame, qrels.frame)]).unique(
        maintain_order=True
    )
    table = RankTable.of(some, pairs, ties=ties)
    truth = np.maximum(table.grades(qrels), 0)
    return World(some, table, truth, score(table, truth, [measure]), ties)


def make_row(
    verdict: str, world: str, is_world: Array, has_light: Array, *, power: bool = False
) -> dict[str, Any]:
    """Return a row of ``verdicts.py``: how often the worlds of a kind have a light."""
    count = int(is_world.sum())
    share = float(has_light[is_world].mean()) if count else 0.0
    return {
        "verdict": verdict,
        "world": world,
        "simulations": count,
        "power" if power else "false_alarms": share,
        "standard_error": math.sqrt(share * (1 - share) / max(count, 1)),
    }
