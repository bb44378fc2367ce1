"""``venire.aggregate``: infer grades and their uncertainty from judgments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import polars as pl

from venire.aggregation.calibration import calibrate as calibrate_posterior
from venire.aggregation.check.truth import Truth, score_against_gold
from venire.aggregation.decision import Decision, decide
from venire.aggregation.posterior import Posterior
from venire.aggregation.registry import DEFAULT, select_models
from venire.arguments import check_arguments
from venire.engine import Threads
from venire.errors import BadSetting
from venire.formats.load import JudgmentsLike, QrelsLike, load_judgments, load_qrels
from venire.formats.reading_options import Labels, ReadingOptions
from venire.progress import Progress, silent
from venire.short_repr import list_names, write_repr
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.scale import Scale
from venire.tables.schema import express


@dataclass(frozen=True, eq=False)
class Aggregation:
    """Grades inferred from judgments, by one model or by several.

    Attributes
    ----------
    judgments : Judgments
        The judgments that the grades were inferred from.
    posteriors : mapping of str to Posterior
        One posterior per model, by the label of the model.
    models : mapping of str to mapping
        Settings of each model.
    gold : Qrels or None
        Known grades that the result is scored by.
    truths : mapping of str to Truth
        Score of each model against ``gold``; empty without it.
    notes : tuple of str
        What was read and left out, what the models report, and the decision.
    decision : Decision or None
        Of one model: whom to exclude, who agrees too much, what to judge again, what to do next.
    """

    judgments: Judgments
    posteriors: Mapping[str, Posterior]
    models: Mapping[str, Mapping[str, Any]]
    gold: Qrels | None
    truths: Mapping[str, Truth]
    notes: tuple[str, ...]
    decision: Decision | None = None

    def __repr__(self) -> str:
        return write_repr(
            self,
            express(len(self.judgments), "judgment"),
            express(self.judgments.codes.n_items, "item"),
            f"by {list_names(list(self.posteriors))}",
        )

    @property
    def posterior(self) -> Posterior:
        """The posterior of the model.

        Raises
        ------
        BadSetting
            For several models.
        """
        if len(self.posteriors) > 1:
            raise BadSetting(
                f"There are {len(self.posteriors)} posteriors, one per model.",
                hint="Take one from `posteriors`, or name one `model`.",
            )
        return next(iter(self.posteriors.values()))

    @property
    def frame(self) -> pl.DataFrame:
        """One row per item: its grade, mean, standard deviation and grade probabilities."""
        return self.posterior.frame

    @property
    def annotators(self) -> pl.DataFrame:
        """One row per annotator: what the model learnt about them."""
        return self.posterior.annotators

    def qrels(self, rule: str = "mode") -> Qrels:
        """Return settled grades; see :meth:`venire.aggregation.posterior.Posterior.grades`."""
        return self.posterior.qrels(rule)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per model: ``model, items, mean_sd, iterations, converged``, and its scores.

        With ``gold``: ``mse, pearson, ndcg, accuracy``.
        """
        rows = []
        for label, posterior in self.posteriors.items():
            row = {"model": label, **_describe_fit(posterior)}
            if label in self.truths:
                truth = self.truths[label]
                row |= {
                    "mse": truth.mse,
                    "pearson": truth.pearson,
                    "ndcg": truth.ndcg,
                    "accuracy": truth.accuracy,
                }
            rows.append(row)
        return rows


