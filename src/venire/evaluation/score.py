"""Scores of systems under fixed grades, by topic and averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs, Mask
from venire.errors import DataError, NoOverlap, UnknownName
from venire.evaluation.ranks import ABSENT, RankTable
from venire.evaluation.run_notes import (
    name_topics,
    note_short_rankings,
    note_uneven_averages,
)
from venire.measures import Measure, parse
from venire.measures.family import STRATA, list_estimates
from venire.measures.hits import Hits
from venire.short_repr import list_names, write_repr
from venire.tables.qrels import AWAITING, Qrels
from venire.tables.runs import Runs
from venire.tables.schema import express, join_names

TOPICS = ("qrels", "run")
ALL_TOPICS = "all"
"""Average over all topics of the table, including topics without a graded pair; for simulated
pools."""


@dataclass(frozen=True)
class Scores:
    """Values of measures for every run and topic.

    Attributes
    ----------
    measures : list of Measure
    runs, topics : list of str
    values : float64 [measures, runs, topics]
    counted : bool [runs, topics]
        Whether a topic is part of the average of a run.
    notes : tuple of str
    """

    measures: list[Measure]
    runs: list[str]
    topics: list[str]
    values: Floats
    counted: Mask
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return write_repr(
            self,
            express(len(self.runs), "run"),
            express(len(self.topics), "topic"),
            list_names(self.measures),
        )

    @property
    def mean(self) -> Floats:
        """Mean over topics, or sum for counts, of each measure and run [measures, runs]."""
        total = np.where(self.counted[None], self.values, 0.0).sum(axis=2)
        count = np.maximum(self.counted.sum(axis=1), 1)
        is_sum = np.array([measure.family.across_topics == "sum" for measure in self.measures])
        mean: Floats = np.where(is_sum[:, None], total, total / count[None, :])
        return mean

    def over(self, counted: Mask) -> Scores:
        """Return the same values averaged over other topics [runs, topics]."""
        return replace(self, counted=counted)

    @property
    def frame(self) -> pl.DataFrame:
        """One row per run: ``run_id`` and a column per measure, in the order of the runs."""
        columns = {str(measure): row for measure, row in zip(self.measures, self.mean, strict=True)}
        return pl.DataFrame(
            {"run_id": self.runs, **columns}, schema_overrides={"run_id": pl.String}
        )

    @property
    def by_topic(self) -> pl.DataFrame:
        """One row per run and topic: ``run_id, query_id`` and a column per measure."""
        run, topic = np.nonzero(self.counted)
        columns = {
            str(measure): values[run, topic]
            for measure, values in zip(self.measures, self.values, strict=True)
        }
        return pl.DataFrame(
            {
                "run_id": [self.runs[number] for number in run],
                "query_id": [self.topics[number] for number in topic],
                **columns,
            },
            schema_overrides={"run_id": pl.String, "query_id": pl.String},
        )


def score_runs(
    qrels: Qrels,
    runs: Runs,
    measures: Sequence[str | Measure] = ("AP", "nDCG@10", "P@10"),
    *,
    topics: str = "qrels",
    ties: str = "trec",
) -> Scores:
    """Score runs.

    Parameters
    ----------
    qrels : Qrels
        Whole grades; negative means "in the pool, not judged".
    runs : Runs
    measures : sequence of str or Measure
        As ir_measures spells them.
    topics : "qrels" or "run"
        Average over all topics of the qrels, where a topic missing from a run counts as 0
        (trec_eval -c), or over the topics of the run.
    ties : str
        Tie rule, see :meth:`venire.Runs.ranks`.

    Raises
    ------
    NoOverlap
        Runs and qrels share no topic.
    DataError
        Grades that are not whole numbers, or an estimate from a sample (infAP, xinfAP, infNDCG,
        infNumRel) under qrels of an adaptive pool.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> runs = Runs.from_dict({"q": {"b": 2.0, "a": 1.0}})
    >>> score_runs(qrels, runs, ["RR", "P@1"]).frame.rows()
    [('run', 0.5, 0.0)]
    """
    if topics not in TOPICS:
        raise UnknownName("topics", topics, TOPICS)
    table = rank(qrels, runs, ties=ties)
    return score(table, table.grades(qrels), measures, topics=topics)


def parse_measures(measures: Sequence[str | Measure]) -> list[Measure]:
    """Return the measures, parsed if they are text."""
    return [parse(measure) if isinstance(measure, str) else measure for measure in measures]


def smallest_relevant(measure: Measure) -> int:
    """Return the smallest grade that counts as relevant under a measure: its ``rel``, or 1."""
    return dict(measure.parameters).get("rel") or 1


def require_whole_grades(qrels: Qrels, name: str = "") -> None:
    """Refuse qrels with grades that are not whole numbers.

    Parameters
    ----------
    qrels : Qrels
    name : str
        Name of the qrels in the error.
    """
    if not qrels.has_whole_grades:
        raise DataError(
            f"{name or 'qrels'}: measures need grades that are whole numbers",
            hint='Write the qrels with `rule="mode"`.',
            code="fractional-grades",
        )


def rank(qrels: Qrels, runs: Runs, *, ties: str = "trec") -> RankTable:
    """Return the rank of each pair of the qrels in each run; errors as for :func:`score_runs`."""
    require_whole_grades(qrels)
    require_overlap(qrels.frame, runs.frame)
    pairs = qrels.frame.select("query_id", "doc_id")
    table = RankTable.of(runs, pairs, ties=ties).with_strata(qrels)
    return replace(table, adaptive=qrels.adaptive)


def score(
    table: RankTable,
    grades: Longs,
    measures: Sequence[str | Measure],
    *,
    topics: str = "qrels",
) -> Scores:
    """Score ranked runs under grades of the pairs of the table.

    Parameters
    ----------
    table : RankTable
    grades : int64 [P]
        ``ABSENT`` for a pair without a grade.
    measures : sequence
    topics : "qrels", "run" or "all"
        Average over the topics with a graded pair, over those of these topics that are in the
        run, or over all topics of the table.
    """
    parsed = parse_measures(measures)
    _refuse_adaptive(table.adaptive, parsed)
    hits = table.hits(grades)
    shape = (len(table.runs), len(table.topics))
    values = np.stack([measure.compute(hits).reshape(shape) for measure in parsed])
    is_counted = np.full(shape[1], topics == ALL_TOPICS)
    is_counted[table.topic[grades != ABSENT]] = True
    counted = np.broadcast_to(is_counted, shape).copy()
    if topics == "run":
        counted &= table.retrieved.reshape(shape) > 0
    return Scores(
        measures=parsed,
        runs=table.runs,
        topics=table.topics,
        values=values,
        counted=counted,
        notes=(
            *table.notes,
            *(table.topic_notes if topics == "qrels" else ()),
            *note_uneven_averages(table.runs, counted),
            *note_short_rankings(table.runs, table.retrieved, parsed),
            *_empty_topics(table, hits, parsed),
            *_note_unsampled(table, hits, parsed),
            *_note_sample(hits, parsed),
            *_adaptive_note(table.adaptive),
        ),
    )


def _refuse_adaptive(strategy: str, measures: list[Measure]) -> None:
    """Refuse an estimate from a sample under qrels of an adaptive pool."""
    estimates = [str(measure) for measure in measures if measure.family.is_estimate]
    if strategy and estimates:
        raise DataError(
            f"{estimates[0]} needs a random sample, but the qrels come from an adaptive pool "
            f"({strategy}), where the sampling probabilities are unknown",
            hint="Judge a stratified pool instead.",
        )


def _adaptive_note(strategy: str) -> tuple[str, ...]:
    if not strategy:
        return ()
    return (
        f"the qrels come from an adaptive pool ({strategy}): intervals and tests cover the choice "
        "of topics only, not the documents that the pool left out",
    )


def _note_unsampled(table: RankTable, hits: Hits, measures: list[Measure]) -> tuple[str, ...]:
    """Return notes on strata with a single sampled document, and on strata with none."""
    if not any(STRATA in measure.family.needs for measure in measures):
        return ()
    judged = hits.judged
    width = int(judged.strata.max(initial=0)) + 1
    cell = judged.topic * width + judged.strata
    size = np.bincount(cell, minlength=judged.topics * width)
    sampled = np.bincount(cell[judged.grade >= 0], minlength=size.size)
    n_single = int(np.sum((size > 1) & (sampled == 1)))
    notes: tuple[str, ...] = ()
    if n_single and any(dict(measure.parameters).get("corrected") for measure in measures):
        notes = (
            f"{express(n_single, 'stratum', 'strata')} with a single sampled document out of "
            "several: xinfAP(corrected=True) misses pairs of documents there and is too low",
        )
    empty = np.flatnonzero((size > 0) & (sampled == 0))
    if not empty.size:
        return notes
    first = join_names([table.topics[number] for number in np.unique(empty // width)])
    return (
        *notes,
        f"no document was sampled from {express(empty.size, 'stratum', 'strata')} of topic "
        f"{first}, with {express(int(size[empty].sum()), 'document')}: estimates leave these out",
    )


def _note_sample(hits: Hits, measures: list[Measure]) -> tuple[str, ...]:
    """Say what plain measures make of a sample, and count its pairs that have no grade yet."""
    judged = hits.judged
    if judged.stratum is None or not (judged.grade < 0).any():
        return ()
    notes = []
    plain = [str(measure) for measure in measures if measure.takes_unjudged_for_not_relevant]
    if plain:
        notes.append(
            f"the qrels are a stratified sample, and {join_names(plain)} "
            f"{'takes' if len(plain) == 1 else 'take'} its "
            f"{express(int((judged.grade < 0).sum()), 'pair')} without a grade for not relevant; "
            f"measures that estimate from a sample: {', '.join(list_estimates())}"
        )
    awaiting = int((judged.grade == AWAITING).sum())
    estimates = [str(measure) for measure in measures if measure.family.is_estimate]
    if awaiting and estimates:
        notes.append(
            f"{express(awaiting, 'sampled pair')} {'has' if awaiting == 1 else 'have'} no grade "
            f"yet; {join_names(estimates)} {'is' if len(estimates) == 1 else 'are'} right only "
            "if these are a random part of the sample; judge them first"
        )
    return tuple(notes)


def _empty_topics(table: RankTable, hits: Hits, measures: list[Measure]) -> tuple[str, ...]:
    """Return notes on topics without a relevant document, at each threshold in use."""
    notes = []
    for rel in sorted({smallest_relevant(measure) for measure in measures}):
        relevant = hits.judged.count_relevant(rel)
        empty = [topic for topic, count in zip(table.topics, relevant, strict=True) if count == 0]
        if empty:
            threshold = f" (grade >= {rel})" if rel != 1 else ""
            notes.append(
                f"no document is relevant{threshold} for {name_topics(empty)}: counted as 0"
            )
    return tuple(notes)


def require_overlap(graded: pl.DataFrame, ranked: pl.DataFrame, name: str = "qrels") -> None:
    """Raise NoOverlap if graded pairs and ranked documents share no topic.

    Parameters
    ----------
    graded, ranked : polars.DataFrame
        With a column ``query_id``.
    name : str
        Name of the graded pairs in the error.
    """
    graded_topics = set(graded["query_id"].unique())
    ranked_topics = set(ranked["query_id"].unique())
    if not graded_topics & ranked_topics:
        in_qrels = ", ".join(sorted(graded_topics)[:3]) or "none"
        in_runs = ", ".join(sorted(ranked_topics)[:3]) or "none"
        raise NoOverlap(
            f"{name} and runs share no topic (topics of the {name}: {in_qrels}; topics of the "
            f"runs: {in_runs})"
        )
