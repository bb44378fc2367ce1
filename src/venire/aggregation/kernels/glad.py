"""One sweep of GLAD over items: grades, one safe step per difficulty, gradients of abilities.

    P(r_nm = z_m) = s(alpha_n beta_m), P(r_nm = l != z_m) = (1 - s(alpha_n beta_m)) / (K - 1)

with s the logistic function, ability alpha_n of annotator n and ease beta_m of item m.
"""

from __future__ import annotations

import math

import numpy as np

from venire.arrays import Floats, Ints, Longs, Shorts
from venire.compilation import jit


@jit
def softplus(x: float) -> float:
    """Return ln(1 + exp(x)) without overflow."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@jit
def sigmoid(x: float) -> float:
    """Return 1 / (1 + exp(-x)) without overflow."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


@jit
def infer_item(
    first: int,
    last: int,
    annotator: Ints,
    label: Shorts,
    alpha: Floats,
    beta: float,
    log_prior: Floats,
    known: int,
    p: Floats,
) -> float:
    """Fill p with the grade probabilities of one item; return the log-likelihood.

    ln P(label | grade) is ln s(x) where they agree and ln((1 - s(x)) / (K - 1)) where not,
    x = alpha_n beta_m; the two differ by x + ln(K - 1).
    """
    size = p.size
    others = math.log(max(size - 1, 1))
    base = 0.0
    for k in range(size):
        p[k] = log_prior[k]
    for j in range(first, last):
        x = alpha[annotator[j]] * beta
        base -= softplus(x) + others
        p[label[j]] += x + others
    if known >= 0:
        value = base + p[known]
        for k in range(size):
            p[k] = 0.0
        p[known] = 1.0
        return value
    top = p[0]
    for k in range(1, size):
        top = max(top, p[k])
    total = 0.0
    for k in range(size):
        p[k] = math.exp(p[k] - top)
        total += p[k]
    for k in range(size):
        p[k] /= total
    return base + top + math.log(total)


@jit
def sweep(
    indptr: Longs,
    annotator: Ints,
    label: Shorts,
    start: int,
    stop: int,
    alpha: Floats,  # [N]
    log_beta: Floats,  # [M]
    log_prior: Floats,  # [K]
    known: Shorts,
    prior_log_beta: float,
) -> tuple[Floats, Floats, Floats, Floats, float]:
    """Return new log beta, gradient and curvature of alpha, expected grades, log-likelihood.

    The curvature is an upper limit: 1/4 for each logistic function.
    """
    size = log_prior.size
    new_log_beta = np.empty(stop - start)
    gradient = np.zeros(alpha.size)
    curvature = np.zeros(alpha.size)
    grades = np.zeros(size)
    p = np.empty(size)
    log_likelihood = 0.0
    for m in range(start, stop):
        first = indptr[m]
        last = indptr[m + 1]
        b = log_beta[m]
        beta = math.exp(b)
        log_likelihood += infer_item(
            first, last, annotator, label, alpha, beta, log_prior, known[m], p
        )
        log_likelihood -= 0.5 * (b - prior_log_beta) ** 2
        for k in range(size):
            grades[k] += p[k]
        # Newton step of ln(beta), halved until the expected log-likelihood does not fall.
        value = -0.5 * (b - prior_log_beta) ** 2
        slope = prior_log_beta - b
        curve = -1.0
        for j in range(first, last):
            x = alpha[annotator[j]] * beta
            s = sigmoid(x)
            w = p[label[j]]
            value += w * x - softplus(x)
            slope += (w - s) * x
            curve += (w - s) * x - s * (1.0 - s) * x * x
        step = slope / max(-curve, 0.5)
        step = min(max(step, -1.0), 1.0)
        for _ in range(6):
            trial = b + step
            beta = math.exp(trial)
            changed = -0.5 * (trial - prior_log_beta) ** 2
            for j in range(first, last):
                x = alpha[annotator[j]] * beta
                changed += p[label[j]] * x - softplus(x)
            if changed >= value:
                b = trial
                break
            step *= 0.5
        new_log_beta[m - start] = b
        beta = math.exp(b)
        for j in range(first, last):
            n = annotator[j]
            gradient[n] += (p[label[j]] - sigmoid(alpha[n] * beta)) * beta
            curvature[n] += 0.25 * beta * beta
    return new_log_beta, gradient, curvature, grades, log_likelihood


@jit
def infer_grades(
    indptr: Longs,
    annotator: Ints,
    label: Shorts,
    alpha: Floats,
    log_beta: Floats,
    log_prior: Floats,
    known: Shorts,
) -> Floats:
    """Return the grade probabilities of all items [M, K]."""
    out = np.empty((indptr.size - 1, log_prior.size))
    for m in range(indptr.size - 1):
        infer_item(
            indptr[m],
            indptr[m + 1],
            annotator,
            label,
            alpha,
            math.exp(log_beta[m]),
            log_prior,
            known[m],
            out[m],
        )
    return out
