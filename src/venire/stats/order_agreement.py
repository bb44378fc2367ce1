"""Agreement of many orders of systems with many others: tau-b and tau_ap,b as matrices."""

from __future__ import annotations

import numpy as np

from venire.arrays import Floats

TIE = 1e-7
"""Scores that differ by less are tied: sums of floats in another order differ by about 1e-16."""


def tau_b_matrix(first: Floats, second: Floats) -> Floats:
    """Return tau-b of every row of ``first`` with every row of ``second``; nan where undefined.

    Formula as for :func:`venire.stats.rank_correlation.tau_b`.

    Parameters
    ----------
    first : float64 [R, n]
    second : float64 [Q, n]

    Returns
    -------
    float64 [R, Q]

    Examples
    --------
    >>> tau_b_matrix(np.array([[3.0, 2, 1], [1, 2, 3]]), np.array([[3.0, 1, 2]])).round(3).tolist()
    [[0.333], [-0.333]]
    """
    a, b = _sign_pairs(first), _sign_pairs(second)
    below = np.sqrt(np.outer(np.abs(a).sum(axis=1), np.abs(b).sum(axis=1)))
    tau: Floats = np.divide(a @ b.T, below, out=np.full(below.shape, np.nan), where=below > 0)
    return tau


def tau_ap_b_matrix(first: Floats, second: Floats) -> Floats:
    """Return tau_ap,b of every row of ``first`` with every row of ``second``; nan where undefined.

    Formula as for :func:`venire.stats.rank_correlation.tau_ap_b`; undefined where all tie.

    Parameters
    ----------
    first : float64 [R, n]
    second : float64 [Q, n]

    Returns
    -------
    float64 [R, Q]
    """
    a, b = _is_above(first), _is_above(second)
    out: Floats = (_one_way(a, b) + _one_way(b, a).T) / 2
    out[~a.any(axis=(1, 2))] = np.nan
    out[:, ~b.any(axis=(1, 2))] = np.nan
    return out


def mean_off_diagonal(matrix: Floats) -> float:
    """Return the mean over all pairs of different rows, nan entries left out; nan for none.

    For taus of R replications with one another, it is the U-statistic of the expected tau.
    """
    is_pair = ~np.eye(len(matrix), dtype=bool) & ~np.isnan(matrix)
    return float(matrix[is_pair].mean()) if is_pair.any() else float("nan")


def _sign_pairs(scores: Floats) -> Floats:
    """Return the order of each two systems: 1, -1 or 0 [R, n (n-1) / 2]."""
    i, j = np.triu_indices(scores.shape[1], 1)
    difference = scores[:, i] - scores[:, j]
    signs: Floats = np.where(np.abs(difference) < TIE, 0.0, np.sign(difference))
    return signs


def _is_above(scores: Floats) -> Floats:
    """Return 1.0 where system k stands above system i [R, i, k], else 0.0."""
    return (scores[:, None, :] - scores[:, :, None] >= TIE).astype(np.float64)


def _one_way(above: Floats, other: Floats) -> Floats:
    """Return ``2/m sum_i C(i) / (p_i - 1) - 1`` of each order [R] with each other one [Q]."""
    size = above.sum(axis=2)
    weight = np.divide(
        above, size[:, :, None], out=np.zeros(above.shape), where=size[:, :, None] > 0
    )
    agreed = weight.reshape(len(above), -1) @ other.reshape(len(other), -1).T
    below_top = (size > 0).sum(axis=1)
    out: Floats = 2.0 * agreed / np.maximum(below_top, 1)[:, None] - 1.0
    return out
