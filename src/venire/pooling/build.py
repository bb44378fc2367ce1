"""``venire.pool``: choose the documents of runs that are to be judged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from venire.arguments import check_arguments
from venire.errors import BadSetting
from venire.formats.load import QrelsLike, RunsLike, load_qrels, load_runs
from venire.pooling import statistics
from venire.pooling.base import Lists, Pool
from venire.pooling.strategies import build_strategy, list_adaptive
from venire.short_repr import list_names, write_repr
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR, express, join_names


@dataclass(frozen=True, eq=False)
class BuiltPools:
    """A pool, or one per depth, and what it costs and finds.

    Attributes
    ----------
    strategy : str
    pools : tuple of Pool
        One; several where several depths were asked for.
    lists : Lists
        The ranked runs that the pools are made of.
    qrels : Qrels or None
        Grades that say what the pools find.
    relevant_from : float
    collection_size : int or None
    notes : tuple of str
    """

    strategy: str
    pools: tuple[Pool, ...]
    lists: Lists
    qrels: Qrels | None
    relevant_from: float
    collection_size: int | None
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return write_repr(
            self,
            self.strategy,
            f"{list_names([f'{len(pool):,}' for pool in self.pools])} pairs to judge",
            express(len(self.lists.runs), "run"),
            express(len(self.lists.topics), "topic"),
        )

    @property
    def pool(self) -> Pool:
        """The pool.

        Raises
        ------
        BadSetting
            For several depths.
        """
        if len(self.pools) > 1:
            raise BadSetting(
                f"must be one number here (got {len(self.pools)})",
                argument="depth",
                hint="Take one of `pools`, or build one pool.",
            )
        return self.pools[0]

    @property
    def frame(self) -> pl.DataFrame:
        """The pairs of the pool, one row per pair; see :class:`venire.pooling.base.Pool`."""
        return self.pool.frame

    def __len__(self) -> int:
        """Return the number of pairs to judge."""
        return len(self.pool)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per pool; see :func:`venire.pooling.statistics.summarise`."""
        rows = []
        for pool in self.pools:
            limit = "budget" if pool.depth is None else "depth"
            summary = statistics.summarise(
                pool,
                self.lists,
                qrels=self.qrels,
                relevant_from=self.relevant_from,
                collection_size=self.collection_size,
            )
            rows.append(
                {"strategy": self.strategy, limit: pool.depth or pool.settings["budget"]} | summary
            )
        return rows

    @property
    def by_run(self) -> list[dict[str, Any]]:
        """One row per run of the pool; see :func:`venire.pooling.statistics.count_by_run`."""
        return statistics.count_by_run(
            self.pool, self.lists, qrels=self.qrels, relevant_from=self.relevant_from
        )

    @property
    def by_topic(self) -> list[dict[str, Any]]:
        """One row per topic of the pool; see :func:`venire.pooling.statistics.count_by_topic`."""
        return statistics.count_by_topic(
            self.pool, self.lists, qrels=self.qrels, relevant_from=self.relevant_from
        )

    def write(self, path: str | Path) -> None:
        """Write the pool, with its grades where qrels were given.

        .csv, .tsv, .jsonl and .parquet by ending, else TREC qrels.
        """
        self.pool.write(path, self.qrels)


