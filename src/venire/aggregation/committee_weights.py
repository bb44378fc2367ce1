"""Weights of the members of a committee: how well each foretells annotators it never saw."""

from __future__ import annotations

import numpy as np

from venire.aggregation.committee_folds import HeldOut
from venire.arrays import Floats

POOLED_LABELS = 10.0
"""Labels' worth by which an annotator's slope and variance are drawn to everybody's."""
LARGEST_SHARE = 0.1
"""Largest share of one annotator in all trust."""
RIDGE = 0.01
"""Pull to equal weights, as a share of the mean information of a member."""
DEFAULT_LABELS = 50.0
"""Held-out labels that the weights without them count for."""


def measure_trust(held: HeldOut) -> Floats:
    r"""Return the trust in a label of each annotator [N].

    .. math:: q_a = \max(b_a, 0)^2 / s_a^2

    with slope b and residual variance s^2 of the annotator's held-out labels on the mean of the
    standardised members, both drawn to those of all annotators. Nobody has more than a tenth of
    all trust (trust per label times labels).
    """
    spread = held.x.std(axis=0)
    standard = (held.x - held.x.mean(axis=0)) / np.maximum(spread, 1e-9)
    centre = standard.mean(axis=1)
    centre = (centre - centre.mean()) / max(float(centre.std()), 1e-9)
    y, who, size = held.label, held.annotator, held.annotators
    count = np.bincount(who, minlength=size)

    def average(values: Floats) -> Floats:
        out: Floats = np.bincount(who, weights=values, minlength=size) / np.maximum(count, 1)
        return out

    covariance = average(centre * y) - average(centre) * average(y)
    var_x = average(centre**2) - average(centre) ** 2
    var_y = average(y**2) - average(y) ** 2
    common = float(np.mean(centre * (y - y.mean())))
    slope = (covariance * count + common * POOLED_LABELS) / (var_x * count + POOLED_LABELS)
    residual = np.maximum(var_y - 2.0 * slope * covariance + slope**2 * var_x, 0.0)
    usual = max(float(y.var()) - common**2, 1e-6)
    variance = (residual * count + usual * POOLED_LABELS) / (count + POOLED_LABELS)
    total = np.maximum(slope, 0.0) ** 2 / variance * count
    for _ in range(100):
        total = np.minimum(total, LARGEST_SHARE * total.sum())
    trust: Floats = total / np.maximum(count, 1)
    return trust


def fit_weights(x: Floats, y: Floats, trust: Floats) -> Floats | None:
    r"""Return weights [I], >= 0 with sum 1, with which the members foretell labels best.

    .. math:: \min_{u \ge 0} \sum_j q_j \Bigl(y_j - \bar y - \sum_i u_i (x_{ji} - \bar x_i)\Bigr)^2,
        \qquad w = u / \sum_i u_i

    on members put on their own lines, with a ridge towards equal. Non-negative least squares
    (Lawson and Hanson 1974); stacking, Breiman, "Stacked regressions" (Machine Learning 24,
    1996). None where no member foretells anything.

    Parameters
    ----------
    x : float64 [L, I]
    y : float64 [L]
    trust : float64 [L]
    """
    from scipy.optimize import nnls

    if float(trust.sum()) <= 0.0:
        return None
    share = trust / trust.sum()
    centred = x - share @ x
    goal = y - float(share @ y)
    spread = share @ centred**2
    slope = np.maximum((share * goal) @ centred / np.maximum(spread, 1e-9), 0.0)
    root = np.sqrt(share)
    lined = centred * slope * root[:, None]
    size = x.shape[1]
    pull = np.sqrt(RIDGE * float(np.mean(np.sum(lined**2, axis=0))))
    if pull <= 0.0:
        return None
    solution, _ = nnls(
        np.vstack([lined, pull * np.eye(size)]),
        np.concatenate([goal * root, np.full(size, pull / size)]),
    )
    u = solution * slope
    weights: Floats | None = u / u.sum() if u.sum() > 0.0 else None
    return weights


def learn_from_strangers(held: HeldOut, default: Floats) -> Floats:
    """Return the weights of the members [I].

    Parameters
    ----------
    held : HeldOut
    default : float64 [I]
        Weights where nobody can be held out. They count like 50 held-out labels.
    """
    if not held.label.size or float(held.label.var()) <= 0.0:
        return default
    learnt = fit_weights(held.x, held.label, measure_trust(held)[held.annotator])
    if learnt is None:
        return default
    n = held.label.size
    out: Floats = (n * learnt + DEFAULT_LABELS * default) / (n + DEFAULT_LABELS)
    return out
