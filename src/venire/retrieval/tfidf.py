"""TF-IDF with cosine: lnc.ltc in SMART's letters (Salton and Buckley 1988)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from venire.retrieval.index import Index, Scorer, multiply
from venire.settings import Settings


@dataclass(frozen=True, kw_only=True)
class TfIdf(Settings):
    """Cosine of logarithmic term counts; only the query has the inverse document frequency.

    document weight: 1 + log10 c(t, d); query weight: (1 + log10 c(t, q)) * log10(N / n_t);
    both vectors are divided by their length, so the base of the second logarithm does not matter.
    """

    def make_scorer(self, index: Index) -> Scorer:
        """Compute the weight of each posting; a score is then one sparse product."""
        weight = 1 + np.log10(index.counts.data)
        doc = index.counts.indices
        square = np.bincount(doc, weights=weight**2, minlength=index.size)
        weights = index.replace_counts(weight / np.sqrt(square)[doc])
        idf = np.log10(index.size / np.maximum(index.document_frequency, 1))

        def score(queries: sparse.csr_array) -> sparse.csr_array:
            query = (1 + np.log10(queries.data)) * idf[queries.indices]
            row = np.repeat(np.arange(queries.shape[0]), np.diff(queries.indptr))
            length = np.sqrt(np.bincount(row, weights=query**2, minlength=queries.shape[0]))
            # If all documents have all terms of a query, its vector is zero and stays zero.
            query = query / np.where(length > 0, length, 1.0)[row]
            normalised = sparse.csr_array((query, queries.indices, queries.indptr), queries.shape)
            return multiply(normalised, weights)

        return score
