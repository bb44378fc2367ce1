"""Scores of systems under settled grades, by topic and averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs, Mask
from venire.errors import BadSetting, DataError, NoOverlap
from venire.evaluation.ranks import ABSENT, RankTable
from venire.measures import Measure, parse
from venire.measures.family import STRATA
from venire.measures.hits import Hits
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs

TOPICS = ("qrels", "run")
ALL_TOPICS = "all"
"""Average over all topics of the table, also those without a graded pair; for simulated pools."""


@dataclass(frozen=True)
class Scores:
    """Values of measures for every run and topic.

    Attributes
    ----------
    measures : list of Measure
    runs, topics : list of str
    values : float64 [measures, runs, topics]
    counted : bool [runs, topics]
        Which topics the average of a run is over.
    notes : tuple of str
    """

    measures: list[Measure]
    runs: list[str]
    topics: list[str]
    values: Floats
    counted: Mask
    notes: tuple[str, ...] = ()

    @property
    def mean(self) -> Floats:
        """One value for each measure and run [measures, runs]: mean, or sum for counts."""
        total = np.where(self.counted[None], self.values, 0.0).sum(axis=2)
        count = np.maximum(self.counted.sum(axis=1), 1)
        sums = np.array([measure.family.across_topics == "sum" for measure in self.measures])
        out: Floats = np.where(sums[:, None], total, total / count[None, :])
        return out

    def over(self, counted: Mask) -> Scores:
        """Return the same values averaged over other topics [runs, topics]."""
        return replace(self, counted=counted)

    @property
    def frame(self) -> pl.DataFrame:
        """One row a run: ``run_id`` and a column for each measure, in the order of the runs."""
        columns = {str(measure): row for measure, row in zip(self.measures, self.mean, strict=True)}
        return pl.DataFrame(
            {"run_id": self.runs, **columns}, schema_overrides={"run_id": pl.String}
        )

    @property
    def by_topic(self) -> pl.DataFrame:
        """One row a run and topic: ``run_id, query_id`` and a column for each measure."""
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
        Average over all topics of the qrels, a topic missing from a run counting 0
        (trec_eval -c), or over those the run has.
    ties : str
        Tie rule, see :meth:`venire.Runs.ranks`.

    Raises
    ------
    NoOverlap
        When runs and qrels share no topic.
    DataError
        For grades that are not whole, and for an estimate from a sample (infAP, xinfAP, infNDCG,
        infNumRel) under qrels of an adaptive pool.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> runs = Runs.from_dict({"q": {"b": 2.0, "a": 1.0}})
    >>> score_runs(qrels, runs, ["RR", "P@1"]).frame.rows()
    [('run', 0.5, 0.0)]
    """
    if topics not in TOPICS:
        raise BadSetting(f"topics is one of {', '.join(TOPICS)}, not {topics!r}")
    table = rank(qrels, runs, ties=ties)
    return score(table, table.grades(qrels), measures, topics=topics)


def parse_measures(measures: Sequence[str | Measure]) -> list[Measure]:
    """Return measures as values; texts are parsed."""
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
        What the qrels are called in the error.
    """
    if not qrels.frame["relevance"].dtype.is_integer():
        raise DataError(
            f"{name or 'qrels'}: grades must be whole numbers for measures",
            hint='Write the qrels with `rule="mode"`.',
            code="fractional-grades",
        )


def rank(qrels: Qrels, runs: Runs, *, ties: str = "trec") -> RankTable:
    """Return where the runs rank the pairs of the qrels; errors as for :func:`score_runs`."""
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
    """Score ranked runs under given grades of the table's pairs.

    Parameters
    ----------
    table : RankTable
    grades : int64 [P]
        ``ABSENT`` where a pair has none.
    measures : sequence
    topics : "qrels", "run" or "all"
        Average over the topics with a graded pair, over those of them that a run has, or over all
        topics of the table.
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
            *(table.notes if topics == "qrels" else ()),
            *_empty_topics(table, hits, parsed),
            *_note_unsampled(table, hits, parsed),
            *_adaptive_note(table.adaptive),
        ),
    )


def _refuse_adaptive(strategy: str, measures: list[Measure]) -> None:
    """Refuse an estimate from a sample whose probabilities nobody knows."""
    asked = [str(measure) for measure in measures if measure.family.is_estimate]
    if strategy and asked:
        raise DataError(
            f"{asked[0]} is an estimate from a random sample, and the qrels come of an adaptive "
            f"pool ({strategy}): what was found decided what was judged next, so its documents "
            "have no known probability; make a stratified pool"
        )


def _adaptive_note(strategy: str) -> tuple[str, ...]:
    if not strategy:
        return ()
    return (
        f"the qrels come of an adaptive pool ({strategy}): intervals and tests are over topics "
        "and know nothing of what the pool left out",
    )


def _note_unsampled(table: RankTable, hits: Hits, measures: list[Measure]) -> tuple[str, ...]:
    """Name the topics with a stratum that nothing was sampled from."""
    if not any(STRATA in measure.family.needs for measure in measures):
        return ()
    judged = hits.judged
    width = int(judged.strata.max(initial=0)) + 1
    cell = judged.topic * width + judged.strata
    size = np.bincount(cell, minlength=judged.topics * width)
    sampled = np.bincount(cell[judged.grade >= 0], minlength=size.size)
    single = int(np.sum((size > 1) & (sampled == 1)))
    lone: tuple[str, ...] = ()
    if single and any(dict(measure.parameters).get("corrected") for measure in measures):
        lone = (
            f"{single} strata of topics have one document sampled of several: "
            "xinfAP(corrected=True) cannot see two of them at once and is too low there",
        )
    empty = np.flatnonzero((size > 0) & (sampled == 0))
    if not empty.size:
        return lone
    names = [table.topics[number] for number in np.unique(empty // width)]
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return (
        *lone,
        f"nothing was sampled from {empty.size} of the strata of topic {shown}, with "
        f"{size[empty].sum()} documents: not estimated there",
    )


def _empty_topics(table: RankTable, hits: Hits, measures: list[Measure]) -> tuple[str, ...]:
    """Name the topics without a relevant document, at each threshold that is used."""
    notes = []
    for rel in sorted({smallest_relevant(measure) for measure in measures}):
        relevant = hits.judged.count_relevant(rel)
        none = [topic for topic, count in zip(table.topics, relevant, strict=True) if count == 0]
        if none:
            shown = ", ".join(none[:5]) + (f" and {len(none) - 5} more" if len(none) > 5 else "")
            least = f" (grade {rel} or more)" if rel != 1 else ""
            notes.append(f"no document is relevant{least} for topic {shown}: counted as 0")
    return tuple(notes)


def require_overlap(graded: pl.DataFrame, ranked: pl.DataFrame, name: str = "qrels") -> None:
    """Raise NoOverlap where graded pairs and ranked documents share no topic.

    Parameters
    ----------
    graded, ranked : polars.DataFrame
        With a column ``query_id``.
    name : str
        What the graded pairs are called in the error.
    """
    ours = set(graded["query_id"].unique())
    theirs = set(ranked["query_id"].unique())
    if not ours & theirs:
        some = ", ".join(sorted(ours)[:3]) or "none"
        others = ", ".join(sorted(theirs)[:3]) or "none"
        raise NoOverlap(f"{name} and runs share no topic; {name} have {some}; runs have {others}")
