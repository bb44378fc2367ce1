"""Average precision."""

from __future__ import annotations

from venire.measures.hits import Floats, Hits, ratio


def average_precision(hits: Hits, *, rel: int, cutoff: int | None, judged_only: bool) -> Floats:
    """AP: the mean over the topic's relevant documents of the precision where each is found.

    A relevant document that was not retrieved (in the first k) counts 0.
    """
    mask = hits.grade >= rel
    ranks = hits.ranks(judged_only=judged_only)
    total = hits.per_topic(hits.judged.relevant(rel))
    found = hits.within(mask, cutoff, ranks)
    return ratio(hits.sum(hits.running(mask) / ranks.clip(1), found), total)
