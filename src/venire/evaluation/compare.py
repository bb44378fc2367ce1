"""``venire.compare``: every pair of runs compared under qrels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from venire.arguments import check_arguments
from venire.errors import BadSetting
from venire.evaluation.grade_probabilities import GradeProbabilitiesLike, load_grade_probabilities
from venire.evaluation.paired_tests import Comparison, compare_systems
from venire.evaluation.score import Scores, score_runs
from venire.evaluation.uncertain import Draws, draw_scores
from venire.formats.load import QrelsLike, RunsLike, load_qrels, load_runs
from venire.measures import MeasuresLike, list_measures
from venire.short_repr import list_names, write_repr
from venire.tables.runs import Runs
from venire.tables.schema import express

MEASURES = ("AP",)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Every pair of runs, compared under each measure.

    Attributes
    ----------
    pairs : mapping of str to list of Comparison
        By measure.
    scores : Scores
    draws : Draws or None
        Scores under qrels drawn from a posterior; None without one.
    notes : tuple of str
    """

    pairs: Mapping[str, list[Comparison]]
    scores: Scores
    draws: Draws | None = None
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        return write_repr(
            self,
            express(len(self.scores.runs), "run"),
            express(len(self.scores.topics), "topic"),
            list_names(list(self.pairs)),
        )

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per measure and pair of runs: ``measure`` and the fields of Comparison.

        With a posterior: ``first_better``, the share of drawn qrels under which the first run is
        ahead.
        """
        rows = [
            {"measure": measure, **asdict(pair)}
            for measure, pairs in self.pairs.items()
            for pair in pairs
        ]
        if self.draws is not None:
            names = [str(measure) for measure in self.draws.measures]
            for row in rows:
                measure = names.index(row["measure"])
                row["first_better"] = self.draws.better(row["first"], row["second"], measure)
        return rows

    @property
    def frame(self) -> pl.DataFrame:
        """The rows as a table."""
        return pl.DataFrame(self.rows, infer_schema_length=None)


@check_arguments
def compare(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike | None = MEASURES,
    *,
    columns: Mapping[str, str] | str | None = None,
    topics: str = "qrels",
    ties: str = "trec",
    permutations: int = 10_000,
    bootstraps: int = 5_000,
    level: float = 0.95,
    posterior: GradeProbabilitiesLike | None = None,
    draws: int = 200,
    keep_going: bool = False,
    seed: int = 0,
) -> Comparisons:
    """Compare every pair of runs: difference, interval, paired tests corrected for many pairs.

    Parameters
    ----------
    qrels : Qrels, path, dataframe, or ``{query_id: {doc_id: relevance}}``
    runs : Runs, path, list of paths, or dataframe
        Two runs or more. A folder stands for the ``*.run`` files in it.
    measures : str, Measure, or sequence of these
        Measures as ir_measures spells them.
    columns : mapping or str, optional
        Venire's column names to those of the qrels: ``{"doc_id": "corpus"}``. The columns of BEIR
        (``query-id, corpus-id, score``) are known.
    topics : "qrels" or "run"
        Average over all topics of the qrels (a missing one counts 0), or over those of a run.
    ties : "trec", "docid-ascending" or "file-order"
        Order of documents with equal scores.
    permutations : int
        Number of permutations per test.
    bootstraps : int
        Number of bootstrap resamples for the interval.
    level : float
        Confidence level of the interval.
    posterior : path, Posterior, Aggregation or GradeProbabilities, optional
        Grade probabilities that the qrels were inferred from: adds ``first_better``.
    draws : int
        Number of qrels drawn from the posterior.
    keep_going : bool
        Whether to leave out a run file that cannot be read, with a note, instead of raising.
    seed : int

    Raises
    ------
    VenireError
        Input that cannot be used; see the reference page "Errors".
    """
    names = list_measures(measures, MEASURES)
    graded = load_qrels(qrels, columns=columns, mapping="columns", whole=True)
    table = load_runs(runs, keep_going=keep_going)
    _refuse_single(table)
    scores = score_runs(graded, table, names, topics=topics, ties=ties)
    pairs = {
        str(measure): compare_systems(
            scores, index, permutations=permutations, bootstraps=bootstraps, level=level, seed=seed
        )
        for index, measure in enumerate(scores.measures)
    }
    notes = list(table.notes)
    draws_of_scores = None
    if posterior is not None:
        probabilities, source = load_grade_probabilities(posterior)
        draws_of_scores = draw_scores(
            probabilities, table, scores.measures, draws=draws, seed=seed, topics=topics, ties=ties
        )
        notes.append(f"first_better: share of {draws} qrels drawn from {source}, seed {seed}")
    shared = int(scores.counted.all(axis=0).sum())
    notes += [*graded.notes, *scores.notes]
    notes.append(f"compared over {express(shared, 'topic')} common to all runs")
    if shared == 1:
        notes.append("one topic: no interval and no t-test")
    return Comparisons(pairs, scores, draws_of_scores, tuple(notes))


def _refuse_single(runs: Runs) -> None:
    if runs.frame["run_id"].n_unique() < 2:
        raise BadSetting("must contain at least two runs", argument="runs")
