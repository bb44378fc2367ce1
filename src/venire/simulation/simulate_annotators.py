"""``venire.simulate_annotators``: how many judgments per pair are enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from venire.arguments import check_arguments
from venire.formats.load import (
    JudgmentsLike,
    QrelsLike,
    RunsLike,
    load_judgments,
    load_qrels,
    load_runs,
)
from venire.formats.reading_options import Labels, ReadingOptions
from venire.measures import MeasuresLike, list_measures
from venire.progress import Progress, silent
from venire.simulation.campaigns.annotators_needed import (
    MEASURES,
    AnnotatorsNeeded,
    annotators_needed,
)
from venire.tables.scale import Scale


@check_arguments
def simulate_annotators(
    judgments: JudgmentsLike,
    runs: RunsLike | None = None,
    measures: MeasuresLike | None = MEASURES,
    *,
    columns: Mapping[str, str] | str | None = None,
    scale: Scale | str | None = None,
    drop_labels: Labels = (),
    repeats: str | None = None,
    most: int = 10,
    rule: str = "mean",
    draws: int = 30,
    truth: QrelsLike | None = None,
    target_tau: float = 0.9,
    target_sd: float | None = None,
    price: float | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> AnnotatorsNeeded:
    """Estimate how many judgments per pair are enough for the order of the runs.

    For 1, 2, 3, 4, 5, 7 and 10 judgments per pair, the result says how far another crowd would
    order the runs alike (``tau_rep``), with 95% intervals, and what is enough. The verdict is the
    same whatever ``most``. See
    :func:`venire.simulation.campaigns.annotators_needed.annotators_needed`.

    Parameters
    ----------
    judgments : Judgments, path or dataframe
        A table with ``query_id, doc_id, annotator_id, label``.
    runs : Runs, path, list of paths, or dataframe, optional
        Without runs, settled grades are compared with ``truth`` only.
    measures : str, Measure, or sequence of these
        Measures as ir_measures spells them.
    columns : mapping or str, optional
        Venire's column names to those of the file: ``{"query_id": "topic"}``.
    scale : Scale or str, optional
        The whole scale, worst first: ``"0,1,2"``. By default the labels that occur.
    drop_labels : iterable
        Labels that mean "cannot judge"; their rows are left out and counted.
    repeats : "last", "all", "first" or "error", optional
        Which judgment counts where an annotator judged a pair more than once; the last by default.
    most : int
        Largest number of judgments per pair to show, 1 to 10.
    rule : "mean" or "majority"
        Rule that settles the labels of a pair.
    draws : int
        Number of worlds drawn from the fitted crowd; 10 or more.
    truth : Qrels, path or dataframe, optional
        Known grades, with which the grades of 1, 2, ... judgments are compared.
    target_tau : float
        Mean tau with the order under another crowd that is enough.
    target_sd : float, optional
        Standard deviation of a score that is enough.
    price : float, optional
        Price per judgment; adds the cost.
    seed : int
    progress : Progress

    Raises
    ------
    VenireError
        For input that cannot be used; see the page on errors.
    """
    reading = ReadingOptions.parse(
        columns=columns, scale=scale, drop_labels=drop_labels, repeats=repeats
    )
    table = load_judgments(judgments, reading, default_repeats="last")
    ranked = None if runs is None else load_runs(runs)
    result = annotators_needed(
        table,
        ranked,
        list_measures(measures, MEASURES),
        most=most,
        rule=rule,
        draws=draws,
        target_tau=target_tau,
        target_sd=target_sd,
        price=price,
        truth=None if truth is None else load_qrels(truth, allow_empty=True),
        seed=seed,
        progress=progress,
    )
    return replace(result, notes=(*(ranked.notes if ranked else ()), *result.notes))
