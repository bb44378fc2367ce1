"""``venire.evaluate``: score runs under qrels, with intervals if requested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from venire.arguments import check_arguments
from venire.arrays import Floats
from venire.errors import BadSetting
from venire.evaluation.fallback import evaluate_elsewhere, list_summed, split
from venire.evaluation.grade_probabilities import GradeProbabilitiesLike, load_grade_probabilities
from venire.evaluation.sampled import sampling_error
from venire.evaluation.score import Scores, score_runs
from venire.evaluation.uncertain import GradeProbabilities, draw_scores
from venire.formats.load import QrelsLike, RunsLike, load_qrels, load_runs
from venire.measures import Measure, MeasuresLike, list_measures
from venire.measures.family import list_estimates
from venire.short_repr import list_names, write_repr
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import express

MEASURES = ("AP", "nDCG@10", "P@10", "RR", "Bpref", "Judged@10")


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores of runs as a table.

    Attributes
    ----------
    frame : polars.DataFrame
        One row per run (or per run and topic): ``run_id`` (``query_id``), a column per measure,
        and ``<measure> low`` and ``<measure> high`` if intervals were requested.
    scores : Scores
        Values of the measures that Venire computes itself, per run and topic.
    measures : tuple of str
        All measures; those computed by ir_measures come last.
    notes : tuple of str
    """

    frame: pl.DataFrame
    scores: Scores
    measures: tuple[str, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return write_repr(
            self,
            express(len(self.scores.runs), "run"),
            express(len(self.scores.topics), "topic"),
            list_names(self.measures),
        )

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table as rows."""
        return self.frame.to_dicts()


@check_arguments
def evaluate(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike | None = MEASURES,
    *,
    columns: Mapping[str, str] | str | None = None,
    by_topic: bool = False,
    topics: str = "qrels",
    ties: str = "trec",
    posterior: GradeProbabilitiesLike | None = None,
    draws: int = 200,
    sampling_intervals: bool = False,
    keep_going: bool = False,
    seed: int = 0,
) -> Evaluation:
    """Score runs under qrels.

    Parameters
    ----------
    qrels : Qrels, path, dataframe, or ``{query_id: {doc_id: relevance}}``
    runs : Runs, path, list of paths, dataframe, or ``{query_id: {doc_id: score}}``
        A folder stands for the ``*.run`` files in it.
    measures : str, Measure, or sequence of these
        Measures as ir_measures spells them: ``AP``, ``nDCG@10``, ``P(rel=2)@5``.
    columns : mapping or str, optional
        Venire's column names to those of the qrels: ``{"doc_id": "corpus"}``. The columns of BEIR
        (``query-id, corpus-id, score``) are known.
    by_topic : bool
        Whether to return one row per run and topic instead of averages.
    topics : "qrels" or "run"
        Average over all topics of the qrels (a missing one counts 0), or over those of a run.
    ties : "trec", "docid-ascending" or "file-order"
        Order of documents with equal scores.
    posterior : path, Posterior, Aggregation or GradeProbabilities, optional
        Grade probabilities that the qrels were inferred from. Adds 95% intervals for the
        uncertainty of the grades. A path is the output folder of an aggregation.
    draws : int
        Number of qrels drawn from the posterior.
    sampling_intervals : bool
        Whether to add 95% intervals of xinfAP, infAP, infNDCG and infNumRel for the sampling of
        the pool.
    keep_going : bool
        Whether to leave out a run file that cannot be read, with a note, instead of raising.
    seed : int

    Raises
    ------
    VenireError
        Input that cannot be used; see the reference page "Errors".

    Examples
    --------
    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}, ["RR", "P@1"]).rows
    [{'run_id': 'run', 'RR': 0.5, 'P@1': 0.0}]
    """
    own_measures, other_measures = split(list_measures(measures, MEASURES))
    _refuse_combinations(by_topic, posterior is not None, sampling_intervals)
    graded = load_qrels(qrels, columns=columns, mapping="columns", whole=True)
    table = load_runs(runs, keep_going=keep_going)
    scores = score_runs(graded, table, own_measures or ["NumRet"], topics=topics, ties=ties)
    frame = scores.by_topic if by_topic else scores.frame
    notes = [*table.notes, *graded.notes, *scores.notes]
    if other_measures:
        frame = _join_others(frame, graded, table, scores, other_measures, by_topic=by_topic)
        notes.append(f"computed by ir_measures: {', '.join(other_measures)}")
        if not own_measures:
            frame = frame.drop("NumRet")
    if posterior is not None:
        if not own_measures:
            raise BadSetting("needs a measure that Venire computes itself", argument="posterior")
        probabilities, source = load_grade_probabilities(posterior)
        draws_of_scores = draw_scores(
            probabilities, table, own_measures, draws=draws, seed=seed, topics=topics, ties=ties
        )
        low, high = draws_of_scores.interval()
        frame = _join_intervals(frame, draws_of_scores.runs, draws_of_scores.measures, low, high)
        notes += [
            f"95% intervals from {draws} qrels drawn from {source}, seed {seed}",
            *_note_unshared_pairs(graded, probabilities),
            *_count_outside(scores, low, high),
        ]
    if sampling_intervals:
        estimates = [measure for measure in own_measures if measure.family.is_estimate]
        if not estimates:
            raise BadSetting(
                f"needs a measure that is estimated from a sample: {', '.join(list_estimates())}",
                argument="sampling_intervals",
            )
        sampled = sampling_error(graded, table, estimates, topics=topics, ties=ties)
        low, high = sampled.interval()
        frame = _join_intervals(frame, sampled.scores.runs, sampled.scores.measures, low, high)
        notes += [
            "95% intervals from the jackknife over the sampled documents; topics are fixed",
            *sampled.notes,
        ]
    return Evaluation(frame, scores, (*map(str, own_measures), *other_measures), tuple(notes))


def _refuse_combinations(by_topic: bool, posterior: bool, sampling_intervals: bool) -> None:
    if posterior and sampling_intervals:
        raise BadSetting(
            "cannot be combined with the intervals of a posterior", argument="sampling_intervals"
        )
    if by_topic and (posterior or sampling_intervals):
        raise BadSetting(
            "adds intervals to averages only; scores by topic have no intervals",
            argument="posterior" if posterior else "sampling_intervals",
        )


def _join_others(
    frame: pl.DataFrame,
    qrels: Qrels,
    runs: Runs,
    scores: Scores,
    measures: Sequence[str],
    *,
    by_topic: bool,
) -> pl.DataFrame:
    """Add the measures that ir_measures computes."""
    values = evaluate_elsewhere(qrels, runs, measures)
    if by_topic:
        return frame.join(values, on=["run_id", "query_id"], how="left")
    count = pl.DataFrame({"run_id": scores.runs, "topics": scores.counted.sum(axis=1)})
    # Sum in topic order: a parallel sum would differ in the last digit.
    values = values.sort("run_id", "query_id").drop("query_id")
    sums = values.group_by("run_id", maintain_order=True).sum().join(count, on="run_id")
    summed = list_summed(measures)
    means = sums.select(
        "run_id",
        *(pl.col(name) / (1 if name in summed else pl.col("topics")) for name in measures),
    )
    return frame.join(means, on="run_id", how="left")


def _join_intervals(
    frame: pl.DataFrame, runs: list[str], measures: list[Measure], low: Floats, high: Floats
) -> pl.DataFrame:
    """Add ``<measure> low`` and ``<measure> high`` [measures, runs]."""
    columns: dict[str, Any] = {"run_id": runs}
    for index, measure in enumerate(measures):
        columns[f"{measure} low"], columns[f"{measure} high"] = low[index], high[index]
    return frame.join(pl.DataFrame(columns), on="run_id", how="left", maintain_order="left")


def _note_unshared_pairs(qrels: Qrels, probabilities: GradeProbabilities) -> list[str]:
    """Return a note if qrels and grade probabilities do not cover the same pairs."""
    pair = ["query_id", "doc_id"]
    missing = qrels.frame.join(probabilities.pairs, on=pair, how="anti").height
    extra = probabilities.pairs.join(qrels.frame, on=pair, how="anti").height
    if not missing and not extra:
        return []
    return [
        f"scores and intervals are based on different pairs: {missing:,} pairs of the qrels have "
        f"no grade probabilities, {extra:,} pairs with probabilities are not in the qrels"
    ]


def _count_outside(scores: Scores, low: Floats, high: Floats) -> list[str]:
    """Return a note that counts the scores outside their interval."""
    outside = int(((scores.mean < low) | (scores.mean > high)).sum())
    if not outside:
        return []
    return [
        f"{outside} of {scores.mean.size} scores lie outside their interval: the qrels have only "
        "the chosen grade of each pair, the draws have every grade in proportion to its probability"
    ]
