"""Gamma distributions: maximum likelihood, and their part of the evidence lower bound (ELBO)."""

from __future__ import annotations

import math

import numpy as np

from venire.arrays import Floats


def gamma_shape(mean: float, mean_log: float, *, low: float = 1e-3, high: float = 1e6) -> float:
    """Return the shape alpha with ln(alpha) - psi(alpha) = ln(mean) - mean_log.

    The rate is then alpha / mean. Newton on 1/alpha as in Minka, "Estimating a Gamma
    distribution" (2002), limited to [low, high]: equal values have no finite shape.
    """
    from scipy.special import polygamma, psi

    gap = math.log(mean) - mean_log
    if not gap > 0.0:
        return high
    alpha = (3.0 - gap + math.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)
    for _ in range(50):
        slope = alpha * alpha * (1.0 / alpha - float(polygamma(1, alpha)))
        inverse = 1.0 / alpha + (
            mean_log - math.log(mean) + math.log(alpha) - float(psi(alpha))
        ) / (slope)
        if inverse <= 1.0 / high:
            return high
        next_alpha = 1.0 / inverse
        if next_alpha <= low:
            return low
        if abs(next_alpha - alpha) <= 1e-14 * alpha:
            return next_alpha
        alpha = next_alpha
    return alpha


def gamma_elbo(shape: Floats, rate: Floats, gap: Floats, alpha: float, beta: float) -> float:
    """Return sum of E_q[ln Gamma(alpha, beta)] + H[q] for q = Gamma(shape, rate).

    ``gap`` is psi(shape) - ln(shape), which the sweep has computed already.
    """
    from scipy.special import gammaln

    digamma = gap + np.log(shape)
    each = (alpha - shape) * digamma - alpha * np.log(rate) - beta * shape / rate + shape
    each += gammaln(shape)
    return float(np.sum(each) + shape.size * (alpha * np.log(beta) - gammaln(alpha)))
