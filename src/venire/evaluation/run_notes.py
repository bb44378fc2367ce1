"""Notes on runs whose scores say less than they seem to: topics, documents or ranks are missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from venire.arrays import Longs, Mask
from venire.measures import Measure
from venire.tables.schema import express, join_names


def note_missing_topics(
    blocks: pl.DataFrame, run_names: Sequence[str], topics: Sequence[str]
) -> tuple[str, ...]:
    """Return notes that name the topics each run lacks, and those the qrels lack.

    Parameters
    ----------
    blocks : polars.DataFrame
        ``run_id, query_id``: the topics that each run has documents for.
    run_names, topics : sequence of str
        All runs; the topics of the qrels.
    """
    notes = []
    answered = dict(blocks.group_by("run_id").agg("query_id").iter_rows())
    for name in run_names:
        topics_of_run = set(answered.get(name, ()))
        missing = [topic for topic in topics if topic not in topics_of_run]
        if missing:
            share = f" of {len(topics)}" if len(missing) > 1 else ""
            notes.append(
                f"run {name} has no documents for {name_topics(missing, share)}: each counts as 0"
            )
    extra = sorted(set(blocks["query_id"].unique()) - set(topics))
    if extra:
        notes.append(f"the qrels have no {name_topics(extra)}: not scored")
    return tuple(notes)


def note_foreign_documents(
    run_names: Sequence[str],
    retrieved: Longs,
    segment: Longs,
    pairs: pl.DataFrame,
    ranked: pl.DataFrame,
) -> tuple[str, ...]:
    """Return a note that names the runs none of whose documents is in the qrels.

    Parameters
    ----------
    run_names : sequence of str
    retrieved : int64 [runs * T]
        Documents retrieved for each run and topic of the qrels.
    segment : int64 [H]
        Segment ``run * T + topic`` of each retrieved document that is in the qrels.
    pairs, ranked : polars.DataFrame
        ``query_id, doc_id`` of the qrels; ``run_id, query_id, doc_id`` of the runs.
    """
    width = retrieved.size // max(len(run_names), 1)
    if not width:
        return ()
    shared = np.bincount(segment // width, minlength=len(run_names))
    has_documents = retrieved.reshape(-1, width).sum(axis=1) > 0
    foreign = [
        run_names[number] for number in np.flatnonzero((shared == 0) & has_documents).tolist()
    ]
    if not foreign:
        return ()
    documents = ranked.filter(
        (pl.col("run_id") == foreign[0]) & pl.col("query_id").is_in(pairs["query_id"].implode())
    )
    document, query = documents["doc_id"][0], documents["query_id"][0]
    judged = pairs.filter(pl.col("query_id") == query)["doc_id"][0]
    return (
        f"no document of run {join_names(foreign)} is in the qrels; for topic {query} the qrels "
        f"have {judged!r}, run {foreign[0]} has {document!r}: are these the same document ids?",
    )


def note_uneven_averages(run_names: Sequence[str], counted: Mask) -> tuple[str, ...]:
    """Return a note where the averages of the runs are over different topics.

    Parameters
    ----------
    run_names : sequence of str
    counted : bool [runs, topics]
    """
    if len(run_names) < 2 or (counted == counted[0]).all():
        return ()
    numbers = counted.sum(axis=1)
    order = np.argsort(numbers, kind="stable").tolist()
    texts = [f"{run_names[run]} {numbers[run]}" for run in order]
    return (
        f"averaged over different topics (number of topics: {join_names(texts)}); do not compare "
        "these scores",
    )


def note_short_rankings(
    run_names: Sequence[str], retrieved: Longs, measures: Iterable[Measure]
) -> tuple[str, ...]:
    """Return a note where a measure looks deeper than a run ranks documents for any topic.

    Parameters
    ----------
    run_names : sequence of str
    retrieved : int64 [runs * T]
    measures : iterable of Measure
    """
    deepest = retrieved.reshape(len(run_names), -1).max(axis=1, initial=0)
    notes = []
    for measure in measures:
        cutoff = measure.family.cutoff
        if cutoff is None or cutoff.type is not int or measure.cutoff is None:
            continue
        short = np.flatnonzero((deepest > 0) & (2 * deepest <= measure.cutoff)).tolist()
        if short:
            texts = [f"{run_names[run]} ({deepest[run]})" for run in short]
            notes.append(
                f"{measure} looks at {express(int(measure.cutoff), 'document')}, but at most half "
                f"as many are ranked for any topic by run {join_names(texts)}"
            )
    return tuple(notes)


def name_topics(topics: Sequence[str], share: str = "") -> str:
    """Return ``topic 7`` or ``12 of 50 topics (1, 2, 3, 4, 5 and 7 more)``."""
    if len(topics) == 1:
        return f"topic {topics[0]}"
    return f"{len(topics)}{share} topics ({join_names(topics)})"
