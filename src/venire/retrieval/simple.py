"""Three plain systems: binary independence, coordination level, raw term counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from venire.retrieval.index import Index, Scorer, multiply
from venire.settings import Settings


def _mark_present(counts: sparse.csr_array) -> sparse.csr_array:
    """Replace every count by 1."""
    ones = np.ones_like(counts.data)
    return sparse.csr_array((ones, counts.indices, counts.indptr), counts.shape)


@dataclass(frozen=True, kw_only=True)
class BinaryIndependence(Settings):
    """Binary independence model (Robertson and Sparck Jones 1976) without relevance data.

    score(q, d) = sum over the distinct terms in both q and d of
    ln((N - n_t + 0.5) / (n_t + 0.5)): negative for a term in most documents.
    """

    def make_scorer(self, index: Index) -> Scorer:
        """Compute the weight of each posting; counts do not matter."""
        df = index.document_frequency
        weight = np.log((index.size - df + 0.5) / (df + 0.5))
        weights = index.replace_counts(weight[index.posting_term])
        return lambda queries: multiply(_mark_present(queries), weights)


@dataclass(frozen=True, kw_only=True)
class Coordination(Settings):
    """Coordination level: the number of distinct query terms in the document."""

    def make_scorer(self, index: Index) -> Scorer:
        """Count matching terms."""
        weights = _mark_present(index.counts)
        return lambda queries: multiply(_mark_present(queries), weights)


@dataclass(frozen=True, kw_only=True)
class RawCounts(Settings):
    """Sum over the query's terms of c(t, q) * c(t, d); favours long documents."""

    def make_scorer(self, index: Index) -> Scorer:
        """Use the counts as they are."""
        return lambda queries: multiply(queries, index.counts)
