"""The depth-k pool: the union of the top k of every run (Sparck Jones and van Rijsbergen 1975)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from venire.pooling.base import Lists, Pool, Strategy
from venire.settings import setting


@dataclass(frozen=True, kw_only=True)
class DepthK(Strategy):
    """Choose each document that a run ranks in its top k.

    Examples
    --------
    >>> from venire import Runs
    >>> runs = Runs.from_dict({"q": {"a": 3, "b": 2, "c": 1}})
    >>> DepthK(depth=2).pool(Lists.of(runs)).frame["doc_id"].to_list()
    ['a', 'b']
    """

    name: ClassVar[str] = "depth"
    label: ClassVar[str] = "Depth: top k of each run"
    description: ClassVar[str] = "Choose each document that a run ranks in its top k."
    position: ClassVar[int] = 1

    depth: int = setting(100, words="Number of documents of each run, k.", label="Depth", least=1)

    def pool(self, lists: Lists, **_: Any) -> Pool:
        """Return the union, within a topic by best rank, then by number of runs, then by ID."""
        pairs = lists.to_depth(self.depth).list_pairs()
        frame = lists.sort_by_topic(
            pairs, "rank", "runs", "doc_id", descending=[False, True, False]
        )
        frame = frame.select("query_id", "doc_id", "order", "rank", "runs")
        frame = frame.with_columns(pl.lit(1.0).alias("probability"))
        return Pool(frame, self.name, {"depth": self.depth}, self.depth)
