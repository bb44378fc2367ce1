"""Expected agreement of orders by judgments per pair: disjoint halves, corrected in worlds.

The estimate is that of the disjoint halves of the data. The same is computed in worlds drawn
from a fitted crowd, where the truth is known: its mean error there is subtracted, and the spread
of its error is the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from venire.arrays import Floats
from venire.simulation.campaigns.disjoint_halves import lengthen
from venire.stats.order_agreement import mean_off_diagonal, tau_ap_b_matrix, tau_b_matrix

TARGETS = ("tau_rep", "tau_inf", "tau_ap", "tau_ap_inf")
"""Agreement with the order of another crowd (rep), of infinitely many judgments (inf)."""
WIDTH = 2.1
"""Half of an interval in standard deviations of the error: t of 95% for about 20 worlds."""


@dataclass(frozen=True)
class ScoredWorld:
    """Scores of the systems in one world.

    Attributes
    ----------
    by_judges : float64 [G, R, S]
        Under each number of judgments per pair of each of R crowds.
    own : float64 [R, S]
        Under as many judgments as the data have.
    settled : float64 [S]
        Under infinitely many judgments.
    halves : float64 [splits, 2, S]
        Under two disjoint halves of the judgments of one of the crowds.
    """

    by_judges: Floats
    own: Floats
    settled: Floats
    halves: Floats


@dataclass(frozen=True)
class OrderEstimates:
    """Estimates of one measure by number of judgments per pair, each with a 95% interval.

    Attributes
    ----------
    values : dict
        Name of :data:`TARGETS`, or ``sd`` -> float64 [G, 3]: estimate, low, high.
    half_tau : float
        Mean tau of the disjoint halves of the data.
    reliability : float
        kappa: share of the variance of the systems' scores that is not noise of the judgments.
    """

    values: dict[str, Floats] = field(default_factory=dict)
    half_tau: float = 0.0
    reliability: float = 0.0


def estimate_orders(
    seen: Floats,
    halves: Floats,
    half_size: int,
    worlds: Sequence[ScoredWorld],
    judges: Sequence[int],
) -> OrderEstimates | None:
    """Estimate sd, tau and tau_ap by number of judgments; None where the order is undefined.

    Parameters
    ----------
    seen : float64 [S]
        Scores under all judgments of the data.
    halves : float64 [splits, 2, S]
        Scores under two disjoint halves of them.
    half_size : int
    worlds : sequence of ScoredWorld [D]
    judges : sequence of int [G]
    """
    half_tau, half_tau_ap = measure_halves(halves)
    if np.isnan(half_tau):
        return None
    moves, reliability = move_systems(seen, worlds)
    estimate = _lengthen_both(half_tau, half_tau_ap, half_size, judges)
    errors = np.empty((len(worlds), len(judges), len(TARGETS)))
    sd = np.empty((len(worlds), len(judges)))
    for d, (world, move) in enumerate(zip(worlds, moves, strict=True)):
        tau, tau_ap = measure_halves(world.halves + move)
        guess = _lengthen_both(tau, tau_ap, half_size, judges)
        end = (world.settled + move)[None]
        for g in range(len(judges)):
            scores = world.by_judges[g] + move
            sd[d, g] = world.by_judges[g].std(axis=0, ddof=1).mean()
            truth = (
                mean_off_diagonal(tau_b_matrix(scores, scores)),
                _mean(tau_b_matrix(scores, end)),
                mean_off_diagonal(tau_ap_b_matrix(scores, scores)),
                _mean(tau_ap_b_matrix(scores, end)),
            )
            errors[d, g] = guess[g] - truth
    is_defined = ~np.isnan(errors).any(axis=(1, 2))
    if is_defined.sum() < 2:
        return None
    errors = errors[is_defined]
    middle = estimate - errors.mean(axis=0)
    half_width = WIDTH * errors.std(axis=0, ddof=1)
    ends = np.stack([middle, middle - half_width, middle + half_width], axis=2)
    values = {name: np.clip(ends[:, k], -1.0, 1.0) for k, name in enumerate(TARGETS)}
    low, high = np.quantile(sd, [0.025, 0.975], axis=0)
    values["sd"] = np.stack([sd.mean(axis=0), low, high], axis=1)
    return OrderEstimates(values, half_tau, reliability)


def measure_halves(scores: Floats) -> tuple[float, float]:
    """Return the mean tau-b and tau_ap,b of the two orders of each split [splits, 2, S]."""
    pairs = [(split[:1], split[1:]) for split in scores]
    return (
        _mean(np.array([tau_b_matrix(a, b) for a, b in pairs])),
        _mean(np.array([tau_ap_b_matrix(a, b) for a, b in pairs])),
    )


def move_systems(seen: Floats, worlds: Sequence[ScoredWorld]) -> tuple[list[Floats], float]:
    """Return what is added to the scores of each world [S], and the reliability kappa.

    A fitted crowd draws the systems together and is too sure of them. So the mean of its worlds
    is moved to the scores seen, shrunk by kappa = 1 - noise / variance, and the spread of the
    worlds about their mean is widened by ``f = sqrt(kappa noise / spread)``, 1 <= f <= 3. Noise
    is the variance of a score over crowds of the size of the data's. All scores are centred.
    """
    centred = _centre(seen)
    own = _centre(np.stack([world.own for world in worlds]))
    noise = float(own.var(axis=1, ddof=1).mean())
    large = _centre(np.stack([world.by_judges[-1] for world in worlds]))
    crowds = large.shape[1]
    deviation = large.mean(axis=1) - large.mean(axis=(0, 1))
    spread = float((deviation**2).sum(axis=0).mean()) / (len(worlds) - 1)
    spread = max(1e-12, spread - float(large.var(axis=1, ddof=1).mean()) / crowds)
    reliability = max(0.0, 1 - noise / max(float(centred.var(ddof=1)), 1e-15))
    widening = float(np.clip(np.sqrt(reliability * noise / spread), 1, 3))
    base = reliability * centred - own.mean(axis=(0, 1))
    return [base + (widening - 1) * row for row in deviation], reliability


def _lengthen_both(tau: float, tau_ap: float, half_size: int, judges: Sequence[int]) -> Floats:
    """Return the extrapolated taus in the order of TARGETS [G, 4]."""
    columns = [*lengthen(tau, half_size, judges), *lengthen(tau_ap, half_size, judges)]
    return np.stack(columns, axis=1)


def _centre(scores: Floats) -> Floats:
    centred: Floats = scores - scores.mean(axis=-1, keepdims=True)
    return centred


def _mean(values: Floats) -> float:
    """Return the mean of the defined values; nan for none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
