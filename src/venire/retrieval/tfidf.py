"""TF-IDF with cosine: lnc.ltc in SMART's letters (Salton and Buckley 1988)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from venire.retrieval.index import Index, Scorer, product


@dataclass(frozen=True, kw_only=True)
class TfIdf:
    """Cosine of logarithmic term counts; only the query has the inverse document frequency.

    document weight: 1 + log10 c(t, d); query weight: (1 + log10 c(t, q)) * log10(N / n_t);
    both vectors are divided by their length. The base of the second logarithm drops out there.
    """

    def scorer(self, index: Index) -> Scorer:
        """Weigh the postings; a score is then one sparse product."""
        weight = 1 + np.log10(index.counts.data)
        doc = index.counts.indices
        square = np.bincount(doc, weights=weight**2, minlength=index.size)
        weights = index.weighted(weight / np.sqrt(square)[doc])
        idf = np.log10(index.size / np.maximum(index.document_frequency, 1))

        def score(queries: sparse.csr_array) -> sparse.csr_array:
            query = (1 + np.log10(queries.data)) * idf[queries.indices]
            row = np.repeat(np.arange(queries.shape[0]), np.diff(queries.indptr))
            length = np.sqrt(np.bincount(row, weights=query**2, minlength=queries.shape[0]))
            # A query of terms that all documents have is all zero; it stays so.
            query = query / np.where(length > 0, length, 1.0)[row]
            ready = sparse.csr_array((query, queries.indices, queries.indptr), queries.shape)
            return product(ready, weights)

        return score
