"""One sweep of annotator types over items: where each item lies, and what that says of people."""

from __future__ import annotations

import math

import numpy as np

from venire.arrays import Floats, Ints, Longs, Mask, Shorts
from venire.compilation import jit


@jit
def scores(
    first: int,
    last: int,
    annotator: Ints,
    label: Shorts,
    evidence: Floats,  # [N, label, T] expected log chance of the label at each place
    log_prior: Floats,  # [T]
    p: Floats,  # [T]
) -> None:
    """Fill p with the log weight of each place."""
    p[:] = log_prior
    for j in range(first, last):
        row = evidence[annotator[j], label[j]]
        for t in range(p.size):
            p[t] += row[t]


@jit
def normalise(low: int, high: int, p: Floats) -> float:
    """Turn log weights into the probability of each place low..high; return the log normaliser."""
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
    low: Longs,  # [M] first place an item may be at; 0 where its grade is not known
    high: Longs,  # [M] past the last
) -> tuple[Floats, Floats, float]:
    """Return expected counts [N, label, T], expected places [T], sum of log normalisers."""
    counts = np.zeros(evidence.shape)
    taken = np.zeros(log_prior.size)
    p = np.empty(log_prior.size)
    bound = 0.0
    for m in range(start, stop):
        first = indptr[m]
        last = indptr[m + 1]
        scores(first, last, annotator, label, evidence, log_prior, p)
        bound += normalise(low[m], high[m], p)
        for t in range(p.size):
            taken[t] += p[t]
        for j in range(first, last):
            row = counts[annotator[j], label[j]]
            for t in range(p.size):
                row[t] += p[t]
    return counts, taken, bound


@jit
def posterior(
    indptr: Longs,
    annotator: Ints,
    label: Shorts,
    evidence: Floats,
    log_prior: Floats,
    low: Longs,
    high: Longs,
    points: Floats,  # [T] position of each place
    factor: Floats,  # [T] difficulty of each place
    grade: Longs,  # [T] of each place; the lower one on a threshold
    edge: Mask,  # [T] which places lie on a threshold
    step: int,  # places between a position and the next
    size: int,  # K
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return grades [M, K], mean and sd of the position [M], and mean difficulty [M].

    A place on a threshold stands for a cell of positions about it, in which the log density
    is taken for the line through its neighbours: with weights f below and above, the upper
    part has 1 / (1 + exp((ln f_below - ln f_above) / 4)) of the cell's mass.
    """
    n = indptr.size - 1
    grades = np.zeros((n, size))
    mean = np.zeros(n)
    sd = np.zeros(n)
    hard = np.zeros(n)
    p = np.empty(log_prior.size)
    log = np.empty(log_prior.size)
    for m in range(n):
        scores(indptr[m], indptr[m + 1], annotator, label, evidence, log_prior, log)
        p[:] = log
        normalise(low[m], high[m], p)
        for t in range(low[m], high[m]):
            mean[m] += p[t] * points[t]
            hard[m] += p[t] * factor[t]
            upper = 0.0
            if edge[t]:
                upper = p[t] / (1.0 + math.exp((log[t - step] - log[t + step]) / 4.0))
                grades[m, grade[t] + 1] += upper
            grades[m, grade[t]] += p[t] - upper
        for t in range(low[m], high[m]):
            sd[m] += p[t] * (points[t] - mean[m]) ** 2
        sd[m] = math.sqrt(sd[m])
    return grades, mean, sd, hard
