"""Query likelihood with Dirichlet smoothing (Zhai and Lafferty 2001)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from venire.retrieval.index import Index, Scorer, multiply
from venire.settings import Settings, setting


@dataclass(frozen=True, kw_only=True)
class QueryLikelihood(Settings):
    """Log probability of the query under the document's language model.

    score(q, d) = sum over the terms t of q of
    c(t, q) * ln((c(t, d) + mu * p(t)) / (length(d) + mu)), minus the same sum for a document
    without terms, which depends on the query only. That is
    sum c(t, q) * ln(1 + c(t, d) / (mu * p(t))) + length(q) * ln(mu / (length(d) + mu)).
    p(t) is the term's share of all terms of the collection. Only documents with a query term are
    ranked; length(q) does not count query words that occur in no document.
    """

    mu: float = setting(
        100.0, words="Weight of the collection's language model, in terms.", above=0
    )

    def make_scorer(self, index: Index) -> Scorer:
        """Compute the weight of each posting; document length enters after the product."""
        background = index.collection_frequency / max(index.collection_frequency.sum(), 1.0)
        expected = self.mu * background[index.posting_term]
        weights = index.replace_counts(np.log1p(index.counts.data / expected))
        length = np.log(self.mu / (index.lengths + self.mu))

        def score(queries: sparse.csr_array) -> sparse.csr_array:
            scores = multiply(queries, weights)
            query_length = np.asarray(queries.sum(axis=1)).repeat(np.diff(scores.indptr))
            scores.data += query_length * length[scores.indices]
            return scores

        return score
