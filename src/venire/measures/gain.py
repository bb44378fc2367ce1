"""Graded gains: nDCG and ERR."""

from __future__ import annotations

import numpy as np

from venire.arrays import Floats, Longs
from venire.errors import DataError
from venire.measures.family import CUTOFF, JUDGED_ONLY, Family
from venire.measures.hits import Hits, ratio
from venire.settings import Rule

MOST_GRADE = 50
"""Largest grade whose 2^grade is computed: above it, doubles cannot tell 2^grade - 1 and 2^grade
apart."""
DCG = Rule(
    name="dcg",
    type=str,
    default="log2",
    choices=("log2", "exp-log2"),
    words="Gain of a document: 'log2' takes the grade, as trec_eval; 'exp-log2' 2^grade - 1.",
)
HIGHEST = Rule(
    name="highest",
    type=int,
    default=4,
    least=1,
    most=MOST_GRADE,
    words="Highest grade of the scale; 4 as in gdeval and ir_measures.",
)


def ndcg(hits: Hits, *, dcg: str, cutoff: int | None, judged_only: bool) -> Floats:
    """nDCG: gain over log2(rank + 1), divided by that of the ideal order of all judged grades.

    ``dcg="log2"`` takes the grade as the gain, as trec_eval; ``"exp-log2"`` 2^grade - 1. A
    negative grade gains 0.
    """
    ranks = hits.select_ranks(judged_only=judged_only)
    gaining = hits.cut(hits.grade > 0, cutoff, ranks)
    # Ranks among the judged documents begin at 0 for documents without a grade, which gain nothing.
    value = hits.sum(_gain(hits.grade, dcg) / np.log2(np.maximum(ranks, 1) + 1.0), gaining)
    judged = hits.judged
    inside = judged.grade > 0
    if cutoff is not None:
        inside &= judged.position <= cutoff
    ideal = np.bincount(
        judged.topic[inside],
        weights=(_gain(judged.grade, dcg) / np.log2(judged.position + 1.0))[inside],
        minlength=judged.topics,
    ).astype(np.float64)
    return ratio(value, hits.repeat_for_runs(ideal))


def expected_reciprocal_rank(hits: Hits, *, cutoff: int | None, highest: int) -> Floats:
    """ERR: sum over ranks of 1/rank P(the user stops there).

    The user is satisfied with probability (2^grade - 1) / 2^highest; gdeval, and so ir_measures,
    takes 4 as the highest grade. Refused, as by gdeval, where a grade of the qrels is higher.
    """
    _power_gain(hits.judged.grade)
    top = int(hits.judged.grade.max(initial=0))
    if top > highest:
        raise DataError(
            f"the qrels have grade {top}, and ERR takes {highest} for the highest of the scale",
            hint=f"Write ERR(highest={top}).",
            code="grade-above-highest",
        )
    stop = _power_gain(hits.grade) / 2.0**highest
    # Logarithm of the probability that the user passes all documents before this one; the sum
    # runs over all segments, so what was accumulated before the segment is subtracted.
    passed = np.cumsum(np.log1p(-stop))
    before = passed - np.log1p(-stop)
    start = np.searchsorted(hits.segment, np.arange(hits.segments))
    offset = np.concatenate([[0.0], passed])[start]
    reach = np.exp(before - offset[hits.segment])
    return hits.sum(stop * reach / hits.rank, hits.cut(stop > 0, cutoff))


def _gain(grade: Longs, dcg: str) -> Floats:
    positive = np.maximum(grade, 0).astype(np.float64)
    return positive if dcg == "log2" else _power_gain(grade)


def _power_gain(grade: Longs) -> Floats:
    """Return 2^grade - 1, 0 for a negative grade."""
    highest = int(grade.max(initial=0))
    if highest > MOST_GRADE:
        raise DataError(
            f"2^grade is computed for grades up to {MOST_GRADE} (got {highest})",
            hint="Use nDCG, which takes the grade itself as the gain.",
        )
    gain: Floats = np.exp2(np.maximum(grade, 0)) - 1.0
    return gain


NDCG = Family(
    name="nDCG",
    function=ndcg,
    parameters=(DCG, JUDGED_ONLY),
    cutoff=CUTOFF,
    source="Jaervelin and Kekaelaeinen, ACM TOIS 20 (2002); trec_eval: ndcg, ndcg_cut",
    aliases=("NDCG",),
)
ERR = Family(
    name="ERR",
    function=expected_reciprocal_rank,
    parameters=(HIGHEST,),
    cutoff=CUTOFF,
    source="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; gdeval: err",
)
