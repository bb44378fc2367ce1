"""Text ids to integer codes and back, made inside polars."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from venire.arrays import Ints, Longs, Shorts


def code(column: pl.Series) -> tuple[Ints, pl.Series]:
    """Return a code for each value and the sorted values: ``values[codes] == column``.

    Codes follow the sorted order of the ids, so that they do not depend on the
    order of the rows.
    """
    if column.is_empty():
        return np.empty(0, np.int32), pl.Series(column.name, [], dtype=pl.String)
    # A category set of its own: the process-wide one would grow with every table read.
    coded = column.cast(pl.Categorical(pl.Categories.random()))
    distinct = coded.unique()
    values = distinct.cast(pl.String)
    order = values.arg_sort().to_numpy()
    physical = distinct.to_physical().to_numpy()[order]
    rank = np.empty(int(physical.max()) + 1, np.int32)
    rank[physical] = np.arange(order.size, dtype=np.int32)
    return rank[coded.to_physical().to_numpy()], values[order].alias(column.name)


def code_pairs(first: Ints, second: Ints, size: int) -> tuple[Longs, Longs]:
    """Return a code for each pair of codes and the sorted distinct pairs as ``a * size + b``."""
    key = first.astype(np.int64) * max(size, 1) + second
    distinct, codes = np.unique(key, return_inverse=True)
    return codes.astype(np.int64), distinct


@dataclass(frozen=True)
class JudgmentCodes:
    """Judgments as integer arrays, sorted by item, then annotator, then label.

    Attributes
    ----------
    indptr : int64 [M + 1]
        Judgments of item m are ``indptr[m]:indptr[m + 1]``.
    annotator : int32 [L]
    label : int16 [L]
        Position on the scale, 0..K-1.
    items : polars.DataFrame [M]
        ``query_id, doc_id`` of each item, and ``first``, the row of its first judgment.
    annotators : polars.Series [N]
    query : int32 [M]
        Code of each item's query.
    row : int64 [L]
        Row of the judgment in the frame.
    """

    indptr: Longs
    annotator: Ints
    label: Shorts
    items: pl.DataFrame
    annotators: pl.Series
    query: Ints
    row: Longs

    @property
    def n_items(self) -> int:
        """M."""
        return self.indptr.size - 1

    @property
    def n_annotators(self) -> int:
        """N."""
        return len(self.annotators)

    @property
    def n_judgments(self) -> int:
        """L."""
        return self.annotator.size

    @cached_property
    def per_item(self) -> Longs:
        """Number of judgments of each item [M]."""
        return np.diff(self.indptr)

    @cached_property
    def per_annotator(self) -> Longs:
        """Number of judgments of each annotator [N]."""
        return np.bincount(self.annotator, minlength=self.n_annotators)

    def item_of(self) -> Longs:
        """Item of each judgment [L]."""
        return np.repeat(np.arange(self.n_items, dtype=np.int64), self.per_item)


def code_judgments(frame: pl.DataFrame, label: Shorts) -> JudgmentCodes:
    """Code a judgments frame whose labels are already positions on the scale."""
    query, queries = code(frame["query_id"])
    doc, docs = code(frame["doc_id"])
    annotator, annotators = code(frame["annotator_id"])
    item, distinct = code_pairs(query, doc, len(docs))
    # One integer key instead of a three-column sort; labels break ties between repeats.
    key = (item * max(len(annotators), 1) + annotator) * 256 + label
    order = np.argsort(key, kind="stable")
    sorted_item = item[order]
    indptr = np.searchsorted(sorted_item, np.arange(distinct.size + 1)).astype(np.int64)
    first = np.minimum.reduceat(order, indptr[:-1]) if distinct.size else order
    item_query = (distinct // max(len(docs), 1)).astype(np.int32)
    items = pl.DataFrame(
        {
            "query_id": queries[item_query] if distinct.size else queries,
            "doc_id": docs[distinct % max(len(docs), 1)] if distinct.size else docs,
            "first": first.astype(np.int64),
        }
    )
    return JudgmentCodes(
        indptr=indptr,
        annotator=annotator[order],
        label=label[order],
        items=items,
        annotators=annotators,
        query=item_query,
        row=order.astype(np.int64),
    )
