"""Judgments laid out by category of difficulty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from venire.aggregation import base
from venire.errors import BadSetting, DataError
from venire.tables.codes import JudgmentCodes, code
from venire.tables.judgments import Judgments

Longs = NDArray[np.int64]
CATEGORY = "venire:category"
RESERVED = ("inverse_difficulty", "inverse_difficulty_sd")
"""Columns of the result."""


@dataclass(frozen=True)
class Layout:
    """Judgments with the items of a category next to each other."""

    indptr: Longs
    annotator: NDArray[np.int32]
    label: NDArray[np.int16]
    category_start: Longs
    order: Longs
    """Position in the codes of each item here."""
    categories: pl.Series | None
    """Name of each category; None where there is one for all."""


def lay_out(judgments: Judgments, difficulty: str) -> Layout:
    """Return the judgments with each category's items together."""
    codes = judgments.codes
    same = np.arange(codes.n_items, dtype=np.int64)
    if difficulty == "none":
        starts = np.array([0, codes.n_items], np.int64)
        return Layout(codes.indptr, codes.annotator, codes.label, starts, same, None)
    if difficulty == "item":
        starts = np.arange(codes.n_items + 1, dtype=np.int64)
        return Layout(
            codes.indptr, codes.annotator, codes.label, starts, same, codes.items["doc_id"]
        )
    if difficulty == "query":
        category = codes.query
        names = codes.items["query_id"].unique().sort()
    else:
        category, names = _column_category(judgments, codes, difficulty)
    order = np.argsort(category, kind="stable").astype(np.int64)
    starts = np.searchsorted(category[order], np.arange(len(names) + 1)).astype(np.int64)
    if np.array_equal(order, same):
        return Layout(codes.indptr, codes.annotator, codes.label, starts, order, names)
    lengths = codes.per_item[order]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    take = np.repeat(codes.indptr[:-1][order] - indptr[:-1], lengths) + np.arange(indptr[-1])
    return Layout(indptr, codes.annotator[take], codes.label[take], starts, order, names)


def _column_category(
    judgments: Judgments, codes: JudgmentCodes, column: str
) -> tuple[NDArray[np.int32], pl.Series]:
    if column not in judgments.frame.columns:
        raise BadSetting(
            f"difficulty is none, query, item or a column of the judgments, not {column!r} "
            f"(columns: {', '.join(judgments.frame.columns)})"
        )
    if column in RESERVED:
        raise BadSetting(f"difficulty cannot be the column {column}; rename it")
    category = pl.col(column).cast(pl.String).fill_null("").alias(CATEGORY)
    values = judgments.frame.select(*base.PAIR, category)
    mixed = values.unique().filter(pl.struct(base.PAIR).is_duplicated())
    if mixed.height:
        pair = " ".join(mixed.select(base.PAIR).row(0))
        raise DataError(f"difficulty column {column} has different values for item {pair}")
    return code(values[CATEGORY][codes.items["first"].to_numpy()])
