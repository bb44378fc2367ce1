"""Compare choosing the next best judgment with equal overlap, by simulation with known truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from venire.aggregation.dawid_skene import DawidSkene
from venire.aggregation.posterior import Posterior
from venire.arrays import Floats, Longs
from venire.errors import BadSetting
from venire.evaluation.ranks import RankTable
from venire.evaluation.score import score
from venire.simulation.campaigns.next_best import grade_gain, influence
from venire.stats.rank_correlation import tau_b
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.scale import Scale

Row = dict[str, Any]
BINARY = Scale((0.0, 1.0))


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The settings of a simulated crowd and its judging.

    Parameters
    ----------
    workers : int
        Number of workers.
    spam : float
        Share of workers who label at random; by default the share that the ordinal mixture
        estimates for the crowd of the TREC 2010 relevance feedback track.
    accuracy : float
        Accuracy of the other workers.
    gold : int
        Number of additional gold pairs, judged by every worker.
    most : int
        Maximum equal overlap.
    step : float
        Number of judgments between two choices of the next best pairs, as a share of the pairs.
    by : "ranking" or "grade"
    """

    workers: int = 60
    spam: float = 0.39
    accuracy: float = 0.85
    gold: int = 40
    most: int = 5
    step: float = 0.1
    by: str = "ranking"


def trial(
    truth: Qrels, runs: Runs, pool: pl.DataFrame, setting: Trial | None = None, *, seed: int = 0
) -> list[Row]:
    """Judge a pool by equal overlap and by next best judgment, with the same workers and labels.

    Both start with one judgment per pair. Grades are inferred by Dawid-Skene with fixed gold.

    Returns
    -------
    list of dict
        ``way`` (equal, next best), ``judgments``, ``per_pair``, and ``tau`` with the order of the
        runs under the truth.
    """
    setting = setting or Trial()
    if not 0 <= setting.spam < 1:
        raise BadSetting(f"must be >= 0 and < 1 (got {setting.spam})", argument="spam")
    if setting.workers <= setting.most + 2:
        raise BadSetting(
            f"must be > `most` + 2, which is {setting.most + 2} (got {setting.workers})",
            argument="workers",
        )
    table = RankTable.of(runs, pool.select("query_id", "doc_id"))
    relevance = (np.maximum(table.grades(truth), 0) >= 1).astype(np.int64)
    crowd = _Crowd(table, relevance, setting, np.random.default_rng(seed))
    rows: list[Row] = []
    pairs = relevance.size
    for overlap in range(1, setting.most + 1):
        judgments = np.full(pairs, overlap)
        rows.append(crowd.row("equal", judgments, crowd.fit(judgments)))
    judgments = np.ones(pairs, np.int64)
    size = max(1, round(setting.step * pairs))
    while judgments.sum() + size <= setting.most * pairs:
        posterior = crowd.fit(judgments)
        rows.append(crowd.row("next best", judgments, posterior))
        gain = crowd.gain(posterior, setting.by)
        gain[judgments >= crowd.most_labels] = -1.0
        judgments[np.argsort(-gain, kind="stable")[:size]] += 1
    return rows


