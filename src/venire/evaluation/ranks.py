"""Runs ranked once, so that new grades re-score them by look-up."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from venire.arrays import Longs, Mask
from venire.measures.hits import Hits, Judged
from venire.tables.codes import code, code_pairs
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs, block_starts
from venire.tables.schema import PAIR

ABSENT = np.iinfo(np.int64).min
"""Grade of a pair that the qrels do not name."""
UNRANKED = np.iinfo(np.int64).max
"""Best rank of a pair that no run ranks."""
_MIX = np.uint64(0x9E3779B97F4A7C15)


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
        ranked = runs.ranks(ties=ties)
        starts = block_starts(ranked)
        blocks = ranked.select("run_id", "query_id")[starts]
        names = blocks["run_id"].unique().sort().to_list()
        run = _codes(blocks["run_id"], names)
        of_block = _codes(blocks["query_id"], topics.to_list())
        width = len(topics)
        length = np.diff(starts, append=ranked.height)
        retrieved = np.zeros(len(names) * width, np.int64)
        known = of_block >= 0
        retrieved[(run * width + of_block)[known]] = length[known]
        row, pair = _look_up(ranked["doc_id"], np.repeat(of_block, length), pairs["doc_id"], topic)
        segment = np.repeat(run, length)[row] * width + topic[pair]
        rank = ranked["rank"].to_numpy()[row].astype(np.int64)
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
            notes=_topic_notes(blocks, names, topics.to_list()),
        )

    @property
    def run(self) -> Longs:
        """Run of each retrieved pair, as its place in ``runs`` [H]."""
        return self.segment // max(len(self.topics), 1)

    def best_ranks(self, members: Mask | None = None) -> Longs:
        """Return the best rank of each pair in any run [P], ``UNRANKED`` where none ranks it.

        Parameters
        ----------
        members : bool [runs], optional
            The runs to look at; all by default.
        """
        pair, rank = self.pair, self.rank
        if members is not None:
            is_member = members[self.run]
            pair, rank = pair[is_member], rank[is_member]
        best = np.full(len(self.pairs), UNRANKED)
        np.minimum.at(best, pair, rank)
        return best

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
    """Return the place of each text in a list, -1 where it is not there."""
    place = {value: position for position, value in enumerate(values)}
    return np.array([place.get(value, -1) for value in column], dtype=np.int64)


def _look_up(
    doc: pl.Series, of_doc: Longs, known: pl.Series, of_known: Longs
) -> tuple[Longs, Longs]:
    """Return where the pairs (topic, document) of a long table stand in a short one.

    Hashes of 64 bits are joined, which takes half the time and memory of joining texts; what is
    found is then compared as text. Should two pairs of the short table share a hash, texts are
    joined.

    Parameters
    ----------
    doc, known : polars.Series of text
    of_doc, of_known : int64
        Topic of each; -1 for one that the short table has not.

    Returns
    -------
    row, pair : int64
        Places in the long and in the short table.
    """

    def table(ids: pl.Series, topic: Longs, name: str) -> pl.DataFrame:
        mixed = topic.astype(np.uint64)
        mixed *= _MIX
        mixed ^= ids.hash().to_numpy()
        return pl.DataFrame({"key": mixed, name: np.arange(len(ids), dtype=np.uint32)})

    short = table(known, of_known, "pair")
    if short["key"].n_unique() < short.height:
        texts = [
            pl.DataFrame({"topic": topic, "doc": ids}).with_row_index(name)
            for ids, topic, name in ((doc, of_doc, "row"), (known, of_known, "pair"))
        ]
        both = texts[0].join(texts[1], on=["topic", "doc"])
    else:
        both = table(doc, of_doc, "row").join(short, on="key")
    row, pair = (both[name].to_numpy().astype(np.int64) for name in ("row", "pair"))
    same = (doc[row] == known[pair]).to_numpy() & (of_doc[row] == of_known[pair])
    return row[same], pair[same]


def _topic_notes(blocks: pl.DataFrame, names: list[str], topics: list[str]) -> tuple[str, ...]:
    """Name the topics that runs lack, and those the qrels lack."""
    notes = []
    for name in names:
        topics_of_run = set(blocks.filter(pl.col("run_id") == name)["query_id"])
        missing = [topic for topic in topics if topic not in topics_of_run]
        if missing:
            notes.append(f"run {name} has nothing for {_some(missing)}: each counts 0")
    extra = sorted(set(blocks["query_id"].unique()) - set(topics))
    if extra:
        notes.append(f"the qrels have no {_some(extra)}: not scored")
    return tuple(notes)


def _some(topics: list[str]) -> str:
    shown = ", ".join(topics[:5])
    others = f" and {len(topics) - 5} more" if len(topics) > 5 else ""
    return f"topic {shown}" if len(topics) == 1 else f"{len(topics)} topics ({shown}{others})"
