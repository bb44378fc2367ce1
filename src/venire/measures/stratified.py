"""Measures estimated from a stratified sample: xinfAP, infNDCG, infNumRel.

A stratum has N pool documents, n of them sampled; the others are in the qrels with -1. A stratum
without sampled documents is not estimated and adds 0. Qrels without strata are one stratum.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from venire.arrays import Floats, Longs, Mask
from venire.measures.family import REL, SAMPLE, STRATA, Family
from venire.measures.hits import Hits, ratio
from venire.settings import Rule

EPSILON = 1e-5
"""Smoothing of the estimated share of relevant documents; the value of NIST's sample_eval."""
CORRECTED = Rule(
    name="corrected",
    type=bool,
    default=False,
    words="Estimate without the two biases of NIST's formula.",
)


def extended_inferred_ap(hits: Hits, *, rel: int, corrected: bool) -> Floats:
    """xinfAP: average precision estimated from a stratified sample of the pool.

    ``1/R sum_c N_c/n_c sum prec``, over the sampled relevant documents of stratum c, with
    ``prec = 1/k + 1/k sum_c D_c (r_c + e) / (s_c + 3e)``: above rank k are D_c documents of the
    stratum, s_c of them sampled and r_c relevant; e = 1e-5, and 3e as in NIST's sample_eval. R is
    infNumRel. If nothing above is sampled, the share is 1/3, whatever the truth: judge the top of
    the pool completely, or the estimate is biased there. ``corrected``: see :func:`corrected_ap`.
    """
    if corrected:
        return corrected_ap(hits, rel=rel)
    relevant = hits.grade >= rel
    sampled = hits.grade >= 0
    relevant_above = np.zeros(hits.grade.size)
    for inside in _strata_masks(hits):
        above, sampled_above, relevant_sampled = (
            hits.count_up_to(mask) - mask for mask in (inside, inside & sampled, inside & relevant)
        )
        relevant_above += above * (relevant_sampled + EPSILON) / (sampled_above + 3 * EPSILON)
    precision = (1.0 + relevant_above) / hits.rank
    total = hits.sum(precision * _weigh_hits(hits), relevant)
    return ratio(total, estimate_relevant(hits, rel=rel))


def corrected_ap(hits: Hits, *, rel: int) -> Floats:
    """xinfAP(corrected=True): the same quantity, without the two biases of NIST's formula.

    ``(A + C/R) / (R + V/R)``. A estimates the sum of precisions without bias (Horvitz and
    Thompson 1952): each pair of relevant documents, i at rank k and j above it, counts
    ``1/k`` over the probability that both are sampled. So no share has to be assumed if nothing
    above was sampled. V estimates the variance of R, and C its covariance with A, which reduces
    the bias of A / R from order 1/n to 1/n^2 (Beale 1962; Tin, JASA 1965; Cochran, Sampling
    Techniques, 6.15). Within a stratum V is ``N (N - n) m (1 - m/n) / (n (n - 1))`` for m relevant
    of n. If n = 1, two documents of a stratum are never both sampled: their pairs add 0.
    """
    relevant = hits.grade >= rel
    judged = hits.judged
    size, sampled, relevant_sampled = (
        _tabulate(hits, mask)
        for mask in (judged.grade == judged.grade, judged.grade >= 0, judged.grade >= rel)
    )
    weight = ratio(size, sampled)
    weight_within = ratio(size - 1.0, sampled - 1.0)
    share = ratio(relevant_sampled, sampled)
    spread = ratio(size * (size - sampled) * (1.0 - share), sampled * (sampled - 1.0))
    topic = hits.segment % max(judged.topics, 1)
    own_weight = weight[topic, hits.strata]
    above = np.ones(hits.grade.size)
    shared = np.zeros(hits.grade.size)
    for stratum in range(size.shape[1]):
        inside = hits.strata == stratum
        n_above = hits.count_up_to(inside & relevant) - (inside & relevant)
        pair_weight = weight_within[topic, stratum]
        above += n_above * np.where(inside, pair_weight, weight[topic, stratum])
        shared += n_above * np.where(inside, pair_weight, own_weight) * spread[topic, stratum]
    total = hits.sum(above / hits.rank * own_weight, relevant)
    covariance = hits.sum((above * spread[topic, hits.strata] + shared) / hits.rank, relevant)
    number = estimate_relevant(hits, rel=rel)
    variance = hits.repeat_for_runs((spread * relevant_sampled).sum(axis=1))
    zero = np.zeros_like(number)
    over = np.divide(1.0, number, out=zero, where=number > 0)
    return ratio(total + covariance * over, number + variance * over)


