"""Weights and lines of the members of a committee: equal, or learnt from known grades."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.aggregation.calibration import FOLDS, assign_folds, choose_strength, fit_line
from venire.arrays import Floats, Mask

STRENGTHS = (10.0, 30.0, 100.0)
"""Candidate strengths of the pull to equal weights; 100 pairs do not distinguish weaker ones."""
LINE_STRENGTH = 10.0
"""Strength of the pull of the line of each member to the diagonal."""
MAX_STRETCH = 2.0
"""Largest stretch: a member that hardly separates items may know nothing about them."""


class Combination(NamedTuple):
    """The weighted mean of the members' means, each mapped by its own line first."""

    weight: Floats
    """[I] >= 0, with sum 1."""
    intercept: Floats
    """Of the line of each member [I]."""
    slope: Floats
    """Of the line of each member [I]."""

    def apply_lines(self, x: Floats) -> Floats:
        """Return the means of the members [n, I] mapped by their lines."""
        out: Floats = self.intercept + self.slope * x
        return out

    def combine(self, x: Floats) -> Floats:
        """Return the mean of the committee [n]."""
        out: Floats = self.apply_lines(x) @ self.weight
        return out


def weigh_equally(x: Floats) -> Combination:
    """Return equal weights, with each member stretched about its own mean to the average spread.

    An overconfident model spreads its means wider than others and would dominate a plain
    mean. Only the spread is made equal: the location of a member changes no difference between
    items, and the mean over members stays the same.

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
    varies = spread > 0.0
    slope[varies] = np.minimum(usual / spread[varies], MAX_STRETCH)
    return Combination(np.full(count, 1.0 / count), x.mean(axis=0) * (1.0 - slope), slope)


def fit_convex(x: Floats, y: Floats, strength: float) -> Floats:
    """Return weights [I], >= 0 with sum 1, for which x @ weights is nearest to y.

    Least squares with a penalty for unequal weights that counts like ``strength`` pairs with
    the average difference between members. Non-negative least squares (Lawson and Hanson
    1974); a row with a large weight enforces the sum.

    Parameters
    ----------
    x : float64 [n, I]
    y : float64 [n]
    strength : float
    """
    from scipy.optimize import nnls

    n, count = x.shape
    variance = float(np.mean(x.var(axis=1)))
    if variance <= 0.0:
        return np.full(count, 1.0 / count)
    pull = np.sqrt(strength * variance * count)
    heavy = 1e3 * (np.abs(x).max() * np.sqrt(n) + pull)
    rows = np.vstack([x, pull * np.eye(count), heavy * np.ones((1, count))])
    goal = np.concatenate([y, np.full(count, pull / count), [heavy]])
    solution, _ = nnls(rows, goal)
    weights: Floats = solution / solution.sum()
    return weights


def fit_lines(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return intercept [I] and slope [I] of the line from each member to y."""
    lines = [fit_line(column, y, LINE_STRENGTH) for column in x.T]
    return np.array([a for a, _ in lines]), np.array([b for _, b in lines])


def learn_weights(x: Floats, y: Floats, seed: int) -> tuple[Combination, Floats]:
    """Return weights and lines learnt from known grades, and cross-validated means.

    Each member is first mapped to the scale of y by its own line, so that its weight depends
    on how well it separates items, not on its location. The strength of the pull to equal
    weights is chosen by cross-validation. The second value [FOLDS, n] holds the means of all
    pairs by the combination learnt without each fold.

    Parameters
    ----------
    x : float64 [n, I]
        Means of the members.
    y : float64 [n]
        Known grades.
    seed : int
        Of the folds.
    """
    fold = assign_folds(y.size, seed)

    def fit(used: Mask, strength: float) -> Combination:
        a, b = fit_lines(x[used], y[used])
        return Combination(fit_convex(a + b * x[used], y[used], strength), a, b)

    def loss(left_out: Mask, strength: float) -> float:
        return float(np.sum((y[left_out] - fit(~left_out, strength).combine(x[left_out])) ** 2))

    strength, _ = choose_strength(fold, loss, STRENGTHS)
    without = np.stack([fit(fold != number, strength).combine(x) for number in range(FOLDS)])
    return fit(np.ones(y.size, np.bool_), strength), without
