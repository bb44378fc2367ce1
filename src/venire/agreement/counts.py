"""Pairs of judgments of the same item, counted by topic and by the two grades.

Every figure of agreement is a function of these counts, and so are its per-topic values and
its bootstrap over topics: a resample is a weighted sum of the topics' tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs
from venire.errors import BadSetting, DataError
from venire.tables.judgments import Judgments
from venire.tables.scale import Scale
from venire.tables.schema import express, number_text

MOST_CELLS = 200_000_000
"""Numbers in one array; past it a table is refused instead of filling the memory."""


@dataclass(frozen=True)
class PairCounts:
    """Ordered pairs of judgments of the same item, T topics, K grades.

    With ``n_uk`` judgments of item u that say grade k and ``m_u = sum_k n_uk``:

    Attributes
    ----------
    by_judgment : float [T, K, K]
        ``sum_u n_uk (n_ul - [k = l]) / (m_u - 1)``: each judgment weighs 1. Krippendorff's
        coincidence matrix.
    by_item : float [T, K, K]
        ``sum_u n_uk (n_ul - [k = l]) / (m_u (m_u - 1))``: each item weighs 1. Row sums are
        ``sum_u n_uk / m_u``.
    single : float [T, K]
        Labels of the items that have one judgment only, which make no pair.
    items, judgments : int [T]
        Items with two judgments or more, and their judgments.
    fewest, most : int
        Judgments of the items that have two or more.
    topics : polars.Series [T]
    scale : Scale
    """

    by_judgment: Floats
    by_item: Floats
    single: Floats
    items: Longs
    judgments: Longs
    fewest: int
    most: int
    topics: pl.Series
    scale: Scale

    @property
    def n_single(self) -> int:
        """Number of items with one judgment only."""
        return int(self.single.sum())

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out."""
        if not self.n_single:
            return ()
        return (f"{express(self.n_single, 'item')} with one judgment left out: no pair to compare",)


def label_counts(judgments: Judgments) -> Longs:
    """Return the number of judgments of each item that say each grade [M, K].

    Raises
    ------
    DataError
        Where items x grades would not fit into memory.
    """
    codes, size = judgments.codes, judgments.scale.size
    if codes.n_items * size > MOST_CELLS:
        raise DataError(
            f"{codes.n_items:,} items on a scale of {size} grades need {codes.n_items * size:,} "
            f"counts, and the limit is {MOST_CELLS:,}",
            hint="Use a scale with fewer grades.",
        )
    cell = codes.item_of() * size + codes.label
    return np.bincount(cell, minlength=codes.n_items * size).reshape(-1, size)


def pair_counts(judgments: Judgments) -> PairCounts:
    """Count the pairs of judgments of each topic.

    Every judgment in the table counts as one annotator's: where an annotator judged an item
    twice (``repeats="all"``), the two make a pair as well.

    Examples
    --------
    >>> table = Judgments.from_dict({"query_id": ["q"] * 3, "doc_id": ["d"] * 3,
    ...     "annotator_id": ["a", "b", "c"], "label": [0, 1, 1]})
    >>> pair_counts(table).by_judgment[0].tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    codes, size = judgments.codes, judgments.scale.size
    counts = label_counts(judgments)
    topics = codes.items["query_id"].unique(maintain_order=True)
    if len(topics) * size * size > MOST_CELLS:
        raise DataError(
            f"{len(topics):,} topics on a scale of {size} grades need "
            f"{len(topics) * size * size:,} counts, and the limit is {MOST_CELLS:,}",
            hint="Use a scale with fewer grades.",
        )
    by_judgment = np.zeros((len(topics), size, size))
    by_item = np.zeros_like(by_judgment)
    single = np.zeros((len(topics), size))
    items = np.zeros(len(topics), np.int64)
    total = np.zeros(len(topics), np.int64)
    # Items are sorted by topic: a topic's items are a slice.
    ends = np.searchsorted(codes.query, np.arange(len(topics) + 1))
    for t, (start, stop) in enumerate(pairwise(ends)):
        n = counts[start:stop].astype(np.float64)
        m = codes.per_item[start:stop]
        single[t] = n[m == 1].sum(axis=0)
        n, m = n[m > 1], m[m > 1, None]
        items[t], total[t] = m.size, m.sum()
        by_judgment[t] = _pairs(n, 1.0 / (m - 1))
        by_item[t] = _pairs(n, 1.0 / (m * (m - 1)))
    several = codes.per_item[codes.per_item > 1]
    return PairCounts(
        by_judgment=by_judgment,
        by_item=by_item,
        single=single,
        items=items,
        judgments=total,
        fewest=int(several.min()) if several.size else 0,
        most=int(several.max(initial=0)),
        topics=topics,
        scale=judgments.scale,
    )


def _pairs(n: Floats, weight: Floats) -> Floats:
    """Return sum_u w_u n_uk (n_ul - [k = l]); zero exactly where no pair is."""
    table: Floats = n.T @ (n * weight)
    np.fill_diagonal(table, (weight * n * (n - 1.0)).sum(axis=0))
    return table


def first_relevant(scale: Scale, relevant_from: float | str | None = None) -> int:
    """Return the position on the scale of the smallest grade that counts as relevant.

    Parameters
    ----------
    scale : Scale
    relevant_from : float or str, optional
        A grade of the scale or its name; by default the scale's own ``relevant_from``.

    Returns
    -------
    int
        The number of grades where none is relevant: on a scale whose only grade is 0 or less,
        or less than ``relevant_from``.

    Raises
    ------
    BadSetting
        For a grade that the scale does not have.
    """
    if relevant_from is None:
        if scale.size == 1 and scale.values[0] <= 0:
            return 1
        value = scale.relevant_from if scale.relevant_from is not None else scale.values[-1]
        return int(np.searchsorted(scale.array(), value))
    if str(relevant_from) in scale.names:
        return scale.names.index(str(relevant_from))
    try:
        grade = float(relevant_from)
        if scale.size == 1 and np.isfinite(grade):
            # The scale of labels that are all the same says nothing of its other grades.
            return int(scale.values[0] < grade)
        return scale.values.index(grade)
    except ValueError:
        value_text = relevant_from if isinstance(relevant_from, str) else number_text(relevant_from)
        raise BadSetting(
            f"must be a grade of the scale {', '.join(scale.names)} (got {value_text})",
            argument="relevant_from",
            value=relevant_from,
        ) from None


def binary(table: Floats, first: int) -> Floats:
    """Return tables [..., K, K] as [..., 2, 2]: below the first relevant grade, and from it on."""
    rows = np.stack([table[..., :first, :].sum(-2), table[..., first:, :].sum(-2)], axis=-2)
    out: Floats = np.stack([rows[..., :first].sum(-1), rows[..., first:].sum(-1)], axis=-1)
    return out
