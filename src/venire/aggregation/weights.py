"""Weights and lines of the members of a committee, learnt from known grades."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.aggregation.calibration import FOLDS, assign_folds, choose_strength, fit_line
from venire.arrays import Floats, Mask

STRENGTHS = (10.0, 30.0, 100.0, 300.0, 1000.0)
"""Candidate strengths of the pull to the weights without known grades, and of lines to x = y."""


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


def fit_convex(x: Floats, y: Floats, strength: float, towards: Floats | None = None) -> Floats:
    """Return weights [I], >= 0 with sum 1, for which x @ weights is nearest to y.

    Least squares with a penalty for other weights than ``towards`` that counts like ``strength``
    pairs with the average difference between members. Non-negative least squares (Lawson and Hanson
    1974); a row with a large weight enforces the sum.

    Parameters
    ----------
    x : float64 [n, I]
    y : float64 [n]
    strength : float
    towards : float64 [I], optional
        Equal weights by default.
    """
    from scipy.optimize import nnls

    n, count = x.shape
    target = np.full(count, 1.0 / count) if towards is None else towards
    variance = float(np.mean(x.var(axis=1)))
    if variance <= 0.0:
        return target
    pull = np.sqrt(strength * variance * count)
    heavy = 1e3 * (np.abs(x).max() * np.sqrt(n) + pull)
    rows = np.vstack([x, pull * np.eye(count), heavy * np.ones((1, count))])
    goal = np.concatenate([y, pull * target, [heavy]])
    solution, _ = nnls(rows, goal)
    weights: Floats = solution / solution.sum()
    return weights


def fit_lines(x: Floats, y: Floats, strength: float) -> tuple[Floats, Floats]:
    """Return intercept [I] and slope [I] of the line from each member to y.

    The line is drawn to the diagonal like by ``strength`` pairs.
    """
    lines = [fit_line(column, y, strength) for column in x.T]
    return np.array([a for a, _ in lines]), np.array([b for _, b in lines])


def learn_weights(
    x: Floats, y: Floats, seed: int, towards: Floats | None = None
) -> tuple[Combination, Floats]:
    """Return weights and lines learnt from known grades, and cross-validated means.

    Each member is first mapped to the scale of y by its own line, so that its weight depends
    on how well it separates items, not on its location. The strength of the pull to the
    weights without known grades is chosen by cross-validation. The second value [FOLDS, n] holds
    the means of all pairs by the combination learnt without each fold.

    Parameters
    ----------
    x : float64 [n, I]
        Means of the members.
    y : float64 [n]
        Known grades.
    seed : int
        Of the folds.
    towards : float64 [I], optional
        Weights without known grades; equal by default.
    """
    fold = assign_folds(y.size, seed)

    def fit(used: Mask, strength: float) -> Combination:
        a, b = fit_lines(x[used], y[used], strength)
        weight = fit_convex(a + b * x[used], y[used], strength, towards)
        return Combination(weight, a, b)

    def loss(left_out: Mask, strength: float) -> float:
        return float(np.sum((y[left_out] - fit(~left_out, strength).combine(x[left_out])) ** 2))

    strength, _ = choose_strength(fold, loss, STRENGTHS)
    without = np.stack([fit(fold != number, strength).combine(x) for number in range(FOLDS)])
    return fit(np.ones(y.size, np.bool_), strength), without
