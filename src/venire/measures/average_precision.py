"""Average precision."""

from __future__ import annotations

from venire.arrays import Floats
from venire.measures.family import CUTOFF, JUDGED_ONLY, REL, Family
from venire.measures.hits import Hits, ratio


def average_precision(hits: Hits, *, rel: int, cutoff: int | None, judged_only: bool) -> Floats:
    """AP: the mean over the topic's relevant documents of the precision at each one's rank.

    A relevant document that was not retrieved (in the first k) counts 0.
    """
    mask = hits.grade >= rel
    ranks = hits.select_ranks(judged_only=judged_only)
    total = hits.repeat_for_runs(hits.judged.count_relevant(rel))
    retrieved = hits.cut(mask, cutoff, ranks)
    return ratio(hits.sum(hits.count_up_to(mask) / ranks.clip(1), retrieved), total)


AP = Family(
    name="AP",
    function=average_precision,
    parameters=(REL, JUDGED_ONLY),
    cutoff=CUTOFF,
    source="trec_eval: map, map_cut",
    aliases=("MAP",),
)
