"""The first N documents per topic of a fused ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from venire.pooling.base import BudgetedStrategy, Lists, Pool, note_short_topics
from venire.settings import setting
from venire.tables.schema import PAIR

FUSIONS = ("reciprocal-rank", "combsum")


@dataclass(frozen=True, kw_only=True)
class Fused(BudgetedStrategy):
    """Choose the first N documents of one ranking made of all runs.

    reciprocal-rank: sum over runs of 1 / (constant + rank) (Cormack, Clarke and Buettcher 2009).
    combsum: sum over runs of (score - least) / (greatest - least) within the run's list (Fox and
    Shaw 1994, with min-max scores); a list whose scores are all equal adds 1 per document.
    A run without the document adds 0. Ties go to the better best rank, then to the smaller ID by
    bytes.
    """

    name: ClassVar[str] = "fused"
    label: ClassVar[str] = "Fused: top N of all runs combined"
    description: ClassVar[str] = "Choose the first N documents of one ranking made of all runs."
    position: ClassVar[int] = 2

    fusion: str = setting(
        "reciprocal-rank", words="How the runs are fused.", label="Fusion", choices=FUSIONS
    )
    constant: float = setting(
        60.0,
        words="Constant of reciprocal-rank fusion; 60 in the article.",
        label="Constant",
        least=0,
    )

    def pool(self, lists: Lists, **_: Any) -> Pool:
        """Return the first N documents of each topic, in fused order."""
        lists = lists.to_depth(self.depth)
        if self.fusion == "reciprocal-rank":
            gain = 1 / (self.constant + pl.col("rank"))
        else:
            low = pl.col("score").min().over("run_id", "query_id")
            spread = pl.col("score").max().over("run_id", "query_id") - low
            gain = pl.when(spread > 0).then((pl.col("score") - low) / spread).otherwise(1.0)
        # Summed in the order of the runs' names, so that equal sums stay equal.
        fused = (
            lists.frame.with_columns(gain.alias("gain"))
            .group_by(PAIR, maintain_order=True)
            .agg(pl.col("gain").sum(), pl.col("rank").min().cast(pl.Int64))
        )
        frame = lists.sort_by_topic(
            fused, "gain", "rank", "doc_id", descending=[True, False, False]
        )
        frame = frame.filter(pl.col("order") <= self.budget).select(
            *PAIR, "order", "rank", "gain", pl.lit(1.0).alias("probability")
        )
        settings = {"budget": self.budget, "fusion": self.fusion, "constant": self.constant}
        notes = note_short_topics(frame, lists, self.budget)
        return Pool(frame, self.name, settings, notes=notes)
