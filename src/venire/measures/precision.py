"""Counts of relevant documents: P, R, Rprec, Success, RR, IPrec, SetP, SetR, SetF and totals."""

from __future__ import annotations

import numpy as np

from venire.measures.hits import Floats, Hits, Longs, Mask, ratio


def _relevant(hits: Hits, rel: int, *, judged_only: bool) -> tuple[Mask, Longs]:
    return hits.grade >= rel, hits.ranks(judged_only=judged_only)


def _found(hits: Hits, rel: int, cutoff: int | None, *, judged_only: bool = False) -> Floats:
    mask, ranks = _relevant(hits, rel, judged_only=judged_only)
    return hits.sum(np.ones(mask.size), hits.within(mask, cutoff, ranks))


def precision(hits: Hits, *, rel: int, cutoff: int | None, judged_only: bool) -> Floats:
    """P@k: relevant documents in the first k, over k, also where fewer were retrieved."""
    if cutoff is None:
        return set_precision(hits, rel=rel)
    return _found(hits, rel, cutoff, judged_only=judged_only) / cutoff


def recall(hits: Hits, *, rel: int, cutoff: int | None, judged_only: bool) -> Floats:
    """R@k: relevant documents in the first k, over all relevant documents."""
    below = hits.per_topic(hits.judged.relevant(rel))
    return ratio(_found(hits, rel, cutoff, judged_only=judged_only), below)


def r_precision(hits: Hits, *, rel: int, judged_only: bool) -> Floats:
    """Rprec: precision at rank R, the number of relevant documents of the topic."""
    mask, ranks = _relevant(hits, rel, judged_only=judged_only)
    total = hits.per_topic(hits.judged.relevant(rel))
    return ratio(hits.sum(np.ones(mask.size), mask & (ranks <= total[hits.segment])), total)


def success(hits: Hits, *, rel: int, cutoff: int | None, judged_only: bool) -> Floats:
    """Success@k: 1 if a relevant document is in the first k."""
    found = _found(hits, rel, cutoff, judged_only=judged_only)
    return (found > 0).astype(np.float64)


def reciprocal_rank(hits: Hits, *, rel: int, cutoff: int | None, judged_only: bool) -> Floats:
    """RR: 1 over the rank of the first relevant document; 0 if there is none (in the first k)."""
    mask, ranks = _relevant(hits, rel, judged_only=judged_only)
    first = hits.within(mask, cutoff, ranks) & (hits.running(mask) == 1)
    return hits.sum(1.0 / np.maximum(ranks, 1), first)


def interpolated(hits: Hits, *, rel: int, recall: float, judged_only: bool) -> Floats:
    """IPrec@r: the largest precision at any recall of at least r.

    As trec_eval 10: at least r R relevant documents, rounded half up, and at least 1.
    """
    mask, ranks = _relevant(hits, rel, judged_only=judged_only)
    total = hits.per_topic(hits.judged.relevant(rel))
    needed = np.maximum(np.floor(recall * total + 0.5), 1.0)
    so_far = hits.running(mask)
    at = mask & (so_far >= needed[hits.segment])
    out = np.zeros(hits.segments)
    np.maximum.at(out, hits.segment[at], so_far[at] / ranks[at])
    return out


def set_precision(hits: Hits, *, rel: int) -> Floats:
    """SetP: relevant documents over all that were retrieved."""
    return ratio(_found(hits, rel, None), hits.retrieved.astype(np.float64))


def set_recall(hits: Hits, *, rel: int) -> Floats:
    """SetR: relevant documents retrieved over all relevant documents."""
    return recall(hits, rel=rel, cutoff=None, judged_only=False)


def set_f(hits: Hits, *, rel: int, beta: float) -> Floats:
    """SetF: (1 + b^2) P R / (b^2 P + R)."""
    p, r = set_precision(hits, rel=rel), set_recall(hits, rel=rel)
    return ratio((1.0 + beta**2) * p * r, beta**2 * p + r)


def retrieved(hits: Hits, *, rel: int | None) -> Floats:
    """NumRet: documents retrieved; NumRet(rel=1): those that are relevant."""
    return hits.retrieved.astype(np.float64) if rel is None else _found(hits, rel, None)


def relevant(hits: Hits, *, rel: int) -> Floats:
    """NumRel: relevant documents of the topic."""
    return hits.per_topic(hits.judged.relevant(rel))
