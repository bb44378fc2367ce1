"""Measures for incomplete judgments: Bpref, infAP, Judged, Unjudged."""

from __future__ import annotations

import numpy as np

from venire.measures.hits import Floats, Hits, ratio

EPSILON = 1e-5


def bpref(hits: Hits, *, rel: int) -> Floats:
    """Bpref: 1/R sum over found relevant documents of 1 - min(n, R) / min(N, R).

    n judged non-relevant documents stand above it, N are in the qrels; the term is 1 where
    n = 0. Buckley and Voorhees, SIGIR 2004, as trec_eval computes it.
    """
    relevant = hits.grade >= rel
    other = (hits.grade >= 0) & ~relevant
    total = hits.per_topic(hits.judged.relevant(rel))
    judged = hits.judged
    others = hits.per_topic(judged.count((judged.grade >= 0) & (judged.grade < rel)))
    above = np.minimum(hits.running(other), total[hits.segment])
    below = np.minimum(others, total)[hits.segment]
    term = 1.0 - ratio(above.astype(np.float64), below)
    return ratio(hits.sum(term, relevant), total)


def inferred_ap(hits: Hits, *, rel: int) -> Floats:
    """infAP: average precision estimated from a random sample of the pool.

    At a relevant document with j documents above it: 1/(j+1) + j/(j+1) * (pooled above / j)
    * (relevant above + e) / (judged above + 2e). Yilmaz and Aslam, CIKM 2006.
    """
    relevant = hits.grade >= rel
    before = hits.rank - 1.0
    found = hits.running(relevant) - 1.0
    other = hits.running((hits.grade >= 0) & ~relevant)
    unjudged = hits.running(hits.grade < 0)
    share = (found + EPSILON) / (found + other + 2.0 * EPSILON)
    value = (1.0 + (found + other + unjudged) * share) / (before + 1.0)
    value = np.where(before == 0, 1.0, value)
    return ratio(hits.sum(value, relevant), hits.per_topic(hits.judged.relevant(rel)))


def judged_share(hits: Hits, *, cutoff: int | None) -> Floats:
    """Judged@k: share of the first k retrieved documents that have a grade.

    A pair that stands in the qrels without a grade (-1) is not judged.
    """
    seen = hits.retrieved.astype(np.float64)
    if cutoff is not None:
        seen = np.minimum(seen, cutoff)
    mask = hits.within(hits.grade >= 0, cutoff)
    return ratio(hits.sum(np.ones(mask.size), mask), seen)


def unjudged_share(hits: Hits, *, cutoff: int | None) -> Floats:
    """Unjudged@k: 1 - Judged@k where something was retrieved."""
    share = 1.0 - judged_share(hits, cutoff=cutoff)
    return np.where(hits.retrieved > 0, share, 0.0)
