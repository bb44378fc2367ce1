"""Ranks of the graded pairs in every run, computed once and scored under any grades."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from venire.arrays import Longs, Mask
from venire.evaluation.run_notes import note_foreign_documents, note_missing_topics
from venire.measures.hits import Hits, Judged
from venire.tables.codes import code, code_pairs
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs, block_starts
from venire.tables.schema import PAIR

ABSENT = np.iinfo(np.int64).min
"""Grade of a pair that is not in the qrels."""
UNRANKED = np.iinfo(np.int64).max
"""Best rank of a pair that no run retrieves."""
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class RankTable:
    """Rank of each pair in each run.

    Attributes
    ----------
    runs, topics : list of str
    pairs : polars.DataFrame [P]
        ``query_id, doc_id``, sorted: the pairs that may be graded.
    topic : int64 [P]
        Topic of each pair.
    segment, rank, pair : int64 [H]
        Each retrieval of such a pair by a run, sorted by segment ``run * T + topic``, then rank.
    retrieved : int64 [runs * T]
        Number of documents retrieved per run and topic.
    notes : tuple of str
    topic_notes : tuple of str
        Topics that runs lack, and that the qrels lack.
    stratum : int64 [P], optional
        Code of the stratum each pair was sampled from.
    adaptive : str
        Strategy of the pool if the qrels come from an adaptive pool, else empty.
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
    topic_notes: tuple[str, ...] = ()
    stratum: Longs | None = None
    adaptive: str = ""

    @classmethod
    def of(cls, runs: Runs, pairs: pl.DataFrame, *, ties: str = "trec") -> RankTable:
        """Rank the runs and look up the pairs in them.

        Parameters
        ----------
        runs : Runs
        pairs : polars.DataFrame
            ``query_id, doc_id``, without repeats.
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
        ranked = runs.ranks(ties=ties)
        starts = block_starts(ranked)
        blocks = ranked.select("run_id", "query_id")[starts]
        names = blocks["run_id"].unique().sort().to_list()
        run = _codes(blocks["run_id"], names)
        block_topic = _codes(blocks["query_id"], topics.to_list())
        width = len(topics)
        length = np.diff(starts, append=ranked.height)
        retrieved = np.zeros(len(names) * width, np.int64)
        in_topics = block_topic >= 0
        retrieved[(run * width + block_topic)[in_topics]] = length[in_topics]
        ranked_topic = np.repeat(block_topic, length)
        row, pair = _look_up(ranked["doc_id"], ranked_topic, pairs["doc_id"], topic)
        segment = np.repeat(run, length)[row] * width + topic[pair]
        rank = ranked["rank"].to_numpy()[row].astype(np.int64)
        # Ranks are below 2^31, so a single integer key sorts by segment, then rank.
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
            notes=note_foreign_documents(names, retrieved, segment, pairs, ranked),
            topic_notes=note_missing_topics(blocks, names, topics.to_list()),
        )

    @property
    def run(self) -> Longs:
        """Index in ``runs`` of the run of each retrieved pair [H]."""
        return self.segment // max(len(self.topics), 1)

    def best_ranks(self, members: Mask | None = None) -> Longs:
        """Return the best rank of each pair in any run [P]; ``UNRANKED`` if no run retrieves it.

        Parameters
        ----------
        members : bool [runs], optional
            The runs to consider; all by default.
        """
        pair, rank = self.pair, self.rank
        if members is not None:
            is_member = members[self.run]
            pair, rank = pair[is_member], rank[is_member]
        best = np.full(len(self.pairs), UNRANKED)
        np.minimum.at(best, pair, rank)
        return best

    def grades(self, qrels: Qrels) -> Longs:
        """Return the grade of each pair [P]; ``ABSENT`` if it is not in the qrels."""
        joined = self.pairs.join(qrels.frame, on=PAIR, how="left", maintain_order="left")
        return joined["relevance"].cast(pl.Int64).fill_null(ABSENT).to_numpy()

    def with_strata(self, qrels: Qrels) -> RankTable:
        """Return the table with the strata of the qrels, if these have any."""
        if "stratum" not in qrels.frame.columns:
            return self
        joined = self.pairs.join(qrels.frame, on=PAIR, how="left", maintain_order="left")
        stratum, _ = code(joined["stratum"].fill_null(""))
        return replace(self, stratum=stratum.astype(np.int64))

    def hits(self, grades: Longs) -> Hits:
        """Return the input of the measures when the pairs have these grades."""
        grade = grades[self.pair]
        is_graded = grade != ABSENT
        graded = grades != ABSENT
        strata = None if self.stratum is None else self.stratum[graded]
        judged = Judged.of(self.topic[graded], grades[graded], len(self.topics), strata)
        stratum = None if self.stratum is None else self.stratum[self.pair]
        if is_graded.all():
            return Hits(self.segment, self.rank, grade, self.retrieved, judged, stratum)
        return Hits(
            self.segment[is_graded],
            self.rank[is_graded],
            grade[is_graded],
            self.retrieved,
            judged,
            None if stratum is None else stratum[is_graded],
        )


def _codes(column: pl.Series, values: list[str]) -> Longs:
    """Return the index of each text in a list, -1 for a text that is not in the list."""
    code_of = {value: index for index, value in enumerate(values)}
    return np.array([code_of.get(value, -1) for value in column], dtype=np.int64)


def _look_up(
    ranked_doc: pl.Series, ranked_topic: Longs, pair_doc: pl.Series, pair_topic: Longs
) -> tuple[Longs, Longs]:
    """Look up the ranked documents among the pairs, by topic and document.

    Joins on 64-bit hashes, which takes half the time and memory of a join on text, and compares
    the matches as text afterwards. Joins on text if two pairs have the same hash.

    Parameters
    ----------
    ranked_doc, pair_doc : polars.Series of text
    ranked_topic, pair_topic : int64
        Topic of each document; -1 for a topic without pairs.

    Returns
    -------
    row, pair : int64
        Index of each match among the ranked documents and among the pairs.
    """

    def table(ids: pl.Series, topic: Longs, name: str) -> pl.DataFrame:
        mixed = topic.astype(np.uint64)
        mixed *= _MIX
        mixed ^= ids.hash().to_numpy()
        return pl.DataFrame({"key": mixed, name: np.arange(len(ids), dtype=np.uint32)})

    hashed_pairs = table(pair_doc, pair_topic, "pair")
    if hashed_pairs["key"].n_unique() < hashed_pairs.height:
        ranked, pairs = (
            pl.DataFrame({"topic": topic, "doc": ids}).with_row_index(name)
            for ids, topic, name in (
                (ranked_doc, ranked_topic, "row"),
                (pair_doc, pair_topic, "pair"),
            )
        )
        matches = ranked.join(pairs, on=["topic", "doc"])
    else:
        matches = table(ranked_doc, ranked_topic, "row").join(hashed_pairs, on="key")
    row, pair = (matches[name].to_numpy().astype(np.int64) for name in ("row", "pair"))
    is_match = (ranked_doc[row] == pair_doc[pair]).to_numpy()
    is_match &= ranked_topic[row] == pair_topic[pair]
    return row[is_match], pair[is_match]
