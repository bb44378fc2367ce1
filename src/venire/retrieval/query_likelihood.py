"""Query likelihood with Dirichlet smoothing (Zhai and Lafferty 2001)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from venire.errors import BadSetting
from venire.retrieval.index import Index, Scorer, product


@dataclass(frozen=True, kw_only=True)
class QueryLikelihood:
    """Log probability that a document's language model gives the query.

    score(q, d) = sum over the terms t of q of
    c(t, q) * ln((c(t, d) + mu * p(t)) / (length(d) + mu)), less the same for a document without
    terms, which depends on the query only. That is
    sum c(t, q) * ln(1 + c(t, d) / (mu * p(t))) + length(q) * ln(mu / (length(d) + mu)).
    p(t) is the term's share of all terms of the collection. Only documents that have a query
    term are ranked; a query word that no document has is left out of length(q) too.

    Attributes
    ----------
    mu : float, above 0
        Weight of the collection, in terms.
    """

    mu: float = 100.0

    def __post_init__(self) -> None:
        """Refuse settings out of range."""
        if not self.mu > 0:
            raise BadSetting(f"mu is above 0, not {self.mu}")

    def scorer(self, index: Index) -> Scorer:
        """Weigh the postings; length enters after the product."""
        background = index.collection_frequency / max(index.collection_frequency.sum(), 1.0)
        expected = self.mu * background[index.posting_term]
        weights = index.weighted(np.log1p(index.counts.data / expected))
        length = np.log(self.mu / (index.lengths + self.mu))

        def score(queries: sparse.csr_array) -> sparse.csr_array:
            scores = product(queries, weights)
            query_length = np.asarray(queries.sum(axis=1)).repeat(np.diff(scores.indptr))
            scores.data += query_length * length[scores.indices]
            return scores

        return score
