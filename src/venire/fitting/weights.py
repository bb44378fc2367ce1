"""Weights of a committee's members, learnt from known grades and drawn to equal ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from venire.fitting.calibration import folds_of, line, strength_by_folds

Floats = NDArray[np.float64]
STRENGTHS = (10.0, 30.0, 100.0)
"""Pulls to equal weights that are tried: a hundred pairs do not tell weaker ones apart."""
OF_A_LINE = 10.0
"""Strength with which each member's own line is drawn to the diagonal."""


def convex(x: Floats, y: Floats, strength: float) -> Floats:
    """Return weights [I] of 0 or more that sum to 1 and bring x @ weights near to y.

    Least squares with a penalty for being far from equal, as heavy as ``strength`` pairs in
    which the members differ as they do on average. Non-negative least squares (Lawson and
    Hanson 1974), the sum held by a heavy row.

    Parameters
    ----------
    x : float64 [n, I]
    y : float64 [n]
    strength : float
    """
    from scipy.optimize import nnls

    n, count = x.shape
    apart = float(np.mean(x.var(axis=1)))
    if apart <= 0.0:
        return np.full(count, 1.0 / count)
    pull = np.sqrt(strength * apart * count)
    heavy = 1e3 * (np.abs(x).max() * np.sqrt(n) + pull)
    rows = np.vstack([x, pull * np.eye(count), heavy * np.ones((1, count))])
    goal = np.concatenate([y, np.full(count, pull / count), [heavy]])
    found, _ = nnls(rows, goal)
    weights: Floats = found / found.sum()
    return weights


def lined(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return each member's intercept and slope against y."""
    lines = [line(column, y, OF_A_LINE) for column in x.T]
    return np.array([one[0] for one in lines]), np.array([one[1] for one in lines])


def member_weights(x: Floats, y: Floats, seed: int) -> Floats:
    """Return the weights of the members, the pull to equal ones chosen by cross-validation.

    Each member is first put on the scale of y by a line of its own, so that what counts is
    how well it tells items apart, not where it puts the middle.

    Parameters
    ----------
    x : float64 [n, I]
        Means of the members.
    y : float64 [n]
        Known grades.
    seed : int
        Of the folds.
    """
    fold = folds_of(y.size, seed)

    def loss(left: NDArray[np.bool_], strength: float) -> float:
        a, b = lined(x[~left], y[~left])
        weights = convex(a + b * x[~left], y[~left], strength)
        return float(np.sum((y[left] - (a + b * x[left]) @ weights) ** 2))

    strength, _ = strength_by_folds(fold, loss, STRENGTHS)
    a, b = lined(x, y)
    return convex(a + b * x, y, strength)
