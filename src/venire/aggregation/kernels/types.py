"""One sweep of annotator types over items: places of items, expected counts of annotators.

    q_m(t) proportional to p_t exp(sum_n E_n(r_nm, t)),
    E_n(r, t) = sum_h R_nh ln P_h(r | t)

with place t = (position z_t, difficulty d_t), annotator n, type h and item m.
"""

from __future__ import annotations

import math

import numpy as np

from venire.arrays import Floats, Ints, Longs, Mask, Shorts
from venire.compilation import jit


@jit
def score(
    first: int,
    last: int,
    annotator: Ints,
    label: Shorts,
    evidence: Floats,  # [N, label, T] E_n(r, t)
    log_prior: Floats,  # [T] ln p_t
    p: Floats,  # [T]
) -> None:
    """Fill p with the log weight of each place, ln p_t + sum_n E_n(r_nm, t)."""
    p[:] = log_prior
    for j in range(first, last):
        row = evidence[annotator[j], label[j]]
        for t in range(p.size):
            p[t] += row[t]


@jit
def normalise(low: int, high: int, p: Floats) -> float:
    """Turn log weights into probabilities of the places low..high; return the log normaliser."""
    top = p[low]
    for t in range(low, high):
        top = max(top, p[t])
    total = 0.0
    for t in range(p.size):
        p[t] = math.exp(p[t] - top) if low <= t < high else 0.0
        total += p[t]
    inverse = 1.0 / total
    for t in range(low, high):
        p[t] *= inverse
    return top + math.log(total)


@jit
def sweep(
    indptr: Longs,
    annotator: Ints,
    label: Shorts,
    start: int,
    stop: int,
    evidence: Floats,
    log_prior: Floats,
    low: Longs,  # [M] first place of each item; 0 where its grade is not known
    high: Longs,  # [M] one past its last place
) -> tuple[Floats, Floats, float]:
    """Return expected counts [N, label, T], expected places [T], sum of log normalisers.

    Counts: sum of q_m(t) over the judgments of annotator n with label r; places: sum_m q_m(t).
    """
    counts = np.zeros(evidence.shape)
    places = np.zeros(log_prior.size)
    p = np.empty(log_prior.size)
    log_normaliser = 0.0
    for m in range(start, stop):
        first = indptr[m]
        last = indptr[m + 1]
        score(first, last, annotator, label, evidence, log_prior, p)
        log_normaliser += normalise(low[m], high[m], p)
        for t in range(p.size):
            places[t] += p[t]
        for j in range(first, last):
            row = counts[annotator[j], label[j]]
            for t in range(p.size):
                row[t] += p[t]
    return counts, places, log_normaliser


@jit
def infer_grades(
    indptr: Longs,
    annotator: Ints,
    label: Shorts,
    evidence: Floats,
    log_prior: Floats,
    low: Longs,
    high: Longs,
    z: Floats,  # [T] position of each place
    d: Floats,  # [T] difficulty of each place
    grade: Longs,  # [T] of each place; on a threshold the lower one
    edge: Mask,  # [T] which places lie on a threshold
    step: int,  # number of places between neighbouring positions
    size: int,  # K
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return grades [M, K], mean and sd of the position [M], and mean difficulty [M].

    A place on a threshold stands for a cell of positions around it. The log density in the
    cell is the line through its neighbours: with weights f below and above, the upper half
    has 1 / (1 + exp((ln f_below - ln f_above) / 4)) of the mass of the cell.
    """
    n = indptr.size - 1
    grades = np.zeros((n, size))
    mean = np.zeros(n)
    sd = np.zeros(n)
    difficulty = np.zeros(n)
    p = np.empty(log_prior.size)
    log = np.empty(log_prior.size)
    for m in range(n):
        score(indptr[m], indptr[m + 1], annotator, label, evidence, log_prior, log)
        p[:] = log
        normalise(low[m], high[m], p)
        for t in range(low[m], high[m]):
            mean[m] += p[t] * z[t]
            difficulty[m] += p[t] * d[t]
            upper = 0.0
            if edge[t]:
                upper = p[t] / (1.0 + math.exp((log[t - step] - log[t + step]) / 4.0))
                grades[m, grade[t] + 1] += upper
            grades[m, grade[t]] += p[t] - upper
        for t in range(low[m], high[m]):
            sd[m] += p[t] * (z[t] - mean[m]) ** 2
        sd[m] = math.sqrt(sd[m])
    return grades, mean, sd, difficulty
