"""BM25 (Robertson and Walker 1994, as in Robertson and Zaragoza 2009)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.errors import BadSetting
from venire.retrieval.index import Index, Scorer, product


@dataclass(frozen=True, kw_only=True)
class Bm25:
    """Term counts that saturate, corrected for the length of the document.

    score(q, d) = sum over the terms t of q of
    c(t, q) * ln(1 + (N - n_t + 0.5) / (n_t + 0.5))
    * (k1 + 1) * c(t, d) / (c(t, d) + k1 * (1 - b + b * length(d) / mean length))

    The logarithm has the 1 that Lucene adds, so that no term counts against a document.

    Attributes
    ----------
    k1 : float, at least 0
        How slowly repeats of a term saturate.
    b : float, 0 to 1
        How much length counts.
    """

    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        """Refuse settings out of range."""
        if not self.k1 >= 0:
            raise BadSetting(f"k1 is at least 0, not {self.k1}")
        if not 0 <= self.b <= 1:
            raise BadSetting(f"b lies between 0 and 1, not {self.b}")

    def scorer(self, index: Index) -> Scorer:
        """Weigh the postings; a score is then one sparse product."""
        df = index.document_frequency
        idf = np.log1p((index.size - df + 0.5) / (df + 0.5))
        # A collection of empty documents has no mean length and no postings either.
        relative = index.lengths / (index.lengths.mean() or 1.0)
        norm = self.k1 * (1 - self.b + self.b * relative)
        tf = index.counts.data
        saturated = (self.k1 + 1) * tf / (tf + norm[index.counts.indices])
        weights = index.weighted(idf[index.posting_term] * saturated)
        return lambda queries: product(queries, weights)
