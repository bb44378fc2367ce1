"""Ranked lists in, a pool out: what every pool strategy shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from venire.errors import BadSetting, DataError
from venire.formats import write_frame, write_qrels
from venire.formats.file_format import get_ending, list_table_endings
from venire.formats.source import write_bytes
from venire.settings import Settings, setting
from venire.short_repr import write_repr
from venire.tables.qrels import AWAITING, UNSAMPLED, Qrels
from venire.tables.runs import Runs
from venire.tables.schema import PAIR, express


@dataclass(frozen=True)
class Lists:
    """The ranked lists of all runs, ranked once for any number of pools.

    Attributes
    ----------
    frame : polars.DataFrame
        ``run_id, query_id, doc_id, score, rank``, sorted by run, topic and rank.
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

    def __repr__(self) -> str:
        return write_repr(
            self,
            express(len(self.runs), "run"),
            express(len(self.topics), "topic"),
            express(self.frame.height, "document"),
        )

    @classmethod
    def of(cls, runs: Runs, *, depth: int | None = None, ties: str = "trec") -> Lists:
        """Rank the runs.

        Parameters
        ----------
        runs : Runs
        depth : int, optional
            Number of documents of each list that are kept; all by default.
        ties : str
            As in :meth:`venire.Runs.with_ranks`: measures and pools use the same rule.
        """
        if not len(runs):
            raise DataError("no pool can be built: there are no runs")
        ranked = runs.with_ranks(ties=ties).select("run_id", *PAIR, "score", "rank")
        topics = runs.frame["query_id"].unique(maintain_order=True)
        names = tuple(ranked["run_id"].unique().sort())
        return cls(ranked, topics, names).to_depth(depth)

    def to_depth(self, depth: int | None) -> Lists:
        """Return the lists cut at a rank."""
        if depth is None:
            return self
        require_at_least("depth", depth, 1)
        return Lists(self.frame.filter(pl.col("rank") <= depth), self.topics, self.runs, depth)

    def list_pairs(self) -> pl.DataFrame:
        """Return each pair once: ``query_id, doc_id``, best ``rank``, and number of ``runs``."""
        return self.frame.group_by(PAIR).agg(
            pl.col("rank").min().cast(pl.Int64), pl.len().cast(pl.Int64).alias("runs")
        )

    def sort_by_topic(
        self, frame: pl.DataFrame, *by: str, descending: bool | list[bool] = False
    ) -> pl.DataFrame:
        """Sort rows within topics, topics in the order of the runs, and number them.

        Returns
        -------
        polars.DataFrame
            With ``order``, the place within the topic, starting at 1.
        """
        place = pl.DataFrame({"query_id": self.topics}).with_row_index("place")
        directions = descending if isinstance(descending, list) else [descending] * len(by)
        frame = frame.join(place, on="query_id").sort("place", *by, descending=[False, *directions])
        order = pl.int_range(1, pl.len() + 1).over("query_id").alias("order")
        return frame.drop("place").with_columns(order)


@dataclass(frozen=True)
class Pool:
    """The pairs chosen for judging.

    Attributes
    ----------
    frame : polars.DataFrame
        ``query_id, doc_id, order`` (place within the topic, starting at 1), ``rank`` (best rank
        in any run), ``probability`` (that the pair is chosen; null if unknown). A stratified pool
        has all pairs of the strata, with ``stratum`` and ``sampled``.
    strategy : str
    settings : mapping
    depth : int or None
        Depth of the lists that a depth pool or a stratified pool is built from.
    biased : bool
        True if earlier judgments decided which documents were judged next. Such a pool has more
        relevant documents than a random sample, and the probabilities are unknown: no interval
        may be computed from it.
    notes : tuple of str
    is_blind : bool
        True if the pool is written without grades, because a judge is to be compared with them.
    """

    frame: pl.DataFrame
    strategy: str
    settings: Mapping[str, Any]
    depth: int | None = None
    biased: bool = False
    notes: tuple[str, ...] = field(default=())
    is_blind: bool = False

    def __repr__(self) -> str:
        return write_repr(self, self.strategy, f"{express(len(self), 'pair')} to judge")

    def __len__(self) -> int:
        return self.to_judge.height

    @property
    def to_judge(self) -> pl.DataFrame:
        """The rows to judge: all, or the sampled ones."""
        if "sampled" not in self.frame.columns:
            return self.frame
        return self.frame.filter("sampled")

    def get_probabilities(self) -> pl.DataFrame:
        """Return ``query_id, doc_id, probability`` of the pairs to judge, for estimates.

        Raises
        ------
        DataError
            For an adaptive pool.
        """
        if self.biased:
            raise DataError(
                f"the pool is adaptive ({self.strategy}): the probabilities of its documents are "
                "unknown, so no interval can be computed",
                hint="Build a stratified pool.",
                code="adaptive-pool",
            )
        return self.to_judge.select(*PAIR, "probability")

    def write(self, path: str | Path, qrels: Qrels | None = None) -> None:
        """Write the pool.

        A table if the ending is .csv, .tsv, .jsonl or .parquet. Otherwise TREC qrels, with the
        grade from ``qrels``, or -1 for "in the pool, not judged"; those of an adaptive pool have
        ``adaptive:STRATEGY`` in the second column. A stratified pool is written as
        ``topic 0 document stratum grade`` with -1 for "not sampled" and -2 for "sampled, not
        judged", the input of NIST's sample_eval; this needs ``qrels``.
        """
        name = str(path)
        if get_ending(name) in list_table_endings():
            write_frame(self.frame, path)
        elif "stratum" in self.frame.columns:
            if qrels is None:
                raise BadSetting(
                    f"is missing: five-column qrels contain the grades of the sample ({name})",
                    argument="qrels",
                    hint="Pass the qrels, or write .csv, .tsv, .jsonl or .parquet.",
                )
            write_bytes(path, _write_strata(self, qrels, name))
        else:
            known = None if self.is_blind else qrels
            frame = add_grades(self.frame, known).select(*PAIR, "relevance")
            write_qrels(Qrels(frame, adaptive=self.strategy if self.biased else ""), path)


