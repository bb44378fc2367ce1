"""Rank-biased precision and how much of it the judgments leave open."""

from __future__ import annotations

import numpy as np

from venire.measures.hits import Floats, Hits


def _weight(hits: Hits, p: float) -> Floats:
    """Return the chance (1 - p) p^(rank - 1) that the user looks at a rank and stops."""
    weight: Floats = (1.0 - p) * np.power(p, hits.rank - 1.0)
    return weight


def rank_biased_precision(hits: Hits, *, rel: int, p: float, cutoff: int | None) -> Floats:
    """RBP: (1 - p) sum of p^(rank - 1) over relevant documents.

    Moffat and Zobel, ACM TOIS 27 (2008).
    """
    mask = hits.within(hits.grade >= rel, cutoff)
    return hits.sum(_weight(hits, p), mask)


def residual(hits: Hits, *, p: float, cutoff: int | None) -> Floats:
    """RBPResidual: what RBP would gain if every document without a grade were relevant.

    1 minus the weight of the judged documents: unjudged ones in the ranking, and all that
    lies beyond its end (or beyond the cutoff). A topic the run has nothing for has 0, as
    in trec_eval.
    """
    mask = hits.within(hits.grade >= 0, cutoff)
    left = 1.0 - hits.sum(_weight(hits, p), mask)
    return np.where(hits.retrieved > 0, left, 0.0)
