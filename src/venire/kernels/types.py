"""One sweep of annotator types over items: where each item lies, and what that says of people."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from venire.kernels import jit

Floats = NDArray[np.float64]


@jit
def places(
    first: int,
    last: int,
    annotator: NDArray[np.int32],
    label: NDArray[np.int16],
    evidence: Floats,  # [N, label, T] expected log chance of the label at each place
    log_prior: Floats,  # [T]
    low: int,
    high: int,
    p: Floats,  # [T]
) -> float:
    """Fill p with the probability of each place low..high; return the log normaliser."""
    p[:] = log_prior
    for j in range(first, last):
        row = evidence[annotator[j], label[j]]
        for t in range(p.size):
            p[t] += row[t]
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
    indptr: NDArray[np.int64],
    annotator: NDArray[np.int32],
    label: NDArray[np.int16],
    start: int,
    stop: int,
    evidence: Floats,
    log_prior: Floats,
    low: NDArray[np.int64],  # [M] first place an item may be at; 0 where its grade is not known
    high: NDArray[np.int64],  # [M] past the last
) -> tuple[Floats, Floats, float]:
    """Return expected counts [N, label, T], expected places [T], sum of log normalisers."""
    counts = np.zeros(evidence.shape)
    taken = np.zeros(log_prior.size)
    p = np.empty(log_prior.size)
    bound = 0.0
    for m in range(start, stop):
        first = indptr[m]
        last = indptr[m + 1]
        bound += places(first, last, annotator, label, evidence, log_prior, low[m], high[m], p)
        for t in range(p.size):
            taken[t] += p[t]
        for j in range(first, last):
            row = counts[annotator[j], label[j]]
            for t in range(p.size):
                row[t] += p[t]
    return counts, taken, bound


@jit
def posterior(
    indptr: NDArray[np.int64],
    annotator: NDArray[np.int32],
    label: NDArray[np.int16],
    evidence: Floats,
    log_prior: Floats,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    points: Floats,  # [T] position of each place
    factor: Floats,  # [T] difficulty of each place
    share: Floats,  # [T, K] how a place counts for the grades
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return grades [M, K], mean and sd of the position [M], and mean difficulty [M]."""
    n = indptr.size - 1
    grades = np.zeros((n, share.shape[1]))
    mean = np.zeros(n)
    sd = np.zeros(n)
    hard = np.zeros(n)
    p = np.empty(log_prior.size)
    for m in range(n):
        places(indptr[m], indptr[m + 1], annotator, label, evidence, log_prior, low[m], high[m], p)
        for t in range(p.size):
            mean[m] += p[t] * points[t]
            hard[m] += p[t] * factor[t]
            for k in range(share.shape[1]):
                grades[m, k] += p[t] * share[t, k]
        for t in range(p.size):
            sd[m] += p[t] * (points[t] - mean[m]) ** 2
        sd[m] = math.sqrt(sd[m])
    return grades, mean, sd, hard