class Strategy(Settings):
    """A pool strategy: a frozen dataclass of settings, and how it chooses documents.

    A package adds one with an entry point in the group ``venire.pool_strategies``, whose name is
    what users type.

    Attributes
    ----------
    name : str
        Name of the entry point.
    label : str
        A few words, for a list to choose from.
    description : str
        One sentence, for help texts and pages.
    is_adaptive : bool
        Whether judgments decide which documents are judged next.
    position : int
        Place in lists of strategies; lower numbers first.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    description: ClassVar[str]
    is_adaptive: ClassVar[bool] = False
    position: ClassVar[int] = 100

    def pool(
        self,
        lists: Lists,
        *,
        judged: Qrels | None = None,
        outcomes: Qrels | None = None,
        relevant_from: float = 1,
        seed: int = 0,
    ) -> Pool:
        """Choose the pairs to judge.

        Parameters
        ----------
        lists : Lists
            The ranked runs.
        judged : Qrels, optional
            Judgments so far; adaptive strategies learn from them.
        outcomes : Qrels, optional
            Known grades, for a replay: an adaptive strategy looks up each document it chooses.
        relevant_from : float
            Smallest relevant grade.
        seed : int
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class BudgetedStrategy(Strategy):
    """A strategy that chooses a number of documents per topic."""

    depth: int | None = setting(
        None,
        words="Number of documents of each run that are considered; all by default.",
        label="Depth of the runs",
        least=1,
    )
    budget: int = setting(100, words="Number of documents per topic.", label="Budget", least=1)


def add_grades(frame: pl.DataFrame, qrels: Qrels | None) -> pl.DataFrame:
    """Add the column ``relevance`` to pairs; -1 without a grade."""
    if qrels is None:
        return frame.with_columns(pl.lit(-1).alias("relevance"))
    graded = frame.join(qrels.frame, on=PAIR, how="left", maintain_order="left")
    return graded.with_columns(pl.col("relevance").fill_null(-1))


def _write_strata(pool: Pool, qrels: Qrels, name: str) -> bytes:
    """Return ``topic 0 document stratum grade`` lines."""
    frame = add_grades(pool.frame, qrels).select(
        "query_id",
        pl.lit(0).alias("iteration"),
        "doc_id",
        "stratum",
        pl.when(~pl.col("sampled"))
        .then(UNSAMPLED)
        .when(pl.col("relevance") < 0)
        .then(AWAITING)
        .otherwise("relevance")
        .cast(pl.Int64)
        .alias("relevance"),
    )
    for column in PAIR:
        blank = frame[column].str.contains(r"\s")
        if blank.any():
            raise DataError(
                f"{name}: {column} {frame[column].filter(blank)[0]!r} contains a blank, which "
                "TREC files cannot represent",
                hint="Write .csv, .tsv, .jsonl or .parquet.",
            )
    return frame.write_csv(include_header=False, separator=" ", quote_style="never").encode()


def require_at_least(argument: str, value: float, least: float) -> None:
    """Refuse an argument below its smallest allowed value."""
    if not value >= least:
        raise BadSetting(f"must be >= {least:g} (got {value:g})", argument=argument, value=value)


def note_short_topics(frame: pl.DataFrame, lists: Lists, budget: int) -> tuple[str, ...]:
    """Return a note that counts the topics with fewer documents than the budget."""
    full = frame.group_by("query_id").len().filter(pl.col("len") >= budget).height
    short = len(lists.topics) - full
    if not short:
        return ()
    has = "topic has" if short == 1 else "topics have"
    return (f"{short:,} {has} fewer than {express(budget, 'document')}",)
