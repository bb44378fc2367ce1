"""``venire.compare``: every pair of runs compared under qrels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from venire.arguments import check_arguments
from venire.errors import BadSetting
from venire.evaluation.grade_probabilities import GradeProbabilitiesLike, load_grade_probabilities
from venire.evaluation.paired_tests import LEAST_DIFFERENCES, Comparison, compare_systems
from venire.evaluation.score import Scores, score_runs
from venire.evaluation.told_apart import ToldApart, tell_apart
from venire.evaluation.uncertain import Draws, draw_scores
from venire.formats.load import QrelsLike, RunsLike, load_qrels, load_runs
from venire.measures import MeasuresLike, list_measures
from venire.short_repr import list_names, write_repr
from venire.tables.runs import Runs
from venire.tables.schema import express

MEASURES = ("AP",)
FIRST_BETTER, SECOND_BETTER, NOT_TOLD_APART = "first better", "second better", "not told apart"
WHICH_P = (
    "verdict: at the level .05, corrected for all pairs of runs of similar scores; it does not "
    "change with runs far below. p_tukey and p_holm are corrected for all pairs of runs given. "
    "p_t and p_randomisation are for one pair chosen before its scores were seen"
)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Every pair of runs, compared under each measure.

    Attributes
    ----------
    pairs : mapping of str to list of Comparison
        By measure.
    scores : Scores
    told_apart : mapping of str to ToldApart
        By measure: the pairs of runs that the topics tell apart, whatever runs stand beside them.
    draws : Draws or None
        Scores under qrels drawn from a posterior; None without one.
    notes : tuple of str
    """

    pairs: Mapping[str, list[Comparison]]
    scores: Scores
    told_apart: Mapping[str, ToldApart]
    draws: Draws | None = None
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        return write_repr(
            self,
            express(len(self.scores.runs), "run"),
            express(len(self.scores.topics), "topic"),
            list_names(list(self.pairs)),
            self.summary,
        )

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per measure and pair of runs: ``measure``, ``verdict``, the fields of Comparison.

        ``verdict``: ``first better``, ``second better`` or ``not told apart``.
        With a posterior: ``first_better``, the share of drawn qrels under which the first run is
        ahead.
        """
        rows = [
            {"measure": measure, **self._compare(measure, pair)}
            for measure, pairs in self.pairs.items()
            for pair in pairs
        ]
        if self.draws is not None:
            names = [str(measure) for measure in self.draws.measures]
            for row in rows:
                measure = names.index(row["measure"])
                row["first_better"] = self.draws.better(row["first"], row["second"], measure)
        return rows

    def _compare(self, measure: str, pair: Comparison) -> dict[str, Any]:
        row = asdict(pair)
        better = self.told_apart[measure].find_better(pair.first, pair.second)
        verdict = {pair.first: FIRST_BETTER, pair.second: SECOND_BETTER}.get(
            better or "", NOT_TOLD_APART
        )
        return {"first": row.pop("first"), "second": row.pop("second"), "verdict": verdict, **row}

    @property
    def sentences(self) -> list[str]:
        """Which runs the topics tell apart, per measure."""
        return [
            describe_told_apart(measure, pairs, self.told_apart[measure])
            for measure, pairs in self.pairs.items()
        ]

    @property
    def summary(self) -> str:
        """Which runs the topics tell apart."""
        return " ".join(self.sentences)

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
            scores, index, permutations=permutations, level=level, seed=seed
        )
        for index, measure in enumerate(scores.measures)
    }
    is_shared = scores.counted.all(axis=0)
    told_apart = {
        str(measure): tell_apart(
            scores.values[index][:, is_shared], scores.runs, permutations=permutations, seed=seed
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
    shared = int(is_shared.sum())
    notes += [*graded.notes, *scores.notes]
    notes.append(f"compared over {express(shared, 'topic')} common to all runs")
    if shared == 1:
        notes.append("one topic: no interval and no t-test")
    else:
        notes += _count_without_interval(pairs)
    notes.append(WHICH_P)
    return Comparisons(pairs, scores, told_apart, draws_of_scores, tuple(notes))


def describe_told_apart(measure: str, pairs: Sequence[Comparison], told_apart: ToldApart) -> str:
    """Say which runs the topics tell apart.

    Parameters
    ----------
    measure : str
    pairs : sequence of Comparison
        Every pair of runs.
    told_apart : ToldApart
    """
    topics = express(told_apart.topics, "topic")
    better = [told_apart.find_better(pair.first, pair.second) for pair in pairs]
    if len(pairs) == 1:
        pair = pairs[0]
        interval = "" if pair.low is None else f", interval {pair.low:+.4f} to {pair.high:+.4f}"
        size = f"by a mean difference of {abs(pair.difference):.4f}"
        if better[0] is None:
            return (
                f"{measure}: the {topics} do not tell {pair.first} and {pair.second} apart "
                f"(mean difference {pair.difference:+.4f}{interval})."
            )
        worse = pair.second if better[0] == pair.first else pair.first
        return f"{measure}: {better[0]} is better than {worse} {size}{interval}."
    apart = sum(name is not None for name in better)
    best = told_apart.systems[0]
    equals = [
        other
        for pair, name in zip(pairs, better, strict=True)
        if name is None and best in (pair.first, pair.second)
        for other in (pair.first, pair.second)
        if other != best
    ]
    first = (
        f"{best} is better than every other run."
        if not equals
        else f"{best} has the highest mean and is not told apart from {list_names(equals)}."
    )
    return (
        f"{measure}: the {topics} tell {apart:,} of {express(len(pairs), 'pair')} of runs apart. "
        f"{first}"
    )


def _count_without_interval(pairs: Mapping[str, Sequence[Comparison]]) -> list[str]:
    """Return the note on pairs that have no interval."""
    number = sum(pair.low is None for rows in pairs.values() for pair in rows)
    if not number:
        return []
    return [
        f"{express(number, 'pair')} without an interval: the runs differ on fewer than "
        f"{LEAST_DIFFERENCES} topics, or by the same amount on all"
    ]


def _refuse_single(runs: Runs) -> None:
    if runs.frame["run_id"].n_unique() < 2:
        raise BadSetting("must contain at least two runs", argument="runs")
