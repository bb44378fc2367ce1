"""How an order of systems changes: Kendall's tau, swapped pairs, ranks; many orders at once."""

from __future__ import annotations

import numpy as np

from venire.arrays import Floats, Longs


def swapped_pairs(before: Floats, after: Floats) -> Longs:
    """Return how many pairs of systems change places [S]; a tie is no change of places.

    Parameters
    ----------
    before : float64 [R]
        Scores of the systems.
    after : float64 [S, R]
        Their scores in each of S simulations.
    """
    product = _signs(before)[None] * _signs(after)
    swapped: Longs = (product < 0).sum(axis=1)
    return swapped


def kendall_taus(before: Floats, after: Floats) -> Floats:
    """Return Kendall's tau-b of one order with each of S others [S]; nan where undefined.

    ``(C - D) / sqrt((n - t1) (n - t2))``, C concordant and D discordant of n pairs, t1 and t2
    pairs tied in either (Kendall 1945). Without ties it is (C - D) / n.

    Parameters
    ----------
    before : float64 [R]
    after : float64 [S, R]

    Examples
    --------
    One swap of six pairs:

    >>> kendall_taus(np.array([4.0, 3.0, 2.0, 1.0]), np.array([[4.0, 3.0, 1.0, 2.0]])).round(4)
    array([0.6667])
    """
    first, second = _signs(before), _signs(after)
    above = (first[None] * second).sum(axis=1)
    below = np.sqrt(np.abs(first).sum() * np.abs(second).sum(axis=1))
    tau: Floats = np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0)
    return tau


def ranks_of(scores: Floats) -> Longs:
    """Return the place of each system, from 1, the best score first [..., R]; ties share it."""
    better: Longs = (scores[..., None, :] > scores[..., :, None]).sum(axis=-1)
    return better + 1


def _signs(scores: Floats) -> Floats:
    """Return the order of each pair of systems, -1, 0 or 1 [..., pairs]."""
    first, second = np.triu_indices(scores.shape[-1], 1)
    return np.sign(scores[..., first] - scores[..., second]).astype(np.float64)
