"""One sweep of the ordinal discrete mixture over a shard of items.

    z_m ~ N(mu_0, 1 / lambda), x_nm ~ N(z_m, 1 / (tau_n delta_c)), y_nm ~ Bernoulli(epsilon_n),
    r_nm = k where b_{k-1} <= x_nm < b_k if y_nm = 1, else r_nm ~ pi

For each category c of items: update q(x, y) of every judgment, q(z) of every item and q(delta)
of the category, and sum what q(tau) and epsilon of the annotators need. The evidence lower elbo
(ELBO) is that at the first state of the sweep with the new q(x, y).
"""

from __future__ import annotations

import math

import numpy as np

from venire.aggregation.kernels.truncated_normal import moments
from venire.arrays import Floats, Ints, Longs, Shorts
from venire.compilation import jit

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


@jit
def sweep(
    indptr: Longs,  # judgments of item m: indptr[m]:indptr[m+1]
    annotator: Ints,  # [L]
    label: Shorts,  # [L]
    category_start: Longs,  # items of category c: [c]:[c+1], clipped to the shard
    first_category: int,
    b: Floats,  # [K+1] thresholds, finite
    values: Floats,  # [K] grades, used where the link is not ordinal
    known: Floats,  # [M] the grade where it is known, nan elsewhere
    mu: Floats,  # [M] mean of q(z)
    var: Floats,  # [M] variance of q(z)
    root_tau: Floats,  # [N] sqrt of the mean of tau
    log_gap: Floats,  # [N] psi(alpha_n) - ln(alpha_n)
    eps: Floats,  # [N]
    root_delta: Floats,  # [C] sqrt of the mean of delta
    delta_gap: Floats,  # [C] psi(phi_c) - ln(phi_c)
    prior_mean: float,  # mu_0
    prior_precision: float,  # lambda
    phi: float,
    eta: float,
    log_pi: Floats,  # [K]
    ordinal: bool,
    spam: bool,
    exact: bool,
    own_delta: bool,  # update delta here; False where one category spans the shards
) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats, float]:
    """Return new mu and var, weights and squares per category and annotator, sharpness, ELBO.

    With weight w = q(y_nm = 1): weights are sums of w, squares sums of w E[(x - z)^2] (times
    delta for annotators, times tau for categories), sharpness is the sum of w^2.

    Where ``own_delta`` is False the annotators' squares are not yet multiplied by delta.
    """
    n_categories = category_start.size - 1
    first_item = category_start[0]
    n_items = category_start[n_categories] - first_item
    offset = indptr[first_item]
    new_mu = np.empty(n_items)
    new_var = np.empty(n_items)
    category_weight = np.zeros(n_categories)
    category_square = np.zeros(n_categories)
    annotator_weight = np.zeros(eps.size)
    annotator_square = np.zeros(eps.size)
    sharpness = np.zeros(eps.size)
    squares = np.empty(indptr[first_item + n_items] - offset)
    first = np.empty(squares.size)
    second = np.empty(squares.size)
    weight = np.empty(squares.size)
    pi = np.exp(log_pi)
    elbo = 0.0
    product = 1.0  # of normalisers: one logarithm for many judgments
    half_log_prior = 0.5 * math.log(prior_precision)
    for c in range(n_categories):
        rd = root_delta[first_category + c]
        inv_rd = 1.0 / rd
        dgap = delta_gap[first_category + c]
        start = category_start[c]
        stop = category_start[c + 1]
        for m in range(start, stop):
            mu_m = mu[m]
            var_m = var[m]
            fixed = not math.isnan(known[m])
            precision = prior_precision
            pull = prior_precision * (prior_mean - mu_m)
            for j in range(indptr[m], indptr[m + 1]):
                n = annotator[j]
                r = label[j]
                i = j - offset
                s = root_tau[n] * rd
                rho = s * s
                half_gap = 0.5 * (log_gap[n] + dgap)
                if ordinal:
                    z, e, m1, m2 = moments((b[r] - mu_m) * s, (b[r + 1] - mu_m) * s)
                else:
                    # x lies in the cell of the label: its density times the width of the cell,
                    # and the variance of rounding, without which tau would be unbounded.
                    width = (b[r + 1] - b[r]) * s
                    m1 = (values[r] - mu_m) * s
                    m2 = m1 * m1 + width * width / 12.0
                    z = width
                    e = 0.5 * m2 + _HALF_LOG_2PI
                w = 1.0
                if spam:
                    p_spam = (1.0 - eps[n]) * pi[r]
                    if exact:
                        p = eps[n] * z * math.exp(half_gap - e - 0.5 * rho * var_m)
                        product *= p + p_spam
                        w = p / (p + p_spam)
                    elif ordinal:
                        log_p = -_HALF_LOG_2PI - 0.5 * (m2 + rho * var_m)
                        p = eps[n] * s * math.exp(log_p)
                        w = p / (p + p_spam)
                        product *= p + p_spam
                        if w > 0.0:
                            elbo += w * (half_gap + math.log(z / s) - e - 0.5 * rho * var_m - log_p)
                    else:
                        p = eps[n] * z * math.exp(-e - 0.5 * rho * var_m)
                        w = p / (p + p_spam)
                        product *= p + p_spam
                        elbo += w * half_gap
                    if product < 1e-150 or product > 1e150:
                        elbo += math.log(product)
                        product = 1.0
                else:
                    elbo += half_gap + math.log(z) - e - 0.5 * rho * var_m
                first[i] = m1
                second[i] = m2
                weight[i] = w
                precision += w * rho
                pull += w * s * m1
            shift = pull / precision
            v = 1.0 / precision
            if fixed:
                shift = 0.0
                v = 0.0
                elbo += half_log_prior - 0.5 * prior_precision * (mu_m - prior_mean) ** 2
                elbo -= _HALF_LOG_2PI
            else:
                # E[ln N(z | mean, 1/precision)] + entropy of q(z), both with the old q(z).
                elbo += half_log_prior + 0.5 + 0.5 * math.log(var_m)
                elbo -= 0.5 * prior_precision * ((mu_m - prior_mean) ** 2 + var_m)
            new_mu[m - first_item] = mu_m + shift
            new_var[m - first_item] = v
            for j in range(indptr[m], indptr[m + 1]):
                n = annotator[j]
                i = j - offset
                w = weight[i]
                inv_s = inv_rd / root_tau[n]
                square = second[i] * inv_s * inv_s - 2.0 * shift * first[i] * inv_s
                square = w * (square + shift * shift + v)
                squares[i] = square
                annotator_weight[n] += w
                sharpness[n] += w * w
                category_weight[c] += w
                category_square[c] += root_tau[n] * root_tau[n] * square
        delta = 1.0
        if own_delta:
            delta = (phi + 0.5 * category_weight[c]) / (eta + 0.5 * category_square[c])
        for j in range(indptr[start], indptr[stop]):
            annotator_square[annotator[j]] += delta * squares[j - offset]
    elbo += math.log(product)
    return (
        new_mu,
        new_var,
        category_weight,
        category_square,
        annotator_weight,
        annotator_square,
        sharpness,
        elbo,
    )
