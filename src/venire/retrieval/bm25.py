"""BM25 (Robertson and Walker 1994, as in Robertson and Zaragoza 2009)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.retrieval.index import Index, Scorer, multiply
from venire.settings import Settings, setting


@dataclass(frozen=True, kw_only=True)
class Bm25(Settings):
    """Term counts that saturate, normalised by document length.

    score(q, d) = sum over the terms t of q of
    c(t, q) * ln(1 + (N - n_t + 0.5) / (n_t + 0.5))
    * (k1 + 1) * c(t, d) / (c(t, d) + k1 * (1 - b + b * length(d) / mean length))

    As in Lucene, 1 is added inside the logarithm, so that no term has a negative weight.
    """

    k1: float = setting(
        1.2, words="Saturation of term counts: larger values saturate more slowly.", least=0
    )
    b: float = setting(
        0.75, words="Strength of the normalisation by document length.", least=0, most=1
    )

    def make_scorer(self, index: Index) -> Scorer:
        """Compute the weight of each posting; a score is then one sparse product."""
        df = index.document_frequency
        idf = np.log1p((index.size - df + 0.5) / (df + 0.5))
        # In a collection of empty documents the mean length is 0, and there are no postings.
        relative = index.lengths / (index.lengths.mean() or 1.0)
        norm = self.k1 * (1 - self.b + self.b * relative)
        tf = index.counts.data
        saturated = (self.k1 + 1) * tf / (tf + norm[index.counts.indices])
        weights = index.replace_counts(idf[index.posting_term] * saturated)
        return lambda queries: multiply(queries, weights)
