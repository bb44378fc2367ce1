"""Three plain systems: binary independence, coordination level, raw term counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from venire.retrieval.index import Index, Scorer, product


def _present(counts: sparse.csr_array) -> sparse.csr_array:
    """Return 1 for every count."""
    ones = np.ones_like(counts.data)
    return sparse.csr_array((ones, counts.indices, counts.indptr), counts.shape)


@dataclass(frozen=True, kw_only=True)
class BinaryIndependence:
    """Binary independence model (Robertson and Sparck Jones 1976) without relevance data.

    score(q, d) = sum over the distinct terms that q and d share of
    ln((N - n_t + 0.5) / (n_t + 0.5)): negative for a term that most documents have.
    """

    def scorer(self, index: Index) -> Scorer:
        """Weigh the postings; counts do not matter."""
        df = index.document_frequency
        weight = np.log((index.size - df + 0.5) / (df + 0.5))
        weights = index.weighted(weight[index.posting_term])
        return lambda queries: product(_present(queries), weights)


@dataclass(frozen=True, kw_only=True)
class Coordination:
    """Coordination level: the number of distinct query terms that the document has."""

    def scorer(self, index: Index) -> Scorer:
        """Count matches."""
        weights = _present(index.counts)
        return lambda queries: product(_present(queries), weights)


@dataclass(frozen=True, kw_only=True)
class RawCounts:
    """Sum over the query's terms of c(t, q) * c(t, d); long documents win."""

    def scorer(self, index: Index) -> Scorer:
        """Use the counts as they are."""
        return lambda queries: product(queries, index.counts)
