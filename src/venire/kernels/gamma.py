"""Maximum likelihood of a gamma distribution from means and mean logarithms."""

from __future__ import annotations

import math


def gamma_shape(mean: float, mean_log: float, *, low: float = 1e-3, high: float = 1e6) -> float:
    """Return the shape alpha with ln(alpha) - psi(alpha) = ln(mean) - mean_log.

    The rate is then alpha / mean. Newton on 1/alpha as in Minka, "Estimating a Gamma
    distribution" (2002), kept within [low, high]: equal values have no finite shape.
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
        following = 1.0 / inverse
        if following <= low:
            return low
        if abs(following - alpha) <= 1e-14 * alpha:
            return following
        alpha = following
    return alpha
