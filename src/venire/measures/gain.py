"""Graded gains: nDCG and ERR."""

from __future__ import annotations

import numpy as np

from venire.errors import BadSetting, DataError
from venire.measures.hits import Floats, Hits, Longs, ratio

DCG = ("log2", "exp-log2")


MOST = 50
"""Largest grade that 2^grade is taken of: past it a double cannot tell 2^grade - 1 from 2^grade."""


def _gain(grade: Longs, dcg: str) -> Floats:
    positive = np.maximum(grade, 0).astype(np.float64)
    return positive if dcg == "log2" else _power(grade)


def _power(grade: Longs) -> Floats:
    """Return 2^grade - 1, 0 for a negative grade."""
    highest = int(grade.max(initial=0))
    if highest > MOST:
        raise DataError(
            f"there is a grade {highest}, and 2^grade is only taken up to {MOST}; "
            "nDCG takes the grade itself for the gain"
        )
    power: Floats = np.exp2(np.maximum(grade, 0)) - 1.0
    return power


def ndcg(hits: Hits, *, dcg: str, cutoff: int | None, judged_only: bool) -> Floats:
    """nDCG: gain over log2(rank + 1), divided by that of the ideal order of all judged grades.

    ``dcg="log2"`` takes the grade as the gain, as trec_eval; ``"exp-log2"`` 2^grade - 1. A
    negative grade gains 0. Jaervelin and Kekaelaeinen, ACM TOIS 20 (2002).
    """
    if dcg not in DCG:
        raise BadSetting(f"dcg is one of {', '.join(DCG)}, not {dcg!r}")
    ranks = hits.ranks(judged_only=judged_only)
    found = hits.within(hits.grade > 0, cutoff, ranks)
    value = hits.sum(_gain(hits.grade, dcg) / np.log2(ranks + 1.0), found)
    judged = hits.judged
    inside = judged.grade > 0
    if cutoff is not None:
        inside &= judged.position <= cutoff
    best = np.bincount(
        judged.topic[inside],
        weights=(_gain(judged.grade, dcg) / np.log2(judged.position + 1.0))[inside],
        minlength=judged.topics,
    ).astype(np.float64)
    return ratio(value, hits.per_topic(best))


def expected_reciprocal_rank(hits: Hits, *, cutoff: int | None, highest: int) -> Floats:
    """ERR: sum over ranks of 1/rank P(the user stops there).

    The chance to be satisfied is (2^grade - 1) / 2^highest; gdeval, and so ir_measures,
    takes 4 for the highest grade. Chapelle et al., CIKM 2009.
    """
    top = max(highest, int(hits.judged.grade.max(initial=0)))
    _power(hits.judged.grade)
    stop = _power(hits.grade) / 2.0**top
    goes_on = np.cumsum(np.log1p(-stop))
    # What the user went on past before this document, in this segment alone.
    before = goes_on - np.log1p(-stop)
    start = np.searchsorted(hits.segment, np.arange(hits.segments))
    offset = np.concatenate([[0.0], goes_on])[start]
    reach = np.exp(before - offset[hits.segment])
    return hits.sum(stop * reach / hits.rank, hits.within(stop > 0, cutoff))
