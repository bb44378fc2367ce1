"""The depth-k pool: the union of the top k of every run (Sparck Jones and van Rijsbergen 1975)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from venire.pooling.base import Lists, Pool, at_least


@dataclass(frozen=True, kw_only=True)
class DepthK:
    """Take each document that some run ranks in its top k.

    Attributes
    ----------
    k : int

    Examples
    --------
    >>> from venire import Runs
    >>> runs = Runs.from_dict({"q": {"a": 3, "b": 2, "c": 1}})
    >>> DepthK(k=2).pool(Lists.of(runs)).frame["doc_id"].to_list()
    ['a', 'b']
    """

    k: int = 100

    def __post_init__(self) -> None:
        """Refuse a depth of nothing."""
        at_least("depth", self.k, 1)

    def pool(self, lists: Lists, **_: Any) -> Pool:
        """Return the union; within a topic by best rank, then by how many runs have it, then id."""
        pairs = lists.to_depth(self.k).pairs()
        frame = lists.ordered(pairs, "rank", "runs", "doc_id", descending=[False, True, False])
        frame = frame.select("query_id", "doc_id", "order", "rank", "runs")
        frame = frame.with_columns(pl.lit(1.0).alias("probability"))
        return Pool(frame, "depth", {"depth": self.k}, self.k)
