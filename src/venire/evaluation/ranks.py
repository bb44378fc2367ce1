"""Runs ranked once, so that new grades re-score them by look-up."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from venire.measures.hits import Hits, Judged
from venire.tables.codes import code, code_pairs
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs

Longs = NDArray[np.int64]
PAIR = ["query_id", "doc_id"]
ABSENT = np.iinfo(np.int64).min
"""Stands for a pair that given qrels do not name."""


@dataclass(frozen=True)
class RankTable:
    """Where each run ranks each of a set of pairs.

    Attributes
    ----------
    runs, topics : list of str
    pairs : polars.DataFrame [P]
        ``query_id, doc_id``, sorted: the pairs that may be graded.
    topic : int64 [P]
        Topic of each pair.
    segment, rank, pair : int64 [H]
        The retrieved ones of those pairs, sorted by segment ``run * T + topic``, then rank.
    retrieved : int64 [runs * T]
        Documents retrieved for each run and topic.
    notes : tuple of str
    stratum : int64 [P], optional
        Code of the stratum each pair was sampled from.
    adaptive : str
        Strategy of the adaptive pool that the qrels come of, if they do.
    """

    runs: list[str]
    topics: list[str]
    pairs: pl.DataFrame
    topic: Longs
    segment: Longs
    rank: Longs
    pair: Longs
    retrieved: Longs
    notes: tuple[str, ...] = ()
    stratum: Longs | None = None
    adaptive: str = ""

    @classmethod
    def of(cls, runs: Runs, pairs: pl.DataFrame, *, ties: str = "trec") -> RankTable:
        """Rank the runs and look the pairs up in them.

        Parameters
        ----------
        runs : Runs
        pairs : polars.DataFrame
            ``query_id, doc_id``, each once.
        ties : str
            Tie rule, see :meth:`venire.Runs.ranks`.
        """
        query, topics = code(pairs["query_id"])
        doc, docs = code(pairs["doc_id"])
        position, distinct = code_pairs(query, doc, len(docs))
        order = np.empty(distinct.size, np.int64)
        order[position] = np.arange(distinct.size)
        pairs = pairs.select(PAIR)[order]
        topic = query[order].astype(np.int64)
        numbered = pairs.with_columns(pl.Series("pair", np.arange(len(pairs), dtype=np.int64)))
        where = pl.DataFrame(
            {"query_id": topics, "topic": np.arange(len(topics), dtype=np.int64)},
            schema={"query_id": pl.String, "topic": pl.Int64},
        )
        ranked = runs.ranks(ties=ties)
        names = ranked["run_id"].unique().sort().to_list()
        run = pl.DataFrame(
            {"run_id": names, "run": np.arange(len(names), dtype=np.int64)},
            schema={"run_id": pl.String, "run": pl.Int64},
        )
        counted = (
            ranked.group_by("run_id", "query_id")
            .len()
            .join(where, on="query_id")
            .join(run, "run_id")
        )
        width = len(topics)
        retrieved = np.zeros(len(names) * width, np.int64)
        at = (counted["run"] * width + counted["topic"]).to_numpy()
        retrieved[at] = counted["len"].to_numpy()
        hits = ranked.join(numbered, on=PAIR, how="inner").join(run, on="run_id")
        pair = hits["pair"].to_numpy()
        segment = hits["run"].to_numpy() * width + topic[pair]
        rank = hits["rank"].to_numpy().astype(np.int64)
        # Ranks are below 2^31, so one key sorts by segment and rank.
        sort = np.argsort(segment * (1 << 31) + rank, kind="stable")
        return cls(
            runs=names,
            topics=topics.to_list(),
            pairs=pairs,
            topic=topic,
            segment=segment[sort],
            rank=rank[sort],
            pair=pair[sort],
            retrieved=retrieved,
            notes=_topic_notes(counted, names, topics.to_list(), ranked),
        )

    def grades(self, qrels: Qrels) -> Longs:
        """Return the grade of each pair [P], ``ABSENT`` where the qrels do not name it."""
        joined = self.pairs.join(qrels.frame, on=PAIR, how="left", maintain_order="left")
        return joined["relevance"].cast(pl.Int64).fill_null(ABSENT).to_numpy()

    def with_strata(self, qrels: Qrels) -> RankTable:
        """Return the table with the strata of stratified qrels, where these have any."""
        if "stratum" not in qrels.frame.columns:
            return self
        joined = self.pairs.join(qrels.frame, on=PAIR, how="left", maintain_order="left")
        stratum, _ = code(joined["stratum"].fill_null(""))
        return replace(self, stratum=stratum.astype(np.int64))

    def hits(self, grades: Longs) -> Hits:
        """Return what measures see when the pairs have these grades."""
        grade = grades[self.pair]
        there = grade != ABSENT
        graded = grades != ABSENT
        strata = None if self.stratum is None else self.stratum[graded]
        judged = Judged.of(self.topic[graded], grades[graded], len(self.topics), strata)
        stratum = None if self.stratum is None else self.stratum[self.pair]
        if there.all():
            return Hits(self.segment, self.rank, grade, self.retrieved, judged, stratum)
        return Hits(
            self.segment[there],
            self.rank[there],
            grade[there],
            self.retrieved,
            judged,
            None if stratum is None else stratum[there],
        )


def _topic_notes(
    counted: pl.DataFrame, names: list[str], topics: list[str], ranked: pl.DataFrame
) -> tuple[str, ...]:
    """Name the topics that runs lack, and those the qrels lack."""
    notes = []
    for name in names:
        there = set(counted.filter(pl.col("run_id") == name)["query_id"])
        missing = [topic for topic in topics if topic not in there]
        if missing:
            notes.append(f"run {name} has nothing for {_some(missing)}: each counts 0")
    extra = sorted(set(ranked["query_id"].unique()) - set(topics))
    if extra:
        notes.append(f"the qrels have no {_some(extra)}: not scored")
    return tuple(notes)


def _some(topics: list[str]) -> str:
    shown = ", ".join(topics[:5])
    more = f" and {len(topics) - 5} more" if len(topics) > 5 else ""
    return f"topic {shown}" if len(topics) == 1 else f"{len(topics)} topics ({shown}{more})"
