"""Scores and grades of settled labels, by the number of labels per pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs, Shorts
from venire.evaluation.ranks import ABSENT, RankTable
from venire.evaluation.score import score
from venire.measures import Measure
from venire.stats.rank_correlation import tau_b
from venire.tables.schema import PAIR

Row = dict[str, Any]


class SampleScores:
    """Collect the scores of every draw and number of judgments per pair.

    Parameters
    ----------
    table : RankTable or None
    items : polars.DataFrame [P]
    measures : list of Measure
    topics : str
    grades : float64 [K]
    known : int64 [P] or None
    """

    def __init__(
        self,
        table: RankTable | None,
        items: pl.DataFrame,
        measures: list[Measure],
        topics: str,
        grades: Floats,
        known: Longs | None,
    ) -> None:
        self.table, self.measures, self.grades, self.known = table, measures, grades, known
        self.pairs = items.height
        self.worlds: list[list[Floats]] = []
        self.references: list[Floats] = []
        self.quality: list[list[tuple[float, float, float]]] = []
        self.score: Callable[[Longs], Floats] | None = None
        if table is not None:
            numbered = items.with_row_index("row")
            joined = table.pairs.join(numbered, on=PAIR, how="left", maintain_order="left")
            order = joined["row"].to_numpy()

            def score_grades(grade: Longs) -> Floats:
                return score(table, grade[order], measures, topics=topics).mean

            self.score = score_grades

    def begin_world(self, true_grades: Longs | None) -> None:
        """Start a world; its true grades, if it has any, give the reference order."""
        self.worlds.append([])
        self.fixed: Longs | None = None
        if self.score is None:
            return
        if true_grades is not None:
            self.fixed = self.grades.astype(np.int64)[true_grades]
        elif self.known is not None and (self.known != ABSENT).any():
            self.fixed = self.known
        if self.fixed is not None:
            self.references.append(self.score(self.fixed))

    def add_draw(self, labels: Shorts, rule: str) -> None:
        """Settle the first j labels of every pair, for every j, and score."""
        size = self.grades.size
        counts = np.zeros((self.pairs, size), np.int64)
        scores: list[Floats] = []
        quality: list[tuple[float, float, float]] = []
        pair = np.arange(self.pairs)
        for j in range(labels.shape[1]):
            counts[pair, labels[:, j]] += 1
            settled = settle(counts, self.grades, rule)
            grade = self.grades[settled]
            if self.score is not None:
                scores.append(self.score(grade.astype(np.int64)))
            if self.known is not None:
                quality.append(self._quality(grade))
        if scores:
            self.worlds[-1].append(np.stack(scores))
        if quality:
            self.quality.append(quality)
        if self.score is not None and len(self.references) < len(self.worlds):
            # Without known grades, the reference is the first draw with all its judgments.
            self.references.append(scores[-1])

    def _quality(self, grade: Floats) -> tuple[float, float, float]:
        known = self.known if self.known is not None else np.empty(0, np.int64)
        is_known = known != ABSENT
        return compare_grades(grade[is_known], known[is_known].astype(np.float64))

    def to_rows(self, most: int, price: float | None) -> list[Row]:
        """Return one row per measure and number of judgments per pair."""
        if self.score is None:
            return []
        out: list[Row] = []
        stacked = [np.stack(world) for world in self.worlds]  # [draws, J, measures, runs]
        for m, measure in enumerate(self.measures):
            for j in range(most):
                drawn = [world[:, j, m] for world in stacked]
                variance = np.mean([scores.var(axis=0, ddof=1) for scores in drawn], axis=0)
                mean = float(np.mean([scores.mean() for scores in drawn]))
                taus = [
                    tau_b(reference[m], scores_of_draw)
                    for reference, scores in zip(self.references, drawn, strict=True)
                    for scores_of_draw in scores
                ]
                known = np.array([tau for tau in taus if tau is not None])
                low, high = np.quantile(known, [0.025, 0.975]) if known.size else (None, None)
                sd = float(np.sqrt(variance).mean())
                judgments = (j + 1) * self.pairs
                out.append(
                    {
                        "measure": str(measure),
                        "judges": j + 1,
                        "sd": sd,
                        "relative_sd": sd / mean if mean else None,
                        "tau": float(known.mean()) if known.size else None,
                        "tau_low": None if low is None else float(low),
                        "tau_high": None if high is None else float(high),
                        "judgments": judgments,
                        "cost": None if price is None else price * judgments,
                    }
                )
        return out

    def to_truth_rows(self, most: int) -> list[Row]:
        """Return how near settled grades are to known ones, one row per number of judgments."""
        if not self.quality:
            return []
        values = np.array(self.quality)  # [draws, J, 3]
        out = []
        for j in range(most):
            row: Row = {"judges": j + 1}
            for column, name in enumerate(("accuracy", "kappa", "error")):
                known = values[:, j, column][~np.isnan(values[:, j, column])]
                row[name] = float(known.mean()) if known.size else None
                row[f"{name}_sd"] = float(known.std(ddof=1)) if known.size > 1 else None
            out.append(row)
        return out


def compare_grades(grades: Floats, truth: Floats) -> tuple[float, float, float]:
    """Return accuracy, Cohen's kappa and mean squared error of grades [P].

    Kappa is nan where both have one and the same grade only.
    """
    accuracy = float((grades == truth).mean())
    values = np.unique(np.concatenate([grades, truth]))
    chance = sum(float((grades == v).mean() * (truth == v).mean()) for v in values)
    kappa = (accuracy - chance) / (1 - chance) if chance < 1 else np.nan
    return accuracy, kappa, float(((grades - truth) ** 2).mean())


def settle(counts: Longs, grades: Floats, rule: str) -> Longs:
    """Return the position of the grade that labels settle on; the lower one of ties.

    Parameters
    ----------
    counts : int64 [P, K]
        Number of times each label was given.
    grades : float64 [K]
    rule : "mean" or "majority"
    """
    if rule == "majority":
        return np.asarray(np.argmax(counts, axis=1), dtype=np.int64)
    mean = counts @ grades / np.maximum(counts.sum(axis=1), 1)
    middle = (grades[1:] + grades[:-1]) / 2
    settled: Longs = np.searchsorted(middle, mean, side="left").astype(np.int64)
    return settled