@check_arguments
def aggregate(
    judgments: JudgmentsLike,
    model: str = DEFAULT,
    *,
    settings: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | str | None = None,
    scale: Scale | str | None = None,
    drop_labels: Labels = (),
    repeats: str | None = None,
    gold: QrelsLike | None = None,
    gold_columns: Mapping[str, str] | str | None = None,
    gold_column: str | None = None,
    clamp: QrelsLike | None = None,
    calibrate: QrelsLike | None = None,
    threads: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Aggregation:
    """Infer a grade for every judged pair from the labels of its annotators.

    Parameters
    ----------
    judgments : Judgments, path or dataframe
        A table with ``query_id, doc_id, annotator_id, label``.
    model : str
        Name of a model; ``all`` for every model, the mixture once per difficulty.
    settings : mapping, optional
        Settings of the model, for example ``{"restarts": 3}``.
    columns : mapping or str, optional
        Venire's column names to those of the file: ``{"query_id": "topic"}``.
    scale : Scale or str, optional
        The whole scale, worst first: ``"0,1,2"`` or ``"bad,fair,good"``. By default the labels
        that occur.
    drop_labels : iterable
        Labels that mean "cannot judge"; their rows are left out and counted.
    repeats : "last", "all", "first" or "error", optional
        Which judgment counts where an annotator judged a pair more than once. By default the last
        where ``judged_at`` says which that is, else all.
    gold : Qrels, path or dataframe, optional
        Known grades to score the result by.
    gold_columns : mapping or str, optional
        Column names of ``gold``.
    gold_column : str, optional
        Column of the judgments with known grades to score the result by.
    clamp : Qrels, path or dataframe, optional
        Known grades, held fixed while the model learns about the annotators.
    calibrate : Qrels, path or dataframe, optional
        Known grades, 50 or more, that correct the scale and the probabilities after the fit.
    threads : int, optional
        Number of threads; all processors by default.
    seed : int
    progress : Progress

    Raises
    ------
    VenireError
        For input that cannot be used; see the page on errors.

    Examples
    --------
    >>> result = aggregate({"query_id": ["q"] * 3, "doc_id": ["d"] * 3,
    ...     "annotator_id": ["x", "y", "z"], "label": [1, 1, 0]}, model="majority")
    >>> result.qrels().to_dict(), result.rows[0]["items"]
    ({'q': {'d': 1}}, 1)
    """
    reading = ReadingOptions.parse(
        columns=columns, scale=scale, drop_labels=drop_labels, repeats=repeats
    )
    models = select_models(model, settings)
    if gold is not None and gold_column is not None:
        raise BadSetting("cannot be combined with gold qrels", argument="gold_column")
    table = load_judgments(judgments, reading)
    known = _load_gold(table, gold, gold_columns, gold_column)
    clamped = None if clamp is None else load_qrels(clamp)
    calibrated = None if calibrate is None else load_qrels(calibrate)
    notes = _describe_tables(table, known)
    engine = Threads(threads)
    posteriors: dict[str, Posterior] = {}
    truths: dict[str, Truth] = {}
    for label, aggregator in models:
        posterior = aggregator.fit(table, gold=clamped, seed=seed, engine=engine, progress=progress)
        if calibrated is not None:
            posterior = calibrate_posterior(posterior, calibrated, seed=seed)
        posteriors[label] = posterior
        if known is not None:
            truths[label] = score_against_gold(posterior, known)
            notes += _describe_truth(truths[label])
        notes += [f"{label}: {note}" for note in posterior.notes if note not in table.notes]
    decision = decide(table, posterior) if len(models) == 1 else None
    return Aggregation(
        judgments=table,
        posteriors=MappingProxyType(posteriors),
        models={label: dict(vars(aggregator)) for label, aggregator in models},
        gold=known,
        truths=MappingProxyType(truths),
        notes=tuple(dict.fromkeys([*notes, *(decision.steps if decision else ())])),
        decision=decision,
    )


def _load_gold(
    table: Judgments,
    gold: QrelsLike | None,
    columns: Mapping[str, str] | str | None,
    gold_column: str | None,
) -> Qrels | None:
    """Return the known grades, from a column of the judgments or from qrels."""
    if gold_column is not None:
        return table.gold(gold_column)
    if gold is not None:
        return load_qrels(gold, columns=columns, mapping="gold_columns")
    return None


def _describe_truth(truth: Truth) -> list[str]:
    pairs = express(truth.items, "known pair")
    queries = express(truth.queries, "query", "queries")
    return [*truth.notes, f"scored on {pairs} of {queries}"]


def _describe_tables(table: Judgments, gold: Qrels | None) -> list[str]:
    notes = [
        f"{express(len(table), 'judgment')}, {express(table.codes.n_annotators, 'annotator')}, "
        f"{express(table.codes.n_items, 'item')}",
        *table.notes,
        *(gold.notes if gold is not None else ()),
    ]
    if table.codes.n_annotators == 1:
        notes.append("only one annotator: their errors cannot be separated from the grades")
    if table.scale.size == 1:
        notes.append("only one label was used: every grade is that label")
    return notes


def _describe_fit(posterior: Posterior) -> dict[str, Any]:
    """Return what is reported about a fit, with or without known grades."""
    bounds = posterior.bounds
    history = bounds.filter(bounds["restart"] == posterior.restart) if bounds.height else bounds
    return {
        "items": posterior.items.height,
        "mean_sd": float(posterior.items["sd"].mean() or 0.0),  # type: ignore[arg-type]
        "iterations": history.height,
        "converged": posterior.converged,
    }
