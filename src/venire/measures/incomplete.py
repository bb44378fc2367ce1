"""Measures for incomplete judgments: Bpref, infAP, Judged, Unjudged."""

from __future__ import annotations

import numpy as np

from venire.arrays import Floats
from venire.measures.family import CUTOFF, REL, SAMPLE, Family
from venire.measures.hits import Hits, ratio

EPSILON = 1e-5
"""Smoothing of the estimated share of relevant documents; the value of trec_eval."""


def bpref(hits: Hits, *, rel: int) -> Floats:
    """Bpref: 1/R sum over retrieved relevant documents of 1 - min(n, R) / min(N, R).

    n judged non-relevant documents are ranked above it, N are in the qrels; the term is 1 if
    n = 0.
    """
    relevant = hits.grade >= rel
    other = (hits.grade >= 0) & ~relevant
    total = hits.repeat_for_runs(hits.judged.count_relevant(rel))
    judged = hits.judged
    others = hits.repeat_for_runs(judged.count((judged.grade >= 0) & (judged.grade < rel)))
    above = np.minimum(hits.count_up_to(other), total[hits.segment])
    most = np.minimum(others, total)[hits.segment]
    term = 1.0 - ratio(above.astype(np.float64), most)
    return ratio(hits.sum(term, relevant), total)


def inferred_ap(hits: Hits, *, rel: int) -> Floats:
    """infAP: average precision estimated from a random sample of the pool.

    At a relevant document with j documents above it: 1/(j+1) + j/(j+1) * (pooled above / j)
    * (relevant above + e) / (judged above + 2e).
    """
    relevant = hits.grade >= rel
    before = hits.rank - 1.0
    relevant_above = hits.count_up_to(relevant) - 1.0
    other = hits.count_up_to((hits.grade >= 0) & ~relevant)
    unjudged = hits.count_up_to(hits.grade < 0)
    share = (relevant_above + EPSILON) / (relevant_above + other + 2.0 * EPSILON)
    value = (1.0 + (relevant_above + other + unjudged) * share) / (before + 1.0)
    value = np.where(before == 0, 1.0, value)
    total = hits.repeat_for_runs(hits.judged.count_relevant(rel))
    return ratio(hits.sum(value, relevant), total)


def judged_share(hits: Hits, *, cutoff: int | None) -> Floats:
    """Judged@k: share of the first k retrieved documents that have a grade.

    A pair in the qrels without a grade (-1) is not judged.
    """
    seen = hits.retrieved.astype(np.float64)
    if cutoff is not None:
        seen = np.minimum(seen, cutoff)
    mask = hits.cut(hits.grade >= 0, cutoff)
    return ratio(hits.sum(np.ones(mask.size), mask), seen)


def unjudged_share(hits: Hits, *, cutoff: int | None) -> Floats:
    """Unjudged@k: 1 - Judged@k if something was retrieved, else 0."""
    share = 1.0 - judged_share(hits, cutoff=cutoff)
    return np.where(hits.retrieved > 0, share, 0.0)


BPREF = Family(
    name="Bpref",
    function=bpref,
    parameters=(REL,),
    skips_unjudged=True,
    source="Buckley and Voorhees, SIGIR 2004; trec_eval: bpref",
    aliases=("BPref",),
)
INF_AP = Family(
    name="infAP",
    function=inferred_ap,
    parameters=(REL,),
    needs=(SAMPLE,),
    source="Yilmaz and Aslam, CIKM 2006; trec_eval: infAP",
)
JUDGED = Family(
    name="Judged",
    function=judged_share,
    cutoff=CUTOFF,
    skips_unjudged=True,
    source="ir_measures: Judged",
)
UNJUDGED = Family(
    name="Unjudged",
    function=unjudged_share,
    cutoff=CUTOFF,
    skips_unjudged=True,
    source="1 - Judged",
)
