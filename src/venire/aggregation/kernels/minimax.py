"""One sweep of minimax conditional entropy over items.

    P(r_nm = k | z_m = c) = exp(sigma_n(c, k) + tau_m(c, k))
                            / sum_l exp(sigma_n(c, l) + tau_m(c, l))

with grade c, label k, annotator n and item m. exp(sigma_n) is computed once per annotator and
exp(tau_m) once per item, so that a judgment costs products only; its K x K table is not stored.
"""

from __future__ import annotations

import math

import numpy as np

from venire.arrays import Floats, Ints, Longs, Shorts
from venire.compilation import jit

FLOOR = 1e-140
"""Smallest factor, so that the product of two does not underflow."""


@jit
def exponentiate(tau: Floats, ordinal: bool, exp_tau: Floats) -> None:
    """Fill exp_tau [grade, label] with exp(tau_m), scaled so that the largest of each row is 1.

    Ordinal: tau_m(c, k) = sum over thresholds s of +-u_s(c >= s), + where k >= s.
    """
    size = exp_tau.shape[0]
    for c in range(size):
        top = -math.inf
        if ordinal:
            total = 0.0
            for s in range(1, size):
                total -= tau[2 * (s - 1) + (1 if c >= s else 0)]
            exp_tau[c, 0] = total
            top = total
            for k in range(1, size):
                total += 2.0 * tau[2 * (k - 1) + (1 if c >= k else 0)]
                exp_tau[c, k] = total
                top = max(top, total)
        else:
            for k in range(size):
                exp_tau[c, k] = tau[c * size + k]
                top = max(top, exp_tau[c, k])
        for k in range(size):
            exp_tau[c, k] = max(math.exp(exp_tau[c, k] - top), FLOOR)


