"""One sweep of minimax conditional entropy over items.

P(k | c, n, m) is proportional to exp(sigma_n(c, k)) * exp(tau_m(c, k)): both factors are
taken once an annotator and once an item, so that a judgment costs products only, and its
K x K table is never kept.
"""

from __future__ import annotations

import math

import numpy as np

from venire.arrays import Floats, Ints, Longs, Shorts
from venire.compilation import jit

LEAST = 1e-140
"""No factor is taken for smaller: the product of two is still a number."""


@jit
def expand(tau: Floats, ordinal: bool, table: Floats) -> None:
    """Fill table [grade, label] with the exponentials of an item's terms, rows up to 1."""
    size = table.shape[0]
    for c in range(size):
        top = -math.inf
        if ordinal:
            # sum over thresholds s of +-u_s(c >= s): the sign is that of label >= s.
            total = 0.0
            for s in range(1, size):
                total -= tau[2 * (s - 1) + (1 if c >= s else 0)]
            table[c, 0] = total
            top = total
            for k in range(1, size):
                total += 2.0 * tau[2 * (k - 1) + (1 if c >= k else 0)]
                table[c, k] = total
                top = max(top, total)
        else:
            for k in range(size):
                table[c, k] = tau[c * size + k]
                top = max(top, table[c, k])
        for k in range(size):
            table[c, k] = max(math.exp(table[c, k] - top), LEAST)


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
    penalty: float,
    ordinal: bool,
    pairs: Floats,
    matrix: Floats,
    step: Floats,
) -> None:
    """Move an item's terms uphill by one step that cannot overshoot.

    The curvature of a log normaliser over K labels is at most (I - 11'/K) / 2
    (Böhning and Lindsay 1988); a Newton step with that in its place never goes too far.
    """
    size = gradient.shape[0]
    if not ordinal:
        for c in range(size):
            for k in range(size):
                at = c * size + k
                tau[at] += (gradient[c, k] - penalty * tau[at]) / (0.5 * weight[c] + penalty)
        return
    matrix[:, :] = 0.0
    for i in range(tau.size):
        step[i] = -2.0 * penalty * tau[i]
        matrix[i, i] = 2.0 * penalty
    for c in range(size):
        for s in range(1, size):
            i = 2 * (s - 1) + (1 if c >= s else 0)
            for k in range(size):
                step[i] += gradient[c, k] if k >= s else -gradient[c, k]
            for t in range(1, s + 1):
                j = 2 * (t - 1) + (1 if c >= t else 0)
                matrix[i, j] += weight[c] * pairs[s - 1, t - 1]
                if s != t:
                    matrix[j, i] += weight[c] * pairs[s - 1, t - 1]
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
    factor: Floats,  # [N, grade, label] exp(sigma), rows up to 1
    tau: Floats,  # [M, D]
    grades: Floats,  # [M, K]
    known: Shorts,  # [M], -1 where the grade is not known
    log_prior: Floats,  # [K]
    beta: float,
    steps: int,
    hold: bool,  # keep the grades as they are
    ordinal: bool,
    pairs: Floats,  # [K - 1, K - 1] curvature between thresholds
) -> tuple[Floats, Floats, Floats, Floats, float]:
    """Return tau and grades of the shard, gradient [N, K, K], weight [N, K], and the bound."""
    size = factor.shape[1]
    d = tau.shape[1]
    new_tau = tau[start:stop].copy()
    new_grades = grades[start:stop].copy()
    gradient = np.zeros(factor.shape)
    weight = np.zeros((factor.shape[0], size))
    most = 0
    for m in range(start, stop):
        most = max(most, indptr[m + 1] - indptr[m])
    chance = np.empty((most, size, size))  # of one item's judgments, used again for the next
    table = np.empty((size, size))
    slope = np.empty((size, size))
    mass = np.empty(size)
    matrix = np.empty((d if ordinal else 0, d if ordinal else 0))
    step = np.empty(d)
    score = np.empty(size)
    bound = 0.0
    for m in range(start, stop):
        first = indptr[m]
        count = indptr[m + 1] - first
        q = new_grades[m - start]
        mine = new_tau[m - start]
        for k in range(size):
            mass[k] = count * q[k]
        for turn in range(steps + 1):
            expand(mine, ordinal, table)
            slope[:, :] = 0.0
            score[:] = log_prior
            for j in range(count):
                n = annotator[first + j]
                r = label[first + j]
                for c in range(size):
                    total = 0.0
                    for k in range(size):
                        value = factor[n, c, k] * table[c, k]
                        chance[j, c, k] = value
                        total += value
                    inverse = 1.0 / total
                    if turn < steps:
                        scale = q[c] * inverse
                        for k in range(size):
                            slope[c, k] -= scale * chance[j, c, k]
                        slope[c, r] += q[c]
                    else:
                        for k in range(size):
                            chance[j, c, k] *= inverse
                        score[c] += math.log(chance[j, c, r])
            if turn < steps:
                climb(mine, slope, mass, beta, ordinal, pairs, matrix, step)
        if known[m] >= 0:
            bound += score[known[m]]
        else:
            top = score[0]
            for c in range(1, size):
                top = max(top, score[c])
            total = 0.0
            for c in range(size):
                total += math.exp(score[c] - top)
            bound += top + math.log(total)
            if not hold:
                for c in range(size):
                    q[c] = math.exp(score[c] - top) / total
        square = 0.0
        for i in range(d):
            square += mine[i] * mine[i]
        bound -= (beta if ordinal else 0.5 * beta) * square
        for j in range(count):
            n = annotator[first + j]
            r = label[first + j]
            for c in range(size):
                weight[n, c] += q[c]
                for k in range(size):
                    gradient[n, c, k] -= q[c] * chance[j, c, k]
                gradient[n, c, r] += q[c]
    return new_tau, new_grades, gradient, weight, bound
