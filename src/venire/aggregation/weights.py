"""Weights and scales of a committee's members: equal, or learnt from known grades."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.aggregation.calibration import FOLDS, folds_of, line, strength_by_folds
from venire.arrays import Floats, Mask

STRENGTHS = (10.0, 30.0, 100.0)
"""Pulls to equal weights that are tried: a hundred pairs do not tell weaker ones apart."""
OF_A_LINE = 10.0
"""Strength with which each member's own line is drawn to the diagonal."""
MOST = 2.0
"""No member is stretched more: who hardly tells items apart may have nothing to tell."""


class Combination(NamedTuple):
    """How members' means become one: each on a line of its own, then weighed."""

    weight: Floats
    """[I] 0 or more, summing to 1."""
    intercept: Floats
    """[I]"""
    slope: Floats
    """[I]"""

    def lined(self, x: Floats) -> Floats:
        """Return the members' means [n, I] on their lines."""
        out: Floats = self.intercept + self.slope * x
        return out

    def mean(self, x: Floats) -> Floats:
        """Return the committee's mean [n]."""
        out: Floats = self.lined(x) @ self.weight
        return out


def equal(x: Floats) -> Combination:
    """Return equal weights, each member stretched about its own mean to the usual spread.

    A model that is too sure spreads its means wider than one that is not, and would count
    for more in a plain mean. Only the spread is made equal: where a member puts the middle
    changes no difference of items, and the mean over members is the same.

    Parameters
    ----------
    x : float64 [M, I]
        Means of the members.
    """
    count = x.shape[1]
    if not x.size:
        return Combination(np.full(count, 1.0 / count), np.zeros(count), np.ones(count))
    spread = x.std(axis=0)
    usual = float(spread.mean())
    slope = np.full(count, 1.0)
    there = spread > 0.0
    slope[there] = np.minimum(usual / spread[there], MOST)
    return Combination(np.full(count, 1.0 / count), x.mean(axis=0) * (1.0 - slope), slope)


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


def learnt(x: Floats, y: Floats, seed: int) -> tuple[Combination, Floats]:
    """Return weights and lines by known grades, and what they give for pairs left out.

    Each member is first put on the scale of y by a line of its own, so that what counts is
    how well it tells items apart, not where it puts the middle; the pull to equal weights
    is chosen by cross-validation. The second [FOLDS, n] are the means of all pairs by what
    is learnt without each fold.

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

    def fit(there: Mask, strength: float) -> Combination:
        a, b = lined(x[there], y[there])
        return Combination(convex(a + b * x[there], y[there], strength), a, b)

    def loss(left: Mask, strength: float) -> float:
        return float(np.sum((y[left] - fit(~left, strength).mean(x[left])) ** 2))

    strength, _ = strength_by_folds(fold, loss, STRENGTHS)
    without = np.stack([fit(fold != at, strength).mean(x) for at in range(FOLDS)])
    return fit(np.ones(y.size, np.bool_), strength), without
