"""Measures estimated from a sample that was drawn by strata: xinfAP, infNDCG, infNumRel.

A stratum of N pool documents, n of them sampled; the others stand in the qrels with -1. A
stratum with nothing sampled counts for nothing: it is not estimated. Qrels without strata are
one stratum.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from venire.measures.hits import Floats, Hits, Longs, Mask, ratio

EPSILON = 1e-5


def extended_inferred_ap(hits: Hits, *, rel: int, corrected: bool) -> Floats:
    """xinfAP: average precision estimated from a stratified sample of the pool.

    ``1/R sum_c N_c/n_c sum prec``, over the sampled relevant documents of stratum c, with
    ``prec = 1/k + 1/k sum_c D_c (r_c + e) / (s_c + 3e)``: above rank k stand D_c documents of
    the stratum, s_c of them sampled and r_c relevant; e = 1e-5, and 3e as NIST's sample_eval has
    it. R is infNumRel. Where nothing above is sampled the share is 1/3, whatever the truth: judge
    the top of the pool wholly, or the estimate is biased there.
    Yilmaz, Kanoulas and Aslam, SIGIR 2008. ``corrected``: see :func:`corrected_ap`.
    """
    if corrected:
        return corrected_ap(hits, rel=rel)
    relevant = hits.grade >= rel
    sampled = hits.grade >= 0
    found = np.zeros(hits.grade.size)
    for inside in _strata(hits):
        above, seen, good = (
            hits.running(mask) - mask for mask in (inside, inside & sampled, inside & relevant)
        )
        found += above * (good + EPSILON) / (seen + 3 * EPSILON)
    precision = (1.0 + found) / hits.rank
    total = hits.sum(precision * _weight(hits), relevant)
    return ratio(total, estimated_relevant(hits, rel=rel))


def corrected_ap(hits: Hits, *, rel: int) -> Floats:
    """xinfAP(corrected=True): the same quantity, without the two biases of NIST's formula.

    ``(A + C/R) / (R + V/R)``. A estimates the sum of precisions without bias (Horvitz and
    Thompson 1952): each pair of relevant documents, i at rank k and j above it, counts
    ``1/k`` over the probability that both are sampled; so no share is guessed where nothing above
    was sampled. V estimates the variance of R, and C its covariance with A, which takes the bias
    of A / R from order 1/n to 1/n^2 (Beale 1962; Tin, JASA 1965; Cochran, Sampling Techniques,
    6.15). Within a stratum V is ``N (N - n) m (1 - m/n) / (n (n - 1))`` for m relevant of n.
    Two documents of a stratum are never both sampled where n = 1: their pairs go without.
    """
    relevant = hits.grade >= rel
    judged = hits.judged
    size, sampled, found = (
        _table(hits, mask)
        for mask in (judged.grade == judged.grade, judged.grade >= 0, judged.grade >= rel)
    )
    weight = ratio(size, sampled)
    own = ratio(size - 1.0, sampled - 1.0)
    share = ratio(found, sampled)
    spread = ratio(size * (size - sampled) * (1.0 - share), sampled * (sampled - 1.0))
    topic = hits.segment % max(judged.topics, 1)
    mine = weight[topic, hits.strata]
    above = np.ones(hits.grade.size)
    shared = np.zeros(hits.grade.size)
    for stratum in range(size.shape[1]):
        inside = hits.strata == stratum
        good = hits.running(inside & relevant) - (inside & relevant)
        both = own[topic, stratum]
        above += good * np.where(inside, both, weight[topic, stratum])
        shared += good * np.where(inside, both, mine) * spread[topic, stratum]
    total = hits.sum(above / hits.rank * mine, relevant)
    covariance = hits.sum((above * spread[topic, hits.strata] + shared) / hits.rank, relevant)
    number = estimated_relevant(hits, rel=rel)
    variance = hits.per_topic((spread * found).sum(axis=1))
    zero = np.zeros_like(number)
    over = np.divide(1.0, number, out=zero, where=number > 0)
    return ratio(total + covariance * over, number + variance * over)


def inferred_ndcg(hits: Hits) -> Floats:
    """infNDCG: nDCG estimated from a stratified sample of the pool.

    Gain grade / log2(rank + 1): for each stratum its mean over the sampled documents retrieved,
    times the documents of the stratum retrieved. The ideal order has as many documents of each
    grade as are estimated, to the nearest whole number, as NIST's sample_eval.
    """
    sampled = hits.grade >= 0
    gain = np.maximum(hits.grade, 0) / np.log2(hits.rank + 1.0)
    value = np.zeros(hits.segments)
    for inside in _strata(hits):
        seen = inside & sampled
        mean = ratio(hits.sum(gain, seen), hits.sum(np.ones(gain.size), seen))
        value += mean * hits.sum(np.ones(gain.size), inside)
    return ratio(value, hits.per_topic(_ideal(hits)))


def estimated_relevant(hits: Hits, *, rel: int) -> Floats:
    """infNumRel: relevant documents of the topic, estimated: sum_c m_c N_c / n_c, m_c found."""
    return hits.per_topic(_counts(hits, hits.judged.grade >= rel))


def _strata(hits: Hits) -> Iterator[Mask]:
    """Return which hits lie in each stratum."""
    for stratum in np.unique(hits.judged.strata):
        yield hits.strata == stratum


def _table(hits: Hits, mask: Mask) -> Floats:
    """Return how many pairs of a mask each topic has in each stratum [T, strata]."""
    judged = hits.judged
    width = int(judged.strata.max(initial=0)) + 1
    cell = (judged.topic * width + judged.strata)[mask]
    counts = np.bincount(cell, minlength=judged.topics * width)
    return counts.reshape(judged.topics, width).astype(np.float64)


def _cells(hits: Hits) -> tuple[Longs, Floats]:
    """Return the cell (topic and stratum) of each judged pair, and N / n of each cell."""
    judged = hits.judged
    width = int(judged.strata.max(initial=0)) + 1
    cell = judged.topic * width + judged.strata
    size = np.bincount(cell, minlength=judged.topics * width).astype(np.float64)
    sampled = np.bincount(cell[judged.grade >= 0], minlength=size.size).astype(np.float64)
    return cell, ratio(size, sampled)


def _counts(hits: Hits, mask: Mask) -> Floats:
    """Return the estimated number of the pairs of each topic in a mask of sampled ones [T]."""
    cell, weight = _cells(hits)
    judged = hits.judged
    counts = np.bincount(
        judged.topic[mask], weights=weight[cell[mask]], minlength=judged.topics
    ).astype(np.float64)
    return counts


def _weight(hits: Hits) -> Floats:
    """Return N / n of the stratum of each hit [H]."""
    _, weight = _cells(hits)
    width = int(hits.judged.strata.max(initial=0)) + 1
    topic = hits.segment % max(hits.judged.topics, 1)
    of_hits: Floats = weight[topic * width + hits.strata]
    return of_hits


def _ideal(hits: Hits) -> Floats:
    """Return the gain of the ideal order of each topic [T]."""
    judged = hits.judged
    grades = np.unique(judged.grade[judged.grade > 0])[::-1]
    counts = [
        np.floor(_counts(hits, judged.grade == grade) + 0.5).astype(np.int64) for grade in grades
    ]
    longest = int(np.sum(counts, axis=0).max()) if counts else 0
    summed = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(longest) + 2.0))])
    best = np.zeros(judged.topics)
    place = np.zeros(judged.topics, np.int64)
    for grade, count in zip(grades, counts, strict=True):
        best += grade * (summed[place + count] - summed[place])
        place += count
    return best