@check_arguments
def pool(
    runs: RunsLike,
    strategy: str = "depth",
    *,
    depth: int | Sequence[int] | None = None,
    budget: int | None = None,
    fusion: str | None = None,
    discount: float | None = None,
    strata: Sequence[int] | None = None,
    rates: Sequence[float] | None = None,
    audit: int | None = None,
    settings: Mapping[str, Any] | None = None,
    qrels: QrelsLike | None = None,
    judged: QrelsLike | None = None,
    columns: Mapping[str, str] | str | None = None,
    relevant_from: float = 1,
    collection_size: int | None = None,
    ties: str = "trec",
    seed: int = 0,
) -> BuiltPools:
    """Choose the documents of runs that are to be judged.

    Parameters
    ----------
    runs : Runs, path, list of paths, dataframe, or ``{query_id: {doc_id: score}}``
        A folder stands for the ``*.run`` files in it.
    strategy : str
        ``depth``, ``fused``, ``move-to-front``, ``bandit-max-mean``, ``bandit-thompson``,
        ``bandit-nonstationary``, ``stratified``, ``audit``, or one of a plug-in.
    depth : int or sequence of int, optional
        Depth of the pool, 100 by default; several give one depth pool each. For fused and
        adaptive strategies: number of documents of each run that are used, all by default. For
        ``audit``: the same, 10 by default.
    budget : int, optional
        Documents per topic; not for ``depth``.
    fusion : "reciprocal-rank" or "combsum", optional
        For ``fused``: how runs are fused; reciprocal-rank by default.
    discount : float, optional
        For ``bandit-nonstationary``: discount of earlier judgments, 0.9 by default.
    strata : sequence of int, optional
        For ``stratified``: lowest rank of each stratum, 10,50,100 by default.
    rates : sequence of float, optional
        For ``stratified``: sampling rate of each stratum.
    audit : int, optional
        Number of pairs of an audit over all topics; chooses the strategy ``audit``. With
        ``qrels`` only pairs that they judge are drawn.
    settings : mapping, optional
        Other settings, for a strategy of a plug-in.
    qrels : Qrels, path or dataframe, optional
        Known grades: adds what the pool finds. Adaptive strategies are replayed on them.
    judged : Qrels, path or dataframe, optional
        What has been judged so far; for adaptive strategies.
    columns : mapping or str, optional
        Venire's column names to those of ``qrels`` and ``judged``: ``{"doc_id": "corpus"}``. The
        columns of BEIR (``query-id, corpus-id, score``) are known.
    relevant_from : float
        Smallest relevant grade.
    collection_size : int, optional
        Number of documents in the collection.
    ties : "trec", "docid-ascending" or "file-order"
        Order of documents with equal scores.
    seed : int

    Raises
    ------
    VenireError
        For input that cannot be used; see the page on errors.

    Examples
    --------
    >>> pool({"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, depth=2).frame["doc_id"].to_list()
    ['a', 'b']
    """
    if audit is not None:
        if strategy not in ("depth", "audit"):
            raise BadSetting(
                f"cannot be used with strategy {strategy!r}", argument="audit", value=audit
            )
        if audit < 1:
            raise BadSetting(f"must be >= 1 (got {audit})", argument="audit", value=audit)
        strategy = "audit"
    depths = [depth] if depth is None or isinstance(depth, int) else list(depth)
    if len(depths) > 1 and strategy != "depth":
        raise BadSetting(
            f"must be one number for {strategy} (got {_join(depths)})",
            argument="depth",
            value=depth,
        )
    if judged is not None and strategy not in list_adaptive():
        raise BadSetting(
            f"cannot be used with strategy {strategy!r}",
            argument="judged",
            hint=f"Choose an adaptive strategy: {', '.join(list_adaptive())}.",
        )
    if math.isnan(relevant_from):
        raise BadSetting("must be a grade (got nan)", argument="relevant_from", value=relevant_from)
    poolers = [
        build_strategy(
            strategy,
            {
                "budget": budget,
                "fusion": fusion,
                "discount": discount,
                "strata": None if strata is None else tuple(strata),
                "rates": None if rates is None else tuple(rates),
                "depth": number,
                "pairs": audit,
                **(settings or {}),
            },
        )
        for number in depths
    ]
    table = load_runs(runs)
    lists = Lists.of(table, depth=None if strategy == "depth" else depths[0], ties=ties)
    reading: dict[str, Any] = {"columns": columns, "mapping": "columns"}
    graded = None if qrels is None else load_qrels(qrels, **reading)
    already = None if judged is None else load_qrels(judged, **reading, allow_empty=True)
    pools = tuple(
        pooler.pool(lists, judged=already, outcomes=graded, relevant_from=relevant_from, seed=seed)
        for pooler in poolers
    )
    notes = [
        f"{express(len(lists.runs), 'run')}, {express(len(lists.topics), 'topic')}",
        *table.notes,
        *(graded.notes if graded is not None else ()),
        *(note for built in pools for note in built.notes),
        *_note_shallow_runs(lists, depths),
        *_note_unjudged_sample(pools, graded),
    ]
    return BuiltPools(
        strategy=strategy,
        pools=pools,
        lists=lists,
        qrels=graded,
        relevant_from=relevant_from,
        collection_size=collection_size,
        notes=tuple(dict.fromkeys(notes)),
    )


def _note_shallow_runs(lists: Lists, depths: Sequence[int | None]) -> list[str]:
    """Name runs that answer fewer topics than others, or rank fewer documents than a depth."""
    counts = lists.frame.group_by("run_id", "query_id").len()
    runs = counts.group_by("run_id").agg(pl.len().alias("topics"), pl.col("len").max())
    runs = runs.sort("run_id")
    notes = []
    fewer = runs.filter(pl.col("topics") < len(lists.topics)).select("run_id", "topics")
    if fewer.height:
        texts = [f"{name} {number}" for name, number in fewer.iter_rows()]
        notes.append(
            f"runs that answer fewer than {express(len(lists.topics), 'topic')}: "
            f"{join_names(texts)}"
        )
    deepest = max((depth for depth in depths if depth), default=0)
    short = runs.filter(2 * pl.col("len") <= deepest)
    if short.height:
        texts = [f"{name} ({number})" for name, number in short.select("run_id", "len").iter_rows()]
        notes.append(
            f"runs that rank at most half of {express(deepest, 'document')} for any topic: "
            f"{join_names(texts)}"
        )
    return notes


def _note_unjudged_sample(pools: Sequence[Pool], graded: Qrels | None) -> list[str]:
    """Count the sampled pairs without a grade: with them nothing can be estimated."""
    if graded is None:
        return []
    judged = graded.frame.filter(pl.col("relevance") >= 0)
    notes = []
    for built in pools:
        if "sampled" not in built.frame.columns:
            continue
        awaiting = built.to_judge.join(judged, on=PAIR, how="anti").height
        if awaiting:
            notes.append(
                f"{express(awaiting, 'sampled pair')} of {len(built):,} "
                f"{'has' if awaiting == 1 else 'have'} no grade yet, so the number of relevant "
                "documents cannot be estimated; judge them first"
            )
    return notes


def _join(numbers: Sequence[int | None]) -> str:
    return ",".join(map(str, numbers))
