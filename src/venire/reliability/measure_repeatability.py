"""``venire.measure_repeatability``: the same systems under several groups of annotators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import polars as pl

from venire.aggregation.registry import build
from venire.arguments import check_arguments
from venire.errors import VenireError
from venire.formats import read_frame, require_rows
from venire.formats.load import (
    JudgmentsLike,
    QrelsLike,
    RunsLike,
    is_path,
    load_qrels,
    load_runs,
)
from venire.formats.reading_options import Labels, ReadingOptions
from venire.measures import MeasuresLike, list_measures
from venire.reliability.repeatability import MEASURES, Group, Repeatability, compare_groups
from venire.stats.proportion import Proportion, wilson
from venire.tables import boundary
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.scale import Scale

GroupLike: TypeAlias = Group | JudgmentsLike | QrelsLike
"""A group of annotators: judgments or qrels, as a table, a dataframe or a path."""
RAW_RECORD = {"counts", "batch_id", "batch_valid", "batch_kind"}
"""Columns of a study's raw record: it says which judgments count and which batches were valid."""


@check_arguments
def measure_repeatability(
    campaigns: Mapping[str, GroupLike],
    runs: RunsLike,
    measures: MeasuresLike | None = MEASURES,
    *,
    model: str = "majority",
    pairs: str = "shared",
    relevant_from: int = 1,
    columns: Mapping[str, str] | str | None = None,
    scale: Scale | str | None = None,
    drop_labels: Labels = (),
    repeats: str | None = None,
    topics: str = "qrels",
    ties: str = "trec",
    permutations: int = 1000,
    keep_going: bool = False,
    seed: int = 0,
) -> Repeatability:
    """Rank systems under each group of annotators, and measure whether the order repeats.

    Parameters
    ----------
    campaigns : mapping of str to judgments or qrels
        Two groups or more by name, each as a table, a dataframe or the path of a file. A raw
        record of a study counts its valid batches only.
    runs : Runs, path, list of paths, or dataframe
        Two runs or more. A folder stands for the ``*.run`` files in it.
    measures : str, Measure, or sequence of these
        Measures as ir_measures spells them.
    model : str
        Model that settles the judgments of a group.
    pairs : "shared" or "own"
        Score on the pairs that all groups judged, or each group on its own pairs.
    relevant_from : int
        Smallest relevant grade, for the agreement of the groups.
    columns : mapping or str, optional
        Column names of files and dataframes: Venire's name to theirs.
    scale : Scale or str, optional
        The whole scale of the judgments.
    drop_labels : iterable
        Labels that mean "cannot judge".
    repeats : "last", "all", "first" or "error", optional
        Which judgment counts where an annotator judged a pair more than once; the last by default.
    topics : "qrels" or "run"
        Average over all topics of the qrels (a missing one counts 0), or over those of a run.
    ties : "trec", "docid-ascending" or "file-order"
        Order of documents with equal scores.
    permutations : int
        Number of permutations per test.
    keep_going : bool
        Whether to note and leave out a run file that cannot be read.
    seed : int

    Raises
    ------
    VenireError
        For input that cannot be used; see the page on errors.
    """
    reading = ReadingOptions.parse(
        columns=columns, scale=scale, drop_labels=drop_labels, repeats=repeats
    )
    table = load_runs(runs, keep_going=keep_going)
    notes = list(table.notes)
    groups: dict[str, Group] = {}
    for name, source in campaigns.items():
        groups[name], group_notes = load_group(source, model, reading)
        notes += [f"{name}: {note}" for note in group_notes]
    result = compare_groups(
        groups,
        table,
        list_measures(measures, MEASURES),
        pairs=pairs,
        relevant_from=relevant_from,
        topics=topics,
        ties=ties,
        permutations=permutations,
        seed=seed,
    )
    return replace(result, notes=(*notes, *result.notes))


def load_group(
    source: GroupLike, model: str, reading: ReadingOptions
) -> tuple[Group, tuple[str, ...]]:
    """Return a group of annotators and its notes; judgments are settled by a model.

    Parameters
    ----------
    source : Group, Judgments, Qrels, path or dataframe
        A file or dataframe with a column of labels holds judgments, any other qrels.
    model : str
    reading : ReadingOptions
    """
    if isinstance(source, Group):
        return source, ()
    if isinstance(source, Judgments):
        return Group(settle(source, model), source), source.notes
    frame, place = None, None
    if is_path(source):
        try:
            frame, place = read_frame(source)
        except VenireError:
            frame = None  # TREC qrels have no line of names; their reader explains what is wrong
    elif not isinstance(source, Qrels):
        frame = boundary.to_polars(source)
    if frame is None or reading.columns.get("label", "label") not in frame.columns:
        qrels = load_qrels(source)
        return Group(qrels), qrels.notes
    rejected = None
    arguments = reading.to_arguments()
    if set(frame.columns) >= RAW_RECORD:
        rejected, frame = _read_raw_record(frame)
        place = None
    arguments["repeats"] = reading.repeats or "last"
    judgments = Judgments.of(frame, source=place, **arguments)
    judgments = require_rows(judgments, str(source) if is_path(source) else "the judgments")
    return Group(settle(judgments, model), judgments, rejected), judgments.notes


def settle(judgments: Judgments, model: str) -> Qrels:
    """Return the most probable grades of judgments under a model."""
    qrels: Qrels = build(model, {}).fit(judgments).qrels()
    return qrels


def _read_raw_record(frame: pl.DataFrame) -> tuple[Proportion, pl.DataFrame]:
    """Return the share of rejected batches of a raw record, and the rows that count."""
    truths: dict[str, Any] = {"true": True, "True": True, "false": False, "False": False}
    frame = frame.with_columns(
        pl.col(name).cast(pl.String).replace_strict(truths, default=None, return_dtype=pl.Boolean)
        for name in ("counts", "batch_valid")
    )
    batches = frame.filter((pl.col("batch_kind") == "work") & pl.col("batch_valid").is_not_null())
    batches = batches.unique("batch_id")
    invalid = int((~batches["batch_valid"]).sum())
    return wilson(invalid, batches.height), frame.filter(pl.col("counts"))
