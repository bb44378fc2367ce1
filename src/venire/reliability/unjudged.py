"""Measure the unjudged share of each system's first documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from venire.arrays import Longs
from venire.errors import BadSetting
from venire.evaluation.ranks import RankTable
from venire.evaluation.score import score

DEPTH = 10


@dataclass(frozen=True)
class Unjudged:
    """Unjudged share of each system's first documents.

    Attributes
    ----------
    frame : polars.DataFrame
        ``run_id, unjudged`` (mean over the topics the run has, 0 to 1), most first.
    depth : int
    """

    frame: pl.DataFrame
    depth: int

    @property
    def worst(self) -> dict[str, Any]:
        """The row of the system with the greatest share."""
        return self.frame.row(0, named=True)


def measure_unjudged(table: RankTable, grades: Longs, *, depth: int = DEPTH) -> Unjudged:
    """Measure the share of each run's first documents that have no grade.

    Unjudged@k of a topic, averaged over the topics that the run has: a topic without documents
    has none that is unjudged, and must not make the share smaller. A pair with grade -1 is not
    judged.

    Parameters
    ----------
    table : RankTable
    grades : int64 [P]
        ``ABSENT`` where a pair has none.
    depth : int

    Raises
    ------
    BadSetting
        For a depth below 1.
    """
    if depth < 1:
        raise BadSetting(f"must be >= 1 (got {depth})", argument="depth", value=depth)
    scores = score(table, grades, [f"Unjudged@{depth}"], topics="run")
    # The mean of 1 - share leaves dust like 1e-17.
    frame = pl.DataFrame(
        {"run_id": table.runs, "unjudged": np.round(scores.mean[0], 12)},
        schema_overrides={"run_id": pl.String},
    )
    return Unjudged(frame.sort(["unjudged", "run_id"], descending=[True, False]), depth)
