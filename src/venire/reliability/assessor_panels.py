"""Make panels of annotators: all together, and each one who judged whole topics; test them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from venire.aggregation.registry import build
from venire.arrays import Longs, Mask
from venire.evaluation.ranks import RankTable
from venire.evaluation.told_apart import ToldApart
from venire.measures import Measure
from venire.reliability.panels import (
    ALIGNMENTS,
    LEAST_PAIRS,
    LEAST_TOPICS,
    Panel,
    PanelComparison,
    compare_panels,
)
from venire.tables.judgments import Judgments
from venire.tables.schema import PAIR, express

ALL_TOGETHER = "all annotators together"
WHOLE_TOPICS = 0.5
"""Least share of the judged pairs of their topics that a panel of one annotator judged; a choice. A
worker of a crowd judges a few pairs per topic, and orders nothing."""


def make_panels(
    table: RankTable, judgments: Judgments, grades: Longs, *, seed: int = 0
) -> tuple[list[Panel], list[str]]:
    """Return the panels, all annotators together first, and notes.

    A panel of its own is an annotator with at least ``LEAST_PAIRS`` pairs and ``LEAST_TOPICS``
    topics in common with the qrels, and ``WHOLE_TOPICS`` of the judged pairs of these topics. All
    together are settled by majority; where such annotators gave most of the judgments, one grade
    is drawn per pair instead, which keeps the errors of one person.

    Parameters
    ----------
    table : RankTable
    judgments : Judgments
        One label per pair and annotator, whole and on the scale of the qrels.
    grades : int64 [P]
        Grades of the qrels; a negative number where there is none.
    seed : int
    """
    names, codes, pairs, labels = _look_up(table, judgments, grades)
    if not names:
        return [], []
    is_own = _find_own_panels(table, codes, pairs, len(names))
    own = np.full((len(names), len(grades)), -1, dtype=np.int64)
    own[codes, pairs] = labels
    singles = [Panel(names[row], own[row]) for row in np.flatnonzero(is_own)]
    if len(names) == 1:
        return singles or [Panel(names[0], own[0])], []
    if is_own[codes].mean() > 0.5:
        together = _draw_grades(codes, pairs, labels, len(grades), seed)
        settling = "one of their grades is drawn per pair"
    else:
        settled = build("majority", {}).fit(judgments).qrels()
        together = np.where(grades < 0, -1, table.grades(settled))
        settling = "their judgments are settled by majority"
    others = len(names) - len(singles)
    notes = [f"{ALL_TOGETHER} are {express(len(names), 'annotator')}: {settling}"]
    if others:
        notes.append(
            f"{express(others, 'annotator')} judged too few pairs of each topic to be compared "
            "alone: only all together are"
        )
    return [Panel(ALL_TOGETHER, together), *singles], notes


def _look_up(
    table: RankTable, judgments: Judgments, grades: Longs
) -> tuple[list[str], Longs, Longs, Longs]:
    """Return annotators, and for each judgment of a graded pair its annotator, pair and label."""
    judged = table.pairs.with_row_index("pair").filter(pl.Series(grades >= 0))
    frame = (
        judgments.frame.select(
            *PAIR, pl.col("annotator_id").cast(pl.String), pl.col("label").cast(pl.Int64)
        )
        .filter(pl.col("label") >= 0)
        .join(judged, on=PAIR)
        .sort("annotator_id", "pair")
    )
    names = frame["annotator_id"].unique().sort()
    codes = frame["annotator_id"].rle_id()
    return (
        names.to_list(),
        codes.to_numpy().astype(np.int64),
        frame["pair"].to_numpy().astype(np.int64),
        frame["label"].to_numpy(),
    )


def _find_own_panels(table: RankTable, codes: Longs, pairs: Longs, annotators: int) -> Mask:
    """Return whether each annotator is a panel of their own."""
    topics = len(table.topics)
    by_topic = np.bincount(codes * topics + table.topic[pairs], minlength=annotators * topics)
    by_topic = by_topic.reshape(annotators, topics)
    judged = np.bincount(table.topic[np.unique(pairs)], minlength=topics)
    of_own_topics = (judged * (by_topic > 0)).sum(axis=1)
    is_own: Mask = (
        (by_topic.sum(axis=1) >= LEAST_PAIRS)
        & ((by_topic > 0).sum(axis=1) >= LEAST_TOPICS)
        & (by_topic.sum(axis=1) >= WHOLE_TOPICS * of_own_topics)
    )
    return is_own


def _draw_grades(codes: Longs, pairs: Longs, labels: Longs, count: int, seed: int) -> Longs:
    """Return ``ALIGNMENTS`` rows that each hold one label of every judged pair, at random."""
    rng = np.random.default_rng(seed)
    rows = np.full((ALIGNMENTS, count), -1, dtype=np.int64)
    for row in rows:
        order = rng.permutation(len(pairs))
        row[pairs[order]] = labels[order]
    return rows


def compare_orders_of_panels(
    table: RankTable,
    grades: Longs,
    panels: Sequence[Panel],
    measure: Measure,
    told_apart: ToldApart,
    topics: str,
    seed: int,
) -> list[PanelComparison]:
    """Test the first panel, all annotators together, and the others, at half the level each.

    So all panels together have the level of one test. Copies count as no system.
    """
    systems = np.array([table.runs.index(name) for name in told_apart.systems])
    results: list[PanelComparison] = []
    for part in (panels[:1], panels[1:]):
        results += compare_panels(
            table, grades, part, measure, systems=systems, told_apart=told_apart.apart,
            topics=topics, seed=seed,
        )  # fmt: skip
    if any(result.p is not None for result in results[1:]):
        results = [
            result if result.p_corrected is None
            else replace(result, p_corrected=min(1.0, 2 * result.p_corrected))
            for result in results
        ]  # fmt: skip
    return results
