"""What another assessor's grades would have done to the ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs
from venire.errors import NoOverlap
from venire.evaluation.ranks import ABSENT, RankTable
from venire.evaluation.score import parse_measures, score, smallest_relevant
from venire.measures import Measure
from venire.stats.rank_correlation import RankCorrelation, rank_scores


@dataclass(frozen=True)
class Substitution:
    """The same pairs and runs under the qrels and under one other assessor.

    Attributes
    ----------
    assessor : str
    pairs, topics : int
        Judged by both.
    leniency : float
        Mean of the assessor's grade minus that of the qrels; below 0 the assessor is stricter.
    relevant, relevant_other : float
        Share of the pairs that the qrels, and the assessor, call relevant.
    order : RankCorrelation
        Ranking under the qrels (first) and under the assessor (second).
    mean_change : float
        Mean absolute change of a run's score.
    frame : polars.DataFrame
        One row a run, best under the qrels first: ``run_id, score, score_other, change, rank,
        rank_other``.
    measure : Measure
    """

    assessor: str
    pairs: int
    topics: int
    leniency: float
    relevant: float
    relevant_other: float
    order: RankCorrelation
    mean_change: float
    frame: pl.DataFrame
    measure: Measure

    @property
    def stricter(self) -> str:
        """Who gives the lower grades on average: the assessor, "qrels" or "neither"."""
        if self.leniency == 0:
            return "neither"
        return self.assessor if self.leniency < 0 else "qrels"

    @property
    def row(self) -> dict[str, Any]:
        """The figures as one row of a table."""
        return {
            "assessor": self.assessor,
            "pairs": self.pairs,
            "topics": self.topics,
            "tau": self.order.tau,
            "tau_ap": self.order.tau_ap,
            "swapped": len(self.order.swapped),
            "largest_shift": self.order.largest_shift,
            "mean_change": self.mean_change,
            "leniency": self.leniency,
            "relevant_qrels": self.relevant,
            "relevant_assessor": self.relevant_other,
            "stricter": self.stricter,
        }


def substitute(
    table: RankTable,
    grades: Longs,
    other: Longs,
    measure: str | Measure = "AP",
    *,
    assessor: str = "assessor",
    topics: str = "qrels",
) -> Substitution:
    """Score and rank runs twice, on the pairs that both judged (Voorhees, IPM 36, 2000).

    Pairs that only one of them judged count for neither, so that only the grades differ. Topics
    without a common pair are left out.

    Parameters
    ----------
    table : RankTable
    grades, other : int64 [P]
        Grades of the qrels and of the other assessor; a negative number is no grade.
    measure : str or Measure
    assessor : str
        Name of the other assessor.
    topics : "qrels" or "run"

    Raises
    ------
    NoOverlap
        When they share no pair.
    """
    is_common = (grades >= 0) & (other >= 0)
    if not is_common.any():
        raise NoOverlap(f"{assessor} judged no pair of the qrels")
    (parsed,) = parse_measures([measure])
    before, (after,) = score_assessors(
        table,
        np.where(is_common, grades, ABSENT),
        np.where(is_common, other, ABSENT)[None],
        parsed,
        topics=topics,
    )
    rel = smallest_relevant(parsed)
    frame = pl.DataFrame(
        {
            "run_id": table.runs,
            "score": before,
            "score_other": after,
            "change": after - before,
            "rank": rank_scores(before),
            "rank_other": rank_scores(after),
        }
    ).sort("rank", "run_id")
    return Substitution(
        assessor=assessor,
        pairs=int(is_common.sum()),
        topics=int(np.unique(table.topic[is_common]).size),
        leniency=float((other[is_common] - grades[is_common]).mean()),
        relevant=float((grades[is_common] >= rel).mean()),
        relevant_other=float((other[is_common] >= rel).mean()),
        order=RankCorrelation.of(table.runs, before, after),
        mean_change=float(mean_change(before, after)),
        frame=frame,
        measure=parsed,
    )


def score_assessors(
    table: RankTable, first: Longs, others: Longs, measure: Measure, *, topics: str = "qrels"
) -> tuple[Floats, Floats]:
    """Return the scores of the runs under one assessor [R] and under each of S others [S, R].

    Parameters
    ----------
    table : RankTable
    first : int64 [P]
    others : int64 [S, P]
        Grades, ``ABSENT`` where there is none.
    measure : Measure
    topics : "qrels", "run" or "all"
        As in :func:`venire.evaluation.score.score_runs`.
    """
    scores = [score(table, grades, [measure], topics=topics).mean[0] for grades in (first, *others)]
    return scores[0], np.stack(scores[1:])


def mean_change(before: Floats, after: Floats) -> Floats:
    """Return the mean absolute change of a system's score, per assessor [...].

    Parameters
    ----------
    before : float64 [R]
    after : float64 [..., R]
    """
    return np.asarray(np.abs(after - before).mean(axis=-1))