def inferred_ndcg(hits: Hits) -> Floats:
    """infNDCG: nDCG estimated from a stratified sample of the pool.

    Gain grade / log2(rank + 1): per stratum, its mean over the sampled documents retrieved, times
    the number of documents of the stratum retrieved. The ideal order has the estimated number of
    documents of each grade, rounded to a whole number, as in NIST's sample_eval.
    """
    sampled = hits.grade >= 0
    gain = np.maximum(hits.grade, 0) / np.log2(hits.rank + 1.0)
    value = np.zeros(hits.segments)
    for inside in _strata_masks(hits):
        seen = inside & sampled
        mean = ratio(hits.sum(gain, seen), hits.sum(np.ones(gain.size), seen))
        value += mean * hits.sum(np.ones(gain.size), inside)
    return ratio(value, hits.repeat_for_runs(_ideal_gain(hits)))


def estimate_relevant(hits: Hits, *, rel: int) -> Floats:
    """infNumRel: relevant documents of the topic, estimated as sum_c m_c N_c / n_c."""
    return hits.repeat_for_runs(_estimate_count(hits, hits.judged.grade >= rel))


def _strata_masks(hits: Hits) -> Iterator[Mask]:
    """Yield, per stratum, the mask of its documents [H]."""
    for stratum in np.unique(hits.judged.strata):
        yield hits.strata == stratum


def _tabulate(hits: Hits, mask: Mask) -> Floats:
    """Count the pairs of a mask per topic and stratum [T, strata]."""
    judged = hits.judged
    width = int(judged.strata.max(initial=0)) + 1
    cell = (judged.topic * width + judged.strata)[mask]
    counts = np.bincount(cell, minlength=judged.topics * width)
    return counts.reshape(judged.topics, width).astype(np.float64)


def _weigh_cells(hits: Hits) -> tuple[Longs, Floats]:
    """Return the cell (topic and stratum) of each judged pair [Q], and N / n of each cell."""
    judged = hits.judged
    width = int(judged.strata.max(initial=0)) + 1
    cell = judged.topic * width + judged.strata
    size = np.bincount(cell, minlength=judged.topics * width).astype(np.float64)
    sampled = np.bincount(cell[judged.grade >= 0], minlength=size.size).astype(np.float64)
    return cell, ratio(size, sampled)


def _estimate_count(hits: Hits, mask: Mask) -> Floats:
    """Estimate the number of pairs per topic from a mask of sampled pairs [T]."""
    cell, weight = _weigh_cells(hits)
    judged = hits.judged
    counts = np.bincount(
        judged.topic[mask], weights=weight[cell[mask]], minlength=judged.topics
    ).astype(np.float64)
    return counts


def _weigh_hits(hits: Hits) -> Floats:
    """Return N / n of the stratum of each document [H]."""
    _, weight = _weigh_cells(hits)
    width = int(hits.judged.strata.max(initial=0)) + 1
    topic = hits.segment % max(hits.judged.topics, 1)
    of_hits: Floats = weight[topic * width + hits.strata]
    return of_hits


def _ideal_gain(hits: Hits) -> Floats:
    """Return the discounted gain of the ideal order of each topic [T]."""
    judged = hits.judged
    grades = np.unique(judged.grade[judged.grade > 0])[::-1]
    counts = [
        np.floor(_estimate_count(hits, judged.grade == grade) + 0.5).astype(np.int64)
        for grade in grades
    ]
    longest = int(np.sum(counts, axis=0).max()) if counts else 0
    summed = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(longest) + 2.0))])
    best = np.zeros(judged.topics)
    place = np.zeros(judged.topics, np.int64)
    for grade, count in zip(grades, counts, strict=True):
        best += grade * (summed[place + count] - summed[place])
        place += count
    return best


X_INF_AP = Family(
    name="xinfAP",
    function=extended_inferred_ap,
    parameters=(REL, CORRECTED),
    needs=(SAMPLE, STRATA),
    source="Yilmaz, Kanoulas and Aslam, SIGIR 2008; NIST's sample_eval: infAP",
)
INF_NDCG = Family(
    name="infNDCG",
    function=inferred_ndcg,
    needs=(SAMPLE, STRATA),
    source="Yilmaz, Kanoulas and Aslam, SIGIR 2008; NIST's sample_eval: infNDCG",
)
INF_NUM_REL = Family(
    name="infNumRel",
    function=estimate_relevant,
    parameters=(REL,),
    across_topics="sum",
    needs=(SAMPLE, STRATA),
    source="Horvitz and Thompson, JASA 47 (1952); NIST's sample_eval",
)
