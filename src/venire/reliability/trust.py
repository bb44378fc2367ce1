"""``venire.trust``: how far a ranking of runs can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from venire.arguments import check_arguments
from venire.errors import DataError, MissingColumns
from venire.evaluation.grade_probabilities import GradeProbabilitiesLike, load_grade_probabilities
from venire.formats import read_frame
from venire.formats.load import (
    JudgmentsLike,
    QrelsLike,
    RunsLike,
    load_judgments,
    load_qrels,
    load_runs,
    refuse_options,
)
from venire.formats.reading_options import Labels, ReadingOptions
from venire.measures import MeasureLike
from venire.progress import Progress, silent
from venire.reliability.summary import Trust, assess_ranking
from venire.tables.scale import Scale

MEASURE = "AP"


@check_arguments
def trust(
    qrels: QrelsLike,
    runs: RunsLike,
    measure: MeasureLike = MEASURE,
    *,
    qrels_columns: Mapping[str, str] | str | None = None,
    judgments: JudgmentsLike | None = None,
    columns: Mapping[str, str] | str | None = None,
    scale: Scale | str | None = None,
    drop_labels: Labels = (),
    repeats: str | None = None,
    posterior: GradeProbabilitiesLike | None = None,
    draws: int = 200,
    depth: int = 10,
    groups: Mapping[str, str] | str | Path | None = None,
    topics: str = "qrels",
    ties: str = "trec",
    permutations: int = 1000,
    keep_going: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> Trust:
    """Assess how far the ranking of runs under qrels can be trusted.

    Parameters
    ----------
    qrels : Qrels, path, dataframe, or ``{query_id: {doc_id: relevance}}``
    runs : Runs, path, list of paths, or dataframe
        Two runs or more. A folder stands for the ``*.run`` files in it.
    measure : str
        Measure that ranks the runs, as ir_measures spells it.
    qrels_columns : mapping or str, optional
        Venire's column names to those of the qrels: ``{"doc_id": "corpus"}``. The columns of BEIR
        (``query-id, corpus-id, score``) are known.
    judgments : Judgments, path or dataframe, optional
        Judgments of pairs of the qrels by other annotators, on the scale of the qrels. Without
        them two of the five risks are not checked.
    columns : mapping or str, optional
        Column names of ``judgments``: Venire's name to the file's.
    scale : Scale or str, optional
        The whole scale of ``judgments``.
    drop_labels : iterable
        Labels of ``judgments`` that mean "cannot judge".
    repeats : "last", "all", "first" or "error", optional
        Which judgment counts where an annotator judged a pair more than once; the last by default.
    posterior : path, Posterior, Aggregation or GradeProbabilities, optional
        Grade probabilities that the qrels were inferred from: adds a sixth risk.
    draws : int
        Number of qrels drawn from the posterior.
    depth : int
        Depth of the pool that the runs made.
    groups : mapping or path, optional
        Run to group: runs of one group are left out together. A file has the columns
        ``run, group``.
    topics : "qrels" or "run"
        Average over all topics of the qrels (a missing one counts 0), or over those of a run.
    ties : "trec", "docid-ascending" or "file-order"
        Order of documents with equal scores.
    permutations : int
        Number of permutations per test.
    keep_going : bool
        Whether to note and leave out a run file that cannot be read.
    seed : int
    progress : callable
        Takes events of the audit of judges, which is the longest part.

    Returns
    -------
    Trust
        One risk per row: green, amber, red or not checked, the number that decides it, the
        reason, and the cheapest next step.

    Raises
    ------
    VenireError
        For input that cannot be used; see the page on errors.
    """
    reading = ReadingOptions.parse(
        columns=columns, scale=scale, drop_labels=drop_labels, repeats=repeats
    )
    if judgments is None:
        refuse_options(reading, "says how judgments are read, and there are none", "no-judgments")
    graded = load_qrels(qrels, columns=qrels_columns, mapping="qrels_columns")
    table = load_runs(runs, keep_going=keep_going)
    others = None
    if judgments is not None:
        others = load_judgments(judgments, reading, default_repeats="last")
    result = assess_ranking(
        graded,
        table,
        str(measure),
        judgments=others,
        posterior=None if posterior is None else load_grade_probabilities(posterior)[0],
        draws=draws,
        depth=depth,
        groups=None if groups is None else load_run_groups(groups),
        topics=topics,
        ties=ties,
        permutations=permutations,
        seed=seed,
        progress=progress,
    )
    return replace(result, notes=(*table.notes, *result.notes))


def load_run_groups(source: Mapping[str, str] | str | Path) -> Mapping[str, str]:
    """Return the group of each run; a file has the columns ``run`` (or ``run_id``) and ``group``.

    Raises
    ------
    MissingColumns
    DataError
        For a row without a run or a group, and a run in two groups.
    """
    if isinstance(source, Mapping):
        return source
    frame, _ = read_frame(source)
    if "run_id" in frame.columns and "run" not in frame.columns:
        frame = frame.rename({"run_id": "run"})
    missing = [name for name in ("run", "group") if name not in frame.columns]
    if missing:
        raise MissingColumns(missing, frame.columns, str(source), renamed=False)
    groups: dict[str, str] = {}
    for row, (run, group) in enumerate(frame.select("run", "group").iter_rows(), start=1):
        if run is None or group is None:
            raise DataError(
                f"{source}: row {row} has no {'run' if run is None else 'group'}",
                hint="Fill in both columns.",
            )
        if groups.setdefault(str(run), str(group)) != str(group):
            raise DataError(f"{source}: run {run} is in two groups, {groups[str(run)]} and {group}")
    return groups
