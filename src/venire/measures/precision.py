"""Counts of relevant documents: P, R, Rprec, Success, RR, IPrec, SetP, SetR, SetF and totals."""

from __future__ import annotations

from dataclasses import MISSING

import numpy as np

from venire.arrays import Floats, Longs, Mask
from venire.measures.family import CUTOFF, JUDGED_ONLY, NEEDED_CUTOFF, REL, Family
from venire.measures.hits import Hits, ratio
from venire.settings import Rule

RECALL = Rule(
    name="recall",
    type=float,
    default=MISSING,
    least=0,
    most=1,
    words="Share of the relevant documents that must be retrieved.",
)
BETA = Rule(
    name="beta", type=float, default=1.0, above=0, words="Weight of recall against precision."
)
COUNTED_REL = Rule(
    name="rel",
    type=int,
    optional=True,
    default=None,
    words="Smallest grade that is counted; all documents by default.",
)


def precision(hits: Hits, *, rel: int, cutoff: int | None, judged_only: bool) -> Floats:
    """P@k: relevant documents in the first k, over k, also if fewer were retrieved."""
    if cutoff is None:
        return set_precision(hits, rel=rel)
    return _count_hits(hits, rel, cutoff, judged_only=judged_only) / cutoff


def recall(hits: Hits, *, rel: int, cutoff: int | None, judged_only: bool) -> Floats:
    """R@k: relevant documents in the first k, over all relevant documents."""
    total = hits.repeat_for_runs(hits.judged.count_relevant(rel))
    return ratio(_count_hits(hits, rel, cutoff, judged_only=judged_only), total)


def r_precision(hits: Hits, *, rel: int, judged_only: bool) -> Floats:
    """Rprec: precision at rank R, the number of relevant documents of the topic."""
    mask, ranks = _mark_relevant(hits, rel, judged_only=judged_only)
    total = hits.repeat_for_runs(hits.judged.count_relevant(rel))
    return ratio(hits.sum(np.ones(mask.size), mask & (ranks <= total[hits.segment])), total)


def success(hits: Hits, *, rel: int, cutoff: int | None, judged_only: bool) -> Floats:
    """Success@k: 1 if a relevant document is in the first k."""
    number = _count_hits(hits, rel, cutoff, judged_only=judged_only)
    return (number > 0).astype(np.float64)


def reciprocal_rank(hits: Hits, *, rel: int, cutoff: int | None, judged_only: bool) -> Floats:
    """RR: 1 over the rank of the first relevant document; 0 if there is none (in the first k)."""
    mask, ranks = _mark_relevant(hits, rel, judged_only=judged_only)
    first = hits.cut(mask, cutoff, ranks) & (hits.count_up_to(mask) == 1)
    return hits.sum(1.0 / np.maximum(ranks, 1), first)


def interpolated_precision(hits: Hits, *, rel: int, recall: float, judged_only: bool) -> Floats:
    """IPrec@r: the largest precision at any recall of at least r.

    As trec_eval 10: at least r R relevant documents, rounded half up, and at least 1.
    """
    mask, ranks = _mark_relevant(hits, rel, judged_only=judged_only)
    total = hits.repeat_for_runs(hits.judged.count_relevant(rel))
    needed = np.maximum(np.floor(recall * total + 0.5), 1.0)
    so_far = hits.count_up_to(mask)
    enough = mask & (so_far >= needed[hits.segment])
    largest = np.zeros(hits.segments)
    np.maximum.at(largest, hits.segment[enough], so_far[enough] / ranks[enough])
    return largest


def set_precision(hits: Hits, *, rel: int) -> Floats:
    """SetP: relevant documents over all retrieved documents."""
    return ratio(_count_hits(hits, rel, None), hits.retrieved.astype(np.float64))


def set_recall(hits: Hits, *, rel: int) -> Floats:
    """SetR: relevant documents retrieved, over all relevant documents."""
    return recall(hits, rel=rel, cutoff=None, judged_only=False)


def set_f(hits: Hits, *, rel: int, beta: float) -> Floats:
    """SetF: (1 + b^2) P R / (b^2 P + R)."""
    p, r = set_precision(hits, rel=rel), set_recall(hits, rel=rel)
    return ratio((1.0 + beta**2) * p * r, beta**2 * p + r)


def count_retrieved(hits: Hits, *, rel: int | None) -> Floats:
    """NumRet: documents retrieved; NumRet(rel=1): relevant documents retrieved."""
    return hits.retrieved.astype(np.float64) if rel is None else _count_hits(hits, rel, None)


def count_topics(hits: Hits) -> Floats:
    """NumQ: 1 for each topic, so that the sum is the number of topics scored."""
    return np.ones(hits.segments)


def count_relevant(hits: Hits, *, rel: int) -> Floats:
    """NumRel: relevant documents of the topic."""
    return hits.repeat_for_runs(hits.judged.count_relevant(rel))


def _mark_relevant(hits: Hits, rel: int, *, judged_only: bool) -> tuple[Mask, Longs]:
    return hits.grade >= rel, hits.select_ranks(judged_only=judged_only)


def _count_hits(hits: Hits, rel: int, cutoff: int | None, *, judged_only: bool = False) -> Floats:
    mask, ranks = _mark_relevant(hits, rel, judged_only=judged_only)
    return hits.sum(np.ones(mask.size), hits.cut(mask, cutoff, ranks))


P = Family(
    name="P",
    function=precision,
    parameters=(REL, JUDGED_ONLY),
    cutoff=NEEDED_CUTOFF,
    source="trec_eval: P",
    aliases=("Precision",),
)
R = Family(
    name="R",
    function=recall,
    parameters=(REL, JUDGED_ONLY),
    cutoff=NEEDED_CUTOFF,
    source="trec_eval: recall",
    aliases=("Recall",),
)
R_PREC = Family(
    name="Rprec",
    function=r_precision,
    parameters=(REL, JUDGED_ONLY),
    source="trec_eval: Rprec",
    aliases=("RPrec",),
)
RR = Family(
    name="RR",
    function=reciprocal_rank,
    parameters=(REL, JUDGED_ONLY),
    cutoff=CUTOFF,
    source="trec_eval: recip_rank",
    aliases=("MRR",),
)
SUCCESS = Family(
    name="Success",
    function=success,
    parameters=(REL, JUDGED_ONLY),
    cutoff=NEEDED_CUTOFF,
    source="trec_eval: success",
)
I_PREC = Family(
    name="IPrec",
    function=interpolated_precision,
    parameters=(REL, JUDGED_ONLY),
    cutoff=RECALL,
    source="trec_eval 10: iprec_at_recall",
)
SET_P = Family(name="SetP", function=set_precision, parameters=(REL,), source="trec_eval: set_P")
SET_R = Family(name="SetR", function=set_recall, parameters=(REL,), source="trec_eval: set_recall")
SET_F = Family(name="SetF", function=set_f, parameters=(REL, BETA), source="trec_eval: set_F")
NUM_RET = Family(
    name="NumRet",
    function=count_retrieved,
    parameters=(COUNTED_REL,),
    across_topics="sum",
    skips_unjudged=True,
    source="trec_eval: num_ret, num_rel_ret",
)
NUM_Q = Family(
    name="NumQ",
    function=count_topics,
    across_topics="sum",
    skips_unjudged=True,
    source="trec_eval: num_q",
)
NUM_REL = Family(
    name="NumRel",
    function=count_relevant,
    parameters=(REL,),
    across_topics="sum",
    source="trec_eval: num_rel",
)