@jit
def solve(a: Floats, b: Floats) -> None:
    """Solve a x = b in place for a positive definite a (Cholesky); b becomes x."""
    n = b.size
    for i in range(n):
        for j in range(i + 1):
            value = a[i, j]
            for k in range(j):
                value -= a[i, k] * a[j, k]
            a[i, j] = math.sqrt(value) if i == j else value / a[j, j]
    for i in range(n):
        for k in range(i):
            b[i] -= a[i, k] * b[k]
        b[i] /= a[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= a[k, i] * b[k]
        b[i] /= a[i, i]


@jit
def climb(
    tau: Floats,
    gradient: Floats,
    weight: Floats,
    beta: float,
    ordinal: bool,
    curvature: Floats,
    matrix: Floats,
    step: Floats,
) -> None:
    """Move the terms tau_m of an item uphill by one step that cannot overshoot.

    The curvature of a log normaliser over K labels is at most (I - 11'/K) / 2
    (Böhning and Lindsay 1988); a Newton step with that curvature never overshoots.

    Parameters
    ----------
    tau : float64 [D]
        Changed in place.
    gradient : float64 [grade, label]
        Of the expected log-likelihood of the labels of the item.
    weight : float64 [K]
        Expected number of judgments of each grade.
    beta : float
        Penalty.
    ordinal : bool
    curvature : float64 [K - 1, K - 1]
        Between thresholds, at most.
    matrix : float64 [D, D]
    step : float64 [D]
        Work space.
    """
    size = gradient.shape[0]
    if not ordinal:
        for c in range(size):
            for k in range(size):
                i = c * size + k
                tau[i] += (gradient[c, k] - beta * tau[i]) / (0.5 * weight[c] + beta)
        return
    matrix[:, :] = 0.0
    for i in range(tau.size):
        step[i] = -2.0 * beta * tau[i]
        matrix[i, i] = 2.0 * beta
    for c in range(size):
        for s in range(1, size):
            i = 2 * (s - 1) + (1 if c >= s else 0)
            for k in range(size):
                step[i] += gradient[c, k] if k >= s else -gradient[c, k]
            for t in range(1, s + 1):
                j = 2 * (t - 1) + (1 if c >= t else 0)
                matrix[i, j] += weight[c] * curvature[s - 1, t - 1]
                if s != t:
                    matrix[j, i] += weight[c] * curvature[s - 1, t - 1]
    solve(matrix, step)
    for i in range(tau.size):
        tau[i] += step[i]


@jit
def sweep(
    indptr: Longs,
    annotator: Ints,
    label: Shorts,
    start: int,
    stop: int,
    exp_sigma: Floats,  # [N, grade, label], the largest of each row is 1
    tau: Floats,  # [M, D]
    q: Floats,  # [M, K] grade probabilities
    known: Shorts,  # [M], -1 where the grade is not known
    log_prior: Floats,  # [K]
    beta: float,
    steps: int,
    hold: bool,  # keep q as it is
    ordinal: bool,
    curvature: Floats,  # [K - 1, K - 1] between thresholds, at most
) -> tuple[Floats, Floats, Floats, Floats, float]:
    """Return new tau and q of the shard, gradient [N, K, K], weight [N, K] and the objective.

    Gradient of sigma_n: sum over judgments of q_m(c) (1[k = r_nm] - P(k | c)); weight: sum of
    q_m(c). Objective: sum_m ln sum_c p_c prod_n P(r_nm | c) - beta / 2 |tau_m|^2, the penalty
    over all cells of the tables.
    """
    size = exp_sigma.shape[1]
    d = tau.shape[1]
    new_tau = tau[start:stop].copy()
    new_q = q[start:stop].copy()
    gradient = np.zeros(exp_sigma.shape)
    weight = np.zeros((exp_sigma.shape[0], size))
    largest = 0
    for m in range(start, stop):
        largest = max(largest, indptr[m + 1] - indptr[m])
    chance = np.empty((largest, size, size))  # P(k | c) of the judgments of one item
    exp_tau = np.empty((size, size))
    slope = np.empty((size, size))
    mass = np.empty(size)
    matrix = np.empty((d if ordinal else 0, d if ordinal else 0))
    step = np.empty(d)
    score = np.empty(size)
    objective = 0.0
    for m in range(start, stop):
        first = indptr[m]
        count = indptr[m + 1] - first
        q_m = new_q[m - start]
        tau_m = new_tau[m - start]
        for k in range(size):
            mass[k] = count * q_m[k]
        for turn in range(steps + 1):
            exponentiate(tau_m, ordinal, exp_tau)
            slope[:, :] = 0.0
            score[:] = log_prior
            for j in range(count):
                n = annotator[first + j]
                r = label[first + j]
                for c in range(size):
                    total = 0.0
                    for k in range(size):
                        value = exp_sigma[n, c, k] * exp_tau[c, k]
                        chance[j, c, k] = value
                        total += value
                    inverse = 1.0 / total
                    if turn < steps:
                        scale = q_m[c] * inverse
                        for k in range(size):
                            slope[c, k] -= scale * chance[j, c, k]
                        slope[c, r] += q_m[c]
                    else:
                        for k in range(size):
                            chance[j, c, k] *= inverse
                        score[c] += math.log(chance[j, c, r])
            if turn < steps:
                climb(tau_m, slope, mass, beta, ordinal, curvature, matrix, step)
        if known[m] >= 0:
            objective += score[known[m]]
        else:
            top = score[0]
            for c in range(1, size):
                top = max(top, score[c])
            total = 0.0
            for c in range(size):
                total += math.exp(score[c] - top)
            objective += top + math.log(total)
            if not hold:
                for c in range(size):
                    q_m[c] = math.exp(score[c] - top) / total
        square = 0.0
        for i in range(d):
            square += tau_m[i] * tau_m[i]
        objective -= (beta if ordinal else 0.5 * beta) * square
        for j in range(count):
            n = annotator[first + j]
            r = label[first + j]
            for c in range(size):
                weight[n, c] += q_m[c]
                for k in range(size):
                    gradient[n, c, k] -= q_m[c] * chance[j, c, k]
                gradient[n, c, r] += q_m[c]
    return new_tau, new_q, gradient, weight, objective
