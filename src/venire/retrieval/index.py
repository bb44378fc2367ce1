"""A collection as a sparse matrix of term counts, and the search shared by all systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import polars as pl
from scipy import sparse

from venire.arrays import Floats, Longs
from venire.errors import BadSetting, DataError, MissingColumns, UnknownName
from venire.retrieval.analysis import Analyzer
from venire.tables.codes import code
from venire.tables.runs import Runs, check_tie_rule
from venire.tables.schema import express

Scorer = Callable[[Any], Any]
"""Query term counts (sparse [Q, V]) in, scores (sparse [Q, N]) out; an entry is a match."""
_BLOCK = 8_000_000
"""Maximum number of cells [queries, documents] scored at once: about 200 MB in the worst case."""


class Model(Protocol):
    """A retrieval model; its settings are a frozen dataclass."""

    def make_scorer(self, index: Index) -> Scorer:
        """Compute the weights of an index once and return a function that scores queries."""


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
        A scipy csr_array: number of occurrences of each term in each document.
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
            ``doc_id, text`` and, optionally, ``title``. Empty documents count in N.
        analyzer : Analyzer, optional

        Raises
        ------
        MissingColumns
        DataError
            If there are no documents.
        """
        analyzer = analyzer or Analyzer()
        missing = [name for name in ("doc_id", "text") if name not in documents.columns]
        if missing:
            raise MissingColumns(missing, documents.columns, "documents", renamed=False)
        if documents.is_empty():
            raise DataError("The collection has no documents", hint="Add documents.jsonl or .tsv.")
        fields = [name for name in ("title", "text") if name in documents.columns]
        occurrences = analyzer.split_terms(join_columns(documents, fields))
        term, terms = code(occurrences["term"])
        shape = (len(terms), documents.height)
        # Repeated (term, document) pairs are added up to counts.
        places = (term, occurrences["row"].to_numpy())
        counts = sparse.csr_array((np.ones(term.size), places), shape)
        return cls(documents["doc_id"], terms, counts, analyzer)

    @property
    def size(self) -> int:
        """N, including empty documents."""
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
        """Number of documents that contain each term [V]."""
        return np.asarray(np.diff(self.counts.indptr), np.float64)

    @cached_property
    def collection_frequency(self) -> Floats:
        """Number of occurrences of each term in all documents [V]."""
        return np.asarray(self.counts.sum(axis=1), np.float64)

    def replace_counts(self, data: Floats) -> Any:
        """Return the postings with other values: sparse [V, N]."""
        return sparse.csr_array(
            (data, self.counts.indices, self.counts.indptr), shape=self.counts.shape
        )

    def count_query_terms(self, texts: pl.Series) -> Any:
        """Return term counts of queries: sparse [Q, V], without words that occur in no document."""
        terms = self.analyzer.split_terms(texts)
        codes = pl.DataFrame({"term": self.terms}).with_row_index("code")
        terms = terms.join(codes, on="term", how="inner", maintain_order="left")
        places = (terms["row"].to_numpy(), terms["code"].to_numpy())
        return sparse.csr_array((np.ones(terms.height), places), (len(texts), len(self.terms)))

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
            Maximum number of documents per topic.
        ties : "trec", "docid-ascending" or "file-order"
            Order of documents with equal scores, as in :meth:`venire.Runs.with_ranks`;
            ``file-order`` is the order of the collection. It also decides which of them are cut
            off at the depth.
        fields : sequence of str
            Columns of the topics that make up the query.
        run_id : str
            Name of the run.

        Returns
        -------
        Runs
            Rows in rank order. A note counts the topics that match no document.

        Raises
        ------
        DataError
            If there are no topics, or no topic has text in the fields.
        """
        if depth < 1:
            raise BadSetting(f"must be >= 1 (got {depth})", argument="depth", value=depth)
        place = self._order_ties(ties)
        query_text = join_columns(topics, fields)
        if topics.height and not (query_text.str.strip_chars() != "").any():
            raise DataError(
                f"no topic has text in {', '.join(fields)}",
                hint=f"Choose other columns with `fields`: {', '.join(topics.columns)}.",
                code="no-query-text",
            )
        scorer = model.make_scorer(self)
        parts = []
        step = max(1, _BLOCK // self.size)
        for start in range(0, topics.height, step):
            block = self.count_query_terms(query_text[start : start + step])
            row, doc, score = select_best(scorer(block), place, depth)
            parts.append((row + start, doc, score))
        if not parts:
            raise DataError(
                "the collection has no topics",
                hint="Add topics with query_id and title, for example in topics.tsv.",
            )
        row, doc, score = (np.concatenate(column) for column in zip(*parts, strict=True))
        silent = topics.height - np.unique(row).size
        frame = pl.DataFrame(
            {
                "query_id": topics["query_id"].gather(row),
                "doc_id": self.doc_ids.gather(doc),
                "score": score,
            }
        ).with_columns(pl.lit(run_id).alias("run_id"))
        note = f"{express(silent, 'topic matches', 'topics match')} no document"
        return Runs(frame, (note,) if silent else ())

    def _order_ties(self, ties: str) -> Longs:
        """Return the place of each document among documents with equal scores [N]."""
        check_tie_rule(ties)
        place = np.arange(self.size)
        if ties != "file-order":
            order = self.doc_ids.arg_sort(descending=ties == "trec").to_numpy()
            place[order] = np.arange(self.size)
        return place


def join_columns(frame: pl.DataFrame, fields: Sequence[str]) -> pl.Series:
    """Return the text of several columns, with a blank between them.

    Raises
    ------
    UnknownName
        For a column that the topics do not have.
    BadSetting
        For no column.
    """
    for name in fields:
        if name not in frame.columns:
            raise UnknownName("column of the topics", name, frame.columns)
    if not fields:
        raise BadSetting("must name at least one column of the topics", argument="fields")
    return frame.select(pl.concat_str(fields, separator=" ", ignore_nulls=True)).to_series()


def multiply(queries: Any, weights: Any) -> Any:
    """Return the matrix product, in which a match with score 0 is still an entry.

    scipy leaves out sums that are exactly 0. If weights can cancel or be 0, an imaginary part
    that only counts matches keeps these entries.
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


def select_best(scores: Any, place: Longs, depth: int) -> tuple[Longs, Longs, Floats]:
    """Return query row, document and score of the best entries of each query, in rank order."""
    sizes = np.diff(scores.indptr)
    row = np.repeat(np.arange(sizes.size), sizes)
    order = np.lexsort((place[scores.indices], -scores.data, row))
    rank = np.arange(order.size) - scores.indptr[:-1].repeat(sizes)
    order = order[rank < depth]
    return row[order], scores.indices[order].astype(np.int64), scores.data[order]
