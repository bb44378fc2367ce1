"""One sweep of the Gaussian annotator model r_nm ~ N(z_m, 1 / tau_n) over items."""

from __future__ import annotations

import math

import numpy as np

from venire.arrays import Floats, Ints, Longs, Shorts
from venire.compilation import jit

_LOG_2PI = math.log(2.0 * math.pi)


@jit
def sweep(
    indptr: Longs,
    annotator: Ints,
    label: Shorts,
    start: int,
    stop: int,
    values: Floats,  # [K]
    tau: Floats,  # [N]
    known: Floats,  # [M], nan where not known
) -> tuple[Floats, Floats, Floats, float]:
    """Return mean and variance of each item, squared errors of each annotator, log-likelihood."""
    mean = np.empty(stop - start)
    var = np.empty(stop - start)
    squares = np.zeros(tau.size)
    log_likelihood = 0.0
    for m in range(start, stop):
        precision = 0.0
        total = 0.0
        for j in range(indptr[m], indptr[m + 1]):
            t = tau[annotator[j]]
            precision += t
            total += t * values[label[j]]
            log_likelihood += 0.5 * math.log(t) - 0.5 * _LOG_2PI
        if math.isnan(known[m]):
            z = total / precision
            v = 1.0 / precision
            log_likelihood += 0.5 * (_LOG_2PI - math.log(precision))
        else:
            z = known[m]
            v = 0.0
        for j in range(indptr[m], indptr[m + 1]):
            n = annotator[j]
            gap = values[label[j]] - z
            log_likelihood -= 0.5 * tau[n] * gap * gap
            squares[n] += gap * gap + v
        mean[m - start] = z
        var[m - start] = v
    return mean, var, squares, log_likelihood
