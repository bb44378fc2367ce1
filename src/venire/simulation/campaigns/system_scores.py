"""Mean scores of systems under many settled grades of the same pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs
from venire.evaluation.ranks import RankTable
from venire.measures import Measure

UNJUDGED = -1
"""Grade of a pair in the pool that nobody judged."""
MOST_AT_ONCE = 16
HITS_AT_ONCE = 100_000
"""Sets of grades scored at once: at most so many, and so many retrieved documents."""


class SystemScorer:
    """Scores runs by one measure under positions of grades; every topic of the table counts.

    Parameters
    ----------
    table : RankTable
    measure : Measure
    grades : float64 [K]
        Whole numbers.
    settled : int64 [P]
        Positions of grades on which the table of the measure's first ranks is tried.
    """

    def __init__(self, table: RankTable, measure: Measure, grades: Floats, settled: Longs) -> None:
        self.measure = measure
        # The last place is that of UNSETTLED.
        self.grades = np.concatenate([grades, [UNJUDGED]]).astype(np.int64)
        self.table = table
        self._repeated: dict[int, RankTable] = {}
        cutoff = measure.cutoff
        if cutoff is not None and measure.family.cutoff is not None and cutoff >= 1:
            short = _cut_table(table, int(cutoff))
            full = self.score_topics(settled)
            self.table = short
            if not np.array_equal(full, self.score_topics(settled)):
                self.table = table  # the measure looks below its cutoff

    def score_topics(self, settled: Longs) -> Floats:
        """Return the score of each run and topic [runs, topics]."""
        hits = self.table.hits(self.grades[settled])
        return self.measure.compute(hits).reshape(len(self.table.runs), len(self.table.topics))

    def score(self, settled: Longs) -> Floats:
        """Return the score of each run, the mean over topics or the sum of counts [runs]."""
        return self._average(self.score_topics(settled))

    def score_many(self, settled: Longs) -> Floats:
        """Return the scores under each of many sets of grades [..., P] -> [..., runs].

        Several sets at once are scored as the topics of one table: a few large arrays are faster
        than many small ones.
        """
        rows = settled.reshape(-1, settled.shape[-1])
        runs, topics = len(self.table.runs), len(self.table.topics)
        size = max(1, min(MOST_AT_ONCE, HITS_AT_ONCE // max(self.table.segment.size, 1), len(rows)))
        if size not in self._repeated:
            self._repeated[size] = repeat_topics(self.table, size)
        table = self._repeated[size]
        scores = np.empty((len(rows), runs))
        for start in range(0, len(rows), size):
            chunk = rows[start : start + size]
            full = np.concatenate([chunk, np.repeat(chunk[-1:], size - len(chunk), axis=0)])
            hits = table.hits(self.grades[full.reshape(-1)])
            values = self.measure.compute(hits).reshape(runs, size, topics)
            scores[start : start + size] = self._average(values).T[: len(chunk)]
        return scores.reshape(*settled.shape[:-1], runs)

    def _average(self, values: Floats) -> Floats:
        """Average, or sum for counts, over the last axis, that of the topics."""
        is_sum = self.measure.family.across_topics == "sum"
        average: Floats = values.sum(axis=-1) if is_sum else values.mean(axis=-1)
        return average


def repeat_topics(table: RankTable, times: int) -> RankTable:
    """Return a table with every topic, and its pairs, several times over.

    The pairs of repetition r are those of the table from place ``r * P`` on, its topics from
    ``r * T`` on; the runs are the same.
    """
    if times == 1:
        return table
    pairs, topics, runs = len(table.pairs), len(table.topics), len(table.runs)
    number = np.repeat(np.arange(times), table.segment.size)
    run, topic = np.divmod(np.tile(table.segment, times), topics)
    segment = run * (times * topics) + number * topics + topic
    rank = np.tile(table.rank, times)
    order = np.argsort(segment * (1 << 31) + rank, kind="stable")
    retrieved = table.retrieved.reshape(runs, 1, topics)
    return replace(
        table,
        topics=table.topics * times,
        pairs=pl.concat([table.pairs] * times),
        topic=np.tile(table.topic, times) + np.repeat(np.arange(times) * topics, pairs),
        segment=segment[order],
        rank=rank[order],
        pair=(np.tile(table.pair, times) + number * pairs)[order],
        retrieved=np.repeat(retrieved, times, axis=1).reshape(-1),
    )


def _cut_table(table: RankTable, cutoff: int) -> RankTable:
    is_kept = table.rank <= cutoff
    return replace(
        table,
        segment=table.segment[is_kept],
        rank=table.rank[is_kept],
        pair=table.pair[is_kept],
    )
