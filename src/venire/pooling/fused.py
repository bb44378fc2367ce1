"""Take N documents a topic in the order of a fused ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from venire.errors import BadSetting
from venire.pooling.base import Lists, Pool, at_least, short_topics
from venire.tables.schema import PAIR

FUSIONS = ("reciprocal-rank", "combsum")


@dataclass(frozen=True, kw_only=True)
class Fused:
    """Take the first N of one ranking made of all.

    reciprocal-rank: sum over runs of 1 / (constant + rank) (Cormack, Clarke and Buettcher 2009).
    combsum: sum over runs of (score - least) / (greatest - least) within the run's list (Fox and
    Shaw 1994, with min-max scores); a list with equal scores throughout counts 1 a document.
    A run that has not the document adds nothing. Ties go to the better best rank, then to the
    smaller id by bytes.

    Attributes
    ----------
    budget : int
        N, documents a topic.
    fusion : "reciprocal-rank" or "combsum"
    constant : float
        Only for reciprocal rank; 60 in the article.
    """

    budget: int = 100
    fusion: str = "reciprocal-rank"
    constant: float = 60.0

    def __post_init__(self) -> None:
        """Refuse settings out of range."""
        at_least("budget", self.budget, 1)
        at_least("constant", self.constant, 0)
        if self.fusion not in FUSIONS:
            raise BadSetting(f"fusion is one of {', '.join(FUSIONS)}, not {self.fusion!r}")

    def pool(self, lists: Lists, **_: Any) -> Pool:
        """Return the first N of each topic, in fused order."""
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
        frame = lists.ordered(fused, "gain", "rank", "doc_id", descending=[True, False, False])
        frame = frame.filter(pl.col("order") <= self.budget).select(
            *PAIR, "order", "rank", "gain", pl.lit(1.0).alias("probability")
        )
        settings = {"budget": self.budget, "fusion": self.fusion, "constant": self.constant}
        return Pool(frame, "fused", settings, notes=short_topics(frame, lists, self.budget))