class _Crowd:
    """A simulated crowd: all its labels, drawn in advance, and the grades inferred from a part."""

    def __init__(
        self, table: RankTable, relevance: Longs, setting: Trial, rng: np.random.Generator
    ) -> None:
        self.table, self.relevance = table, relevance
        self.most_labels = min(4 * setting.most, setting.workers)
        is_spammer = np.arange(setting.workers) < round(setting.spam * setting.workers)
        accuracy = np.where(is_spammer, 0.5, setting.accuracy)
        keys = rng.random((relevance.size, setting.workers))
        self.worker = np.argsort(keys, axis=1)[:, : self.most_labels]
        is_right = rng.random(self.worker.shape) < accuracy[self.worker]
        self.label = np.where(is_right, relevance[:, None], 1 - relevance[:, None])
        self.gold_is_right = rng.random((setting.gold, setting.workers)) < accuracy
        self.gold = np.arange(setting.gold) % 2
        self.reference = score(table, relevance, ["AP"]).mean[0]
        self.names = [f"w{worker:03d}" for worker in range(setting.workers)]

    def fit(self, judgments: Longs) -> Posterior:
        """Infer grades from the first ``judgments`` labels per pair and all gold labels."""
        is_used = np.arange(self.most_labels)[None, :] < judgments[:, None]
        item, column = np.nonzero(is_used)
        workers = len(self.names)
        size = self.gold.size
        frame = pl.DataFrame(
            {
                "query_id": np.concatenate([item.astype(str), np.repeat("gold", size * workers)]),
                "doc_id": np.concatenate(
                    [np.repeat("d", item.size), np.repeat(np.arange(size), workers).astype(str)]
                ),
                "annotator_id": np.array(self.names)[
                    np.concatenate([self.worker[item, column], np.tile(np.arange(workers), size)])
                ],
                "label": np.concatenate(
                    [
                        self.label[item, column],
                        np.where(
                            self.gold_is_right, self.gold[:, None], 1 - self.gold[:, None]
                        ).ravel(),
                    ]
                ),
            }
        )
        gold = Qrels(
            pl.DataFrame(
                {
                    "query_id": ["gold"] * size,
                    "doc_id": [str(number) for number in range(size)],
                    "relevance": self.gold,
                }
            )
        )
        return DawidSkene().fit(Judgments(frame, BINARY), gold=gold if size else None)

    def row(self, way: str, judgments: Longs, posterior: Posterior) -> Row:
        """Return the cost, and the tau of the systems under the inferred grades."""
        grades = (self._relevance_of(posterior) > 0.5).astype(np.int64)
        scores = score(self.table, grades, ["AP"]).mean[0]
        return {
            "way": way,
            "judgments": int(judgments.sum()),
            "per_pair": float(judgments.mean()),
            "tau": tau_b(self.reference, scores),
        }

    def _relevance_of(self, posterior: Posterior) -> Floats:
        """Return the probability that each pair is relevant, without the gold pairs [P]."""
        relevant = np.zeros(self.relevance.size)
        is_pair = (posterior.items["query_id"] != "gold").to_numpy()
        pair = posterior.items["query_id"].filter(pl.Series(is_pair)).cast(pl.Int64).to_numpy()
        relevant[pair] = posterior.probabilities[is_pair, 1]
        return relevant

    def gain(self, posterior: Posterior, by: str) -> Floats:
        """Return the expected gain of one more judgment of each pair [P]."""
        relevant = self._relevance_of(posterior)
        if posterior.confusion is None:
            raise BadSetting("The model does not estimate confusion matrices of annotators")
        weight = posterior.annotators["judgments"].to_numpy()
        confusion = np.average(posterior.confusion, axis=0, weights=weight)
        chance = np.stack([1 - relevant, relevant], axis=1)
        gain = grade_gain(chance, confusion, BINARY.array())
        return gain * influence(self.table, relevant) if by == "ranking" else gain


def measure_saving(rows: list[Row], overlap: int) -> tuple[float, float | None, float | None]:
    """Return the tau of an equal overlap, the judgments per pair that reach it, the share saved.

    Next best judgment reaches the tau at the number of judgments from which on it is never below
    it; None if it does not reach it. ``rows`` come from several trials with the same settings;
    tau is averaged over trials first.
    """
    frame = (
        pl.DataFrame(rows)
        .with_columns(pl.col("per_pair").round(4))
        .group_by("way", "per_pair", maintain_order=True)
        .agg(pl.col("tau").mean())
        .sort("per_pair")
    )
    is_equal = (pl.col("way") == "equal") & (pl.col("per_pair") == overlap)
    equal_tau = float(frame.filter(is_equal)["tau"][0])
    next_best = frame.filter(pl.col("way") == "next best")
    below = np.flatnonzero(next_best["tau"].to_numpy() < equal_tau)
    first = int(below[-1]) + 1 if below.size else 0
    if first >= next_best.height:
        return equal_tau, None, None
    needed = float(next_best["per_pair"][first])
    return equal_tau, needed, 1.0 - needed / overlap
