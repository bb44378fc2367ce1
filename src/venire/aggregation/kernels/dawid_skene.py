"""One expectation-maximisation sweep of Dawid-Skene over items, in probability space.

P(z_m = k | labels) proportional to p_k prod_n theta_n(r_nm | k)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from venire.arrays import Floats, Ints, Longs, Shorts
from venire.compilation import jit

RESCALE = 16
"""Factors multiplied before rescaling: with the floor of 1e-12 their product does not underflow."""
FAINT = 1e-100
"""A grade that is less likely than the others by this factor could underflow in the next 16."""


@jit
def infer_in_logs(
    first: int,
    last: int,
    annotator: Ints,
    label: Shorts,
    confusion: Floats,
    prior: Floats,
    p: Floats,
) -> float:
    """Fill p with the grade probabilities of an item, in logs; return the log-likelihood."""
    size = prior.size
    for k in range(size):
        p[k] = math.log(prior[k])
        for j in range(first, last):
            p[k] += math.log(confusion[annotator[j], label[j], k])
    top = p[0]
    for k in range(1, size):
        top = max(top, p[k])
    total = 0.0
    for k in range(size):
        p[k] = math.exp(p[k] - top)
        total += p[k]
    for k in range(size):
        p[k] /= total
    return top + math.log(total)


class Kernels(NamedTuple):
    """The compiled loops for one number of grades."""

    sweep: Callable[..., Any]
    """Return expected counts [N, label, grade], expected grades [K] and log-likelihood."""
    posterior: Callable[..., Any]
    """Return the grade probabilities of all items [M, K]."""


@lru_cache
def compile_kernels(size: int) -> Kernels:
    """Return the loops for K grades; with K as a compile-time constant they are twice as fast."""

    @jit
    def infer_item(
        first: int,
        last: int,
        annotator: Ints,
        label: Shorts,
        confusion: Floats,
        prior: Floats,
        p: Floats,
    ) -> float:
        flat = confusion.reshape(-1)
        log_scale = 0.0
        for k in range(size):
            p[k] = prior[k]
        for j in range(first, last):
            row = (np.int64(annotator[j]) * size + label[j]) * size
            for k in range(size):
                p[k] *= flat[row + k]
            if (j - first) % RESCALE == RESCALE - 1:
                total = 0.0
                least = p[0]
                for k in range(size):
                    total += p[k]
                    least = min(least, p[k])
                if least < FAINT * total:
                    # Later labels can outweigh the first, so that it must not become 0.
                    return infer_in_logs(first, last, annotator, label, confusion, prior, p)
                log_scale += math.log(total)
                for k in range(size):
                    p[k] /= total
        total = 0.0
        for k in range(size):
            total += p[k]
        inverse = 1.0 / total
        for k in range(size):
            p[k] *= inverse
        return log_scale + math.log(total)

    @jit
    def sweep(
        indptr: Longs,
        annotator: Ints,
        label: Shorts,
        start: int,
        stop: int,
        confusion: Floats,  # [N, label, grade]
        prior: Floats,  # [K]
        known: Shorts,  # [M], -1 where the grade is not known
    ) -> tuple[Floats, Floats, float]:
        counts = np.zeros(confusion.shape)
        flat = counts.reshape(-1)
        grades = np.zeros(size)
        p = np.empty(size)
        log_likelihood = 0.0
        for m in range(start, stop):
            first = indptr[m]
            last = indptr[m + 1]
            if known[m] >= 0:
                g = known[m]
                log_likelihood += math.log(prior[g])
                grades[g] += 1.0
                for j in range(first, last):
                    counts[annotator[j], label[j], g] += 1.0
                    log_likelihood += math.log(confusion[annotator[j], label[j], g])
                continue
            log_likelihood += infer_item(first, last, annotator, label, confusion, prior, p)
            for k in range(size):
                grades[k] += p[k]
            for j in range(first, last):
                row = (np.int64(annotator[j]) * size + label[j]) * size
                for k in range(size):
                    flat[row + k] += p[k]
        return counts, grades, log_likelihood

    @jit
    def posterior(
        indptr: Longs,
        annotator: Ints,
        label: Shorts,
        confusion: Floats,
        prior: Floats,
        known: Shorts,
    ) -> Floats:
        out = np.zeros((indptr.size - 1, size))
        for m in range(indptr.size - 1):
            if known[m] >= 0:
                out[m, known[m]] = 1.0
            else:
                infer_item(indptr[m], indptr[m + 1], annotator, label, confusion, prior, out[m])
        return out

    return Kernels(sweep, posterior)
