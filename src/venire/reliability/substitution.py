"""What another assessor's grades would have done to the ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from venire.arrays import Longs
from venire.errors import NoOverlap
from venire.evaluation.ranks import ABSENT, RankTable
from venire.evaluation.score import score
from venire.measures import Measure, parse
from venire.stats.rank_correlation import RankCorrelation, places


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

    Pairs that only one of them judged count for neither, so that what differs is the grades
    alone; topics without a common pair are left out.

    Parameters
    ----------
    table : RankTable
    grades, other : int64 [P]
        Grades of the qrels and of the other assessor, ``ABSENT`` where there is none; a negative
        one is no grade.
    measure : str or Measure
    assessor : str
        What the other is called.
    topics : "qrels" or "run"

    Raises
    ------
    NoOverlap
        When they share no pair.
    """
    both = (grades != ABSENT) & (grades >= 0) & (other != ABSENT) & (other >= 0)
    if not both.any():
        raise NoOverlap(f"{assessor} judged no pair of the qrels")
    measure = parse(measure) if isinstance(measure, str) else measure
    first, second = (
        score(table, np.where(both, some, ABSENT), [measure], topics=topics).mean[0]
        for some in (grades, other)
    )
    rel = dict(measure.parameters).get("rel") or 1
    rank, rank_other = places(first), places(second)
    frame = pl.DataFrame(
        {
            "run_id": table.runs,
            "score": first,
            "score_other": second,
            "change": second - first,
            "rank": rank,
            "rank_other": rank_other,
        }
    ).sort("rank", "run_id")
    return Substitution(
        assessor=assessor,
        pairs=int(both.sum()),
        topics=int(np.unique(table.topic[both]).size),
        leniency=float((other[both] - grades[both]).mean()),
        relevant=float((grades[both] >= rel).mean()),
        relevant_other=float((other[both] >= rel).mean()),
        order=RankCorrelation.of(table.runs, first, second),
        mean_change=float(np.abs(second - first).mean()),
        frame=frame,
        measure=measure,
    )
