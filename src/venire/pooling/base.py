"""Ranked lists in, a pool out: what every strategy shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from venire.errors import BadSetting, DataError
from venire.formats import write_frame, write_qrels
from venire.formats.source import stem, write_bytes
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import PAIR

_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")


@dataclass(frozen=True)
class Lists:
    """The ranked lists of all runs, ranked once for any number of pools.

    Attributes
    ----------
    frame : polars.DataFrame
        ``run_id, query_id, doc_id, score, rank``, by run, topic and rank.
    topics : polars.Series
        In the order of the runs.
    runs : tuple of str
        Sorted.
    depth : int or None
        Ranks below it were cut off.
    """

    frame: pl.DataFrame
    topics: pl.Series
    runs: tuple[str, ...]
    depth: int | None = None

    @classmethod
    def of(cls, runs: Runs, *, depth: int | None = None, ties: str = "trec") -> Lists:
        """Rank the runs.

        Parameters
        ----------
        runs : Runs
        depth : int, optional
            Keep this many documents of each list.
        ties : str
            As in :meth:`venire.Runs.ranked`: measures and pools use the same rule.
        """
        if not len(runs):
            raise DataError("there are no runs to make a pool of")
        ranked = runs.ranked(ties=ties).select("run_id", *PAIR, "score", "rank")
        topics = runs.frame["query_id"].unique(maintain_order=True)
        names = tuple(ranked["run_id"].unique().sort())
        return cls(ranked, topics, names).to_depth(depth)

    def to_depth(self, depth: int | None) -> Lists:
        """Return the lists cut at a rank."""
        if depth is None:
            return self
        at_least("depth", depth, 1)
        cut = self.frame.filter(pl.col("rank") <= depth)
        return Lists(cut, self.topics, self.runs, depth)

    def pairs(self) -> pl.DataFrame:
        """Return each pair once: ``query_id, doc_id, rank`` (the best) and ``runs`` (how many)."""
        return self.frame.group_by(PAIR).agg(
            pl.col("rank").min().cast(pl.Int64), pl.len().cast(pl.Int64).alias("runs")
        )

    def ordered(self, frame: pl.DataFrame, *by: str, descending: Any = False) -> pl.DataFrame:
        """Sort within topics, topics in the order of the runs, and number the rows of each."""
        place = pl.DataFrame({"query_id": self.topics}).with_row_index("place")
        down = descending if isinstance(descending, list) else [descending] * len(by)
        frame = frame.join(place, on="query_id").sort("place", *by, descending=[False, *down])
        order = pl.int_range(1, pl.len() + 1).over("query_id").alias("order")
        return frame.drop("place").with_columns(order)


@dataclass(frozen=True)
class Pool:
    """The pairs chosen for judging.

    Attributes
    ----------
    frame : polars.DataFrame
        ``query_id, doc_id, order`` (place within the topic, from 1), ``rank`` (best rank in any
        run), ``probability`` (that the pair is chosen; null where nobody knows). A stratified
        pool has all pairs of the strata, with ``stratum`` and ``sampled``.
    strategy : str
    settings : mapping
    depth : int or None
        The depth of the lists that a depth or a stratified pool is made of.
    biased : bool
        True where what was found decided what was judged next. Such a pool has more relevant
        documents than chance would give and no known probabilities: no interval may be
        computed from it.
    notes : tuple of str
    """

    frame: pl.DataFrame
    strategy: str
    settings: Mapping[str, Any]
    depth: int | None = None
    biased: bool = False
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return self.to_judge.height

    @property
    def to_judge(self) -> pl.DataFrame:
        """The rows to judge: all, or those sampled."""
        if "sampled" not in self.frame.columns:
            return self.frame
        return self.frame.filter("sampled")

    def probabilities(self) -> pl.DataFrame:
        """Return ``query_id, doc_id, probability`` of the pairs to judge, for estimates.

        Raises
        ------
        DataError
            For an adaptive pool.
        """
        if self.biased:
            raise DataError(
                f"the pool was made adaptively ({self.strategy}), so its documents have no known "
                "probability and no interval can be computed from them; make a stratified pool"
            )
        return self.to_judge.select(*PAIR, "probability")

    def write(self, path: str | Path, qrels: Qrels | None = None) -> None:
        """Write the pool.

        A table where the ending is .csv, .tsv, .jsonl or .parquet. Otherwise TREC qrels, in
        which the grade is that of ``qrels`` and -1 says "in the pool, not judged"; those of an
        adaptive pool carry the mark ``adaptive:STRATEGY`` in the second column. For a
        stratified pool the lines are ``topic 0 document stratum grade`` with -1 for "not
        sampled", as xinfAP's sample_eval reads them; these need ``qrels``.
        """
        name = str(path)
        if Path(stem(name, keep_kind=True)).suffix in _TABLES:
            write_frame(self.frame, path)
        elif "stratum" in self.frame.columns:
            if qrels is None:
                raise BadSetting(
                    f"{name}: five-column qrels have the grades of the sample; give the qrels, "
                    "or write .csv, .tsv, .jsonl or .parquet"
                )
            write_bytes(path, _five_columns(self, qrels))
        else:
            frame = graded(self.frame, qrels).select(*PAIR, "relevance")
            write_qrels(Qrels(frame, adaptive=self.strategy if self.biased else ""), path)


class Pooler(Protocol):
    """A strategy; its settings are a frozen dataclass."""

    def pool(
        self,
        lists: Lists,
        *,
        judged: Qrels | None = None,
        outcomes: Qrels | None = None,
        relevant_from: float = 1,
        seed: int = 0,
    ) -> Pool:
        """Choose the pairs to judge; strategies without adaptation ignore all but the lists."""


def graded(frame: pl.DataFrame, qrels: Qrels | None) -> pl.DataFrame:
    """Return the frame with ``relevance``; -1 where there is no grade."""
    if qrels is None:
        return frame.with_columns(pl.lit(-1).alias("relevance"))
    out = frame.join(qrels.frame, on=PAIR, how="left", maintain_order="left")
    return out.with_columns(pl.col("relevance").fill_null(-1))


def _five_columns(pool: Pool, qrels: Qrels) -> bytes:
    frame = graded(pool.frame, qrels).select(
        "query_id",
        pl.lit(0).alias("iteration"),
        "doc_id",
        "stratum",
        pl.when("sampled").then("relevance").otherwise(-1).cast(pl.Int64),
    )
    odd = frame["doc_id"].str.contains(r"\s") | frame["query_id"].str.contains(r"\s")
    if odd.any():
        raise DataError("an id holds a blank, which TREC files cannot say; write a table")
    return frame.write_csv(include_header=False, separator=" ", quote_style="never").encode()


def at_least(name: str, value: float, least: float) -> None:
    """Refuse a setting below its least value."""
    if not value >= least:
        raise BadSetting(f"{name} is at least {least:g}, not {value:g}")


def short_topics(frame: pl.DataFrame, lists: Lists, budget: int) -> tuple[str, ...]:
    """Return a note that counts the topics with fewer documents than the budget."""
    full = frame.group_by("query_id").len().filter(pl.col("len") >= budget).height
    short = len(lists.topics) - full
    return (f"{short:,} topics have fewer than {budget:,} documents",) if short else ()
