"""A collection as a sparse matrix of term counts, and the search that every system shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import polars as pl
from scipy import sparse

from venire.arrays import Floats, Longs
from venire.errors import BadSetting, DataError, MissingColumns
from venire.retrieval.analysis import Analyzer
from venire.tables.codes import code
from venire.tables.runs import TIES, Runs
from venire.tables.schema import counted

Scorer = Callable[[Any], Any]
"""Query term counts (sparse [Q, V]) in, scores (sparse [Q, D]) out; an entry is a match."""
_BLOCK = 8_000_000
"""Most cells [queries, documents] scored at once: about 200 MB in the worst case."""


class Model(Protocol):
    """A way to score documents; its settings are a frozen dataclass."""

    def scorer(self, index: Index) -> Scorer:
        """Weigh the postings of an index once and return what scores queries by them."""


@dataclass(frozen=True, eq=False)
class Index:
    """Term counts of a collection; N documents, V terms.

    Attributes
    ----------
    doc_ids : polars.Series [N]
        In the order of the collection.
    terms : polars.Series [V]
        Sorted.
    counts : sparse float64 [V, N]
        A scipy csr_array: how often each term occurs in each document.
    analyzer : Analyzer

    Examples
    --------
    >>> index = Index.of(pl.DataFrame({"doc_id": ["a"], "title": ["Wing"], "text": ["the wings"]}))
    >>> index.terms.to_list(), index.counts.toarray().tolist()
    (['wing'], [[2.0]])
    """

    doc_ids: pl.Series
    terms: pl.Series
    counts: Any
    analyzer: Analyzer

    @classmethod
    def of(cls, documents: pl.DataFrame, analyzer: Analyzer | None = None) -> Index:
        """Index documents; a document's text is its title and its text, in that order.

        Parameters
        ----------
        documents : polars.DataFrame
            ``doc_id, text`` and, where there is one, ``title``. Empty documents stay and
            count in N.

        Raises
        ------
        MissingColumns
        DataError
            Without documents.
        """
        analyzer = analyzer or Analyzer()
        missing = [name for name in ("doc_id", "text") if name not in documents.columns]
        if missing:
            raise MissingColumns(missing, documents.columns, "documents", renamed=False)
        if documents.is_empty():
            raise DataError("the collection has no documents to search")
        fields = [name for name in ("title", "text") if name in documents.columns]
        found = analyzer.terms(joined(documents, fields))
        term, terms = code(found["term"])
        shape = (len(terms), documents.height)
        # Repeated (term, document) pairs are added up: they are the counts.
        counts = sparse.csr_array((np.ones(term.size), (term, found["row"].to_numpy())), shape)
        return cls(documents["doc_id"], terms, counts, analyzer)

    @property
    def size(self) -> int:
        """N, empty documents included."""
        return len(self.doc_ids)

    @cached_property
    def posting_term(self) -> Longs:
        """Term of each posting, in the order of ``counts.data``."""
        return np.repeat(np.arange(len(self.terms)), np.diff(self.counts.indptr))

    @cached_property
    def lengths(self) -> Floats:
        """Number of terms in each document [N]."""
        return np.asarray(self.counts.sum(axis=0), np.float64)

    @cached_property
    def document_frequency(self) -> Floats:
        """Number of documents with each term [V]."""
        return np.asarray(np.diff(self.counts.indptr), np.float64)

    @cached_property
    def collection_frequency(self) -> Floats:
        """Occurrences of each term in all documents [V]."""
        return np.asarray(self.counts.sum(axis=1), np.float64)

    def weighted(self, data: Floats) -> Any:
        """Return the postings with other values: sparse [V, N]."""
        return sparse.csr_array(
            (data, self.counts.indices, self.counts.indptr), shape=self.counts.shape
        )

    def queries(self, texts: pl.Series) -> Any:
        """Return term counts of queries: sparse [Q, V]; words that no document has are left out."""
        found = self.analyzer.terms(texts)
        known = pl.DataFrame({"term": self.terms}).with_row_index("code")
        found = found.join(known, on="term", how="inner", maintain_order="left")
        places = (found["row"].to_numpy(), found["code"].to_numpy())
        return sparse.csr_array((np.ones(found.height), places), (len(texts), len(self.terms)))

    def search(
        self,
        model: Model,
        topics: pl.DataFrame,
        *,
        depth: int = 1000,
        ties: str = "trec",
        fields: Sequence[str] = ("title",),
        run_id: str = "run",
    ) -> Runs:
        """Rank the documents that match each topic.

        Parameters
        ----------
        model : Model
        topics : polars.DataFrame
            ``query_id`` and the fields.
        depth : int
            Most documents a topic.
        ties : "trec", "docid-ascending" or "file-order"
            Which of equally scored documents come first, as in :meth:`venire.Runs.ranked`;
            ``file-order`` is the order of the collection. It also decides which of them fall
            below the depth.
        fields : sequence of str
            Columns of the topics that make the query.

        Returns
        -------
        Runs
            Rows in rank order. A note counts the topics that match no document.

        Raises
        ------
        DataError
            Without topics, or where none has text in the fields.
        """
        if depth < 1:
            raise BadSetting(f"depth is at least 1, not {depth}")
        place = self._places(ties)
        query_text = joined(topics, fields)
        if topics.height and not (query_text.str.strip_chars() != "").any():
            raise DataError(f"no topic has text in {', '.join(fields)}")
        scorer = model.scorer(self)
        parts = []
        step = max(1, _BLOCK // self.size)
        for start in range(0, topics.height, step):
            block = self.queries(query_text[start : start + step])
            row, doc, score = best(scorer(block), place, depth)
            parts.append((row + start, doc, score))
        if not parts:
            raise DataError("there are no topics to search for")
        row, doc, score = (np.concatenate(column) for column in zip(*parts, strict=True))
        silent = topics.height - np.unique(row).size
        frame = pl.DataFrame(
            {
                "query_id": topics["query_id"].gather(row),
                "doc_id": self.doc_ids.gather(doc),
                "score": score,
            }
        ).with_columns(pl.lit(run_id).alias("run_id"))
        note = f"{counted(silent, 'topic matches', 'topics match')} no document"
        return Runs(frame, (note,) if silent else ())

    def _places(self, ties: str) -> Longs:
        """Return the place of each document among equals."""
        if ties not in TIES:
            raise BadSetting(f"ties is one of {', '.join(TIES)}, not {ties!r}")
        place = np.arange(self.size)
        if ties != "file-order":
            order = self.doc_ids.arg_sort(descending=ties == "trec").to_numpy()
            place[order] = np.arange(self.size)
        return place


def joined(frame: pl.DataFrame, fields: Sequence[str]) -> pl.Series:
    """Return the text of several columns, with a blank between them.

    Raises
    ------
    MissingColumns
    """
    missing = [name for name in fields if name not in frame.columns]
    if missing or not fields:
        raise MissingColumns(missing or ["title"], frame.columns, "topics", renamed=False)
    return frame.select(pl.concat_str(fields, separator=" ", ignore_nulls=True)).to_series()


def product(queries: Any, weights: Any) -> Any:
    """Return the matrix product in which a match with score zero is still an entry.

    scipy leaves out a sum that is exactly zero. Where weights may cancel, or be zero, an
    imaginary part that only counts matches keeps the entry.
    """
    if min(queries.data.min(initial=1.0), weights.data.min(initial=1.0)) > 0:
        return queries @ weights
    marked = weights.astype(np.complex128)
    marked.data += 1j
    ones = queries.astype(np.complex128)
    ones.data[:] = 1
    match = ones @ marked
    real = sparse.csr_array((queries.data, queries.indices, queries.indptr), queries.shape)
    scores = sparse.csr_array(real @ weights)
    out = sparse.csr_array((np.zeros(match.nnz), match.indices, match.indptr), match.shape)
    out.sort_indices()
    scores.sort_indices()
    row = np.repeat(np.arange(out.shape[0]), np.diff(out.indptr)) * out.shape[1] + out.indices
    hit = np.repeat(np.arange(out.shape[0]), np.diff(scores.indptr)) * out.shape[1]
    out.data[np.searchsorted(row, hit + scores.indices)] = scores.data
    return out


def best(scores: Any, place: Longs, depth: int) -> tuple[Longs, Longs, Floats]:
    """Return query row, document and score of the best entries of each query, in rank order."""
    sizes = np.diff(scores.indptr)
    row = np.repeat(np.arange(sizes.size), sizes)
    order = np.lexsort((place[scores.indices], -scores.data, row))
    rank = np.arange(order.size) - scores.indptr[:-1].repeat(sizes)
    order = order[rank < depth]
    return row[order], scores.indices[order].astype(np.int64), scores.data[order]
