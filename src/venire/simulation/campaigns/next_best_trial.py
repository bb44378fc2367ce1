"""Next best judgment beside equal overlap, where the truth is known."""

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
    """A crowd, and how it is asked.

    Parameters
    ----------
    workers : int
    spam : float
        Share of workers whose labels are chance; by default what the ordinal mixture finds in the
        judgments of the TREC 2010 relevance feedback track.
    accuracy : float
        How often the others see what is so.
    gold : int
        Known pairs that every worker judges besides; they teach the model who is who.
    most : int
        Greatest equal overlap.
    step : float
        Judgments between two looks, as a share of the pairs.
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
    """Judge a pool by equal overlap and by next best judgment, with the same people and labels.

    Both begin with one judgment a pair and are settled by Dawid-Skene with the gold held fixed.

    Returns
    -------
    list of dict
        ``way`` (equal, next best), ``judgments``, ``per_pair``, ``tau`` with the order under the
        truth of the pool.
    """
    setting = setting or Trial()
    if not 0 <= setting.spam < 1 or setting.workers <= setting.most + 2:
        raise BadSetting(
            "spam is a share below 1, and there are more workers than judgments a pair"
        )
    table = RankTable.of(runs, pool.select("query_id", "doc_id"))
    known = (np.maximum(table.grades(truth), 0) >= 1).astype(np.int64)
    lab = _Lab(table, known, setting, np.random.default_rng(seed))
    rows: list[Row] = []
    pairs = known.size
    for overlap in range(1, setting.most + 1):
        judgments = np.full(pairs, overlap)
        rows.append(lab.row("equal", judgments, lab.fit(judgments)))
    judgments = np.ones(pairs, np.int64)
    size = max(1, round(setting.step * pairs))
    while judgments.sum() + size <= setting.most * pairs:
        posterior = lab.fit(judgments)
        rows.append(lab.row("next best", judgments, posterior))
        gain = lab.gain(posterior, setting.by)
        gain[judgments >= lab.deepest] = -1.0
        judgments[np.argsort(-gain, kind="stable")[:size]] += 1
    return rows


class _Lab:
    """All labels that could be given, drawn beforehand, and what is made of those that were."""

    def __init__(
        self, table: RankTable, known: Longs, setting: Trial, rng: np.random.Generator
    ) -> None:
        self.table, self.known = table, known
        self.deepest = min(4 * setting.most, setting.workers)
        spammer = np.arange(setting.workers) < round(setting.spam * setting.workers)
        right = np.where(spammer, 0.5, setting.accuracy)
        keys = rng.random((known.size, setting.workers))
        self.who = np.argsort(keys, axis=1)[:, : self.deepest]
        hit = rng.random(self.who.shape) < right[self.who]
        self.label = np.where(hit, known[:, None], 1 - known[:, None])
        gold = np.arange(setting.gold) % 2
        self.gold_hit = rng.random((setting.gold, setting.workers)) < right
        self.gold = gold
        self.reference = score(table, known, ["AP"]).mean[0]
        self.names = [f"w{worker:03d}" for worker in range(setting.workers)]
        self.items = table.pairs.with_columns(pl.Series("at", np.arange(known.size)))

    def fit(self, judgments: Longs) -> Posterior:
        """Settle the first ``judgments`` labels of every pair."""
        is_used = np.arange(self.deepest)[None, :] < judgments[:, None]
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
                    np.concatenate([self.who[item, column], np.tile(np.arange(workers), size)])
                ],
                "label": np.concatenate(
                    [
                        self.label[item, column],
                        np.where(self.gold_hit, self.gold[:, None], 1 - self.gold[:, None]).ravel(),
                    ]
                ),
            }
        )
        known = Qrels(
            pl.DataFrame(
                {
                    "query_id": ["gold"] * size,
                    "doc_id": [str(number) for number in range(size)],
                    "relevance": self.gold,
                }
            )
        )
        return DawidSkene().fit(Judgments(frame, BINARY), gold=known if size else None)

    def row(self, way: str, judgments: Longs, posterior: Posterior) -> Row:
        """Return how the systems stand."""
        settled = (self._relevant(posterior) > 0.5).astype(np.int64)
        scores = score(self.table, settled, ["AP"]).mean[0]
        return {
            "way": way,
            "judgments": int(judgments.sum()),
            "per_pair": float(judgments.mean()),
            "tau": tau_b(self.reference, scores),
        }

    def _relevant(self, posterior: Posterior) -> Floats:
        out = np.zeros(self.known.size)
        ours = (posterior.items["query_id"] != "gold").to_numpy()
        pair = posterior.items["query_id"].filter(pl.Series(ours)).cast(pl.Int64).to_numpy()
        out[pair] = posterior.probabilities[ours, 1]
        return out

    def gain(self, posterior: Posterior, by: str) -> Floats:
        """Return what one more judgment of each pair is expected to give."""
        relevant = self._relevant(posterior)
        if posterior.confusion is None:
            raise BadSetting("the model learns no confusion of annotators")
        weight = posterior.annotators["judgments"].to_numpy()
        confusion = np.average(posterior.confusion, axis=0, weights=weight)
        chance = np.stack([1 - relevant, relevant], axis=1)
        gain = grade_gain(chance, confusion, BINARY.array())
        return gain * influence(self.table, relevant) if by == "ranking" else gain


def measure_saving(rows: list[Row], overlap: int) -> tuple[float, float | None, float | None]:
    """Return the tau of an equal overlap, the judgments a pair that reach it, the share saved.

    Reached is where next best judgment is not below it from there on; None where it never is.
    ``rows`` are those of several trials of one setting; both ways are averaged first.
    """
    frame = (
        pl.DataFrame(rows)
        .with_columns(pl.col("per_pair").round(4))
        .group_by("way", "per_pair", maintain_order=True)
        .agg(pl.col("tau").mean())
        .sort("per_pair")
    )
    equal = frame.filter((pl.col("way") == "equal") & (pl.col("per_pair") == overlap))["tau"][0]
    ours = frame.filter(pl.col("way") == "next best")
    below = np.flatnonzero(ours["tau"].to_numpy() < equal)
    first = int(below[-1]) + 1 if below.size else 0
    if first >= ours.height:
        return float(equal), None, None
    needed = float(ours["per_pair"][first])
    return float(equal), needed, 1.0 - needed / overlap
