"""Calibration: what known grades say of the scale and of the probabilities of a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from venire.aggregation.posterior import Posterior
from venire.arrays import Floats, Longs, Mask
from venire.errors import BadSetting
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR, counted

FEWEST = 50
"""Known pairs below which nothing is calibrated."""
FOLDS = 5
STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
"""Pairs more that say: nothing is to be changed."""
FLOOR = 0.005
"""Share of every probability that is spread evenly over the grades."""
LEAST_SLOPE = 0.05
OF_A_WIDTH = 5.0
"""Pairs that say: the spread is the slope. Each has information 1/2 on the ln of a variance."""
PULLS = (10.0, 30.0)
"""The same, of the probabilities: their temperature and offsets have K numbers to learn."""


@dataclass(frozen=True)
class Calibration:
    """What was learnt from known grades.

    Attributes
    ----------
    pairs : int
        Known pairs it was learnt from.
    intercept, slope : float
        The calibrated mean is intercept + slope * mean.
    temperature : float
        Probabilities are raised to the power of 1 / temperature: above 1 makes them less sure.
    offsets : tuple of float [K]
        What is added to their logarithms afterwards: 0 for the lowest grade.
    floor, spread : float
        The calibrated variance is floor^2 + (spread * sd)^2.
    error_before, error_after : float
        Mean squared error on the known pairs, after as cross-validation has it.
    """

    pairs: int
    intercept: float
    slope: float
    temperature: float
    offsets: tuple[float, ...]
    floor: float
    spread: float
    error_before: float
    error_after: float

    def note(self) -> str:
        """Return one line in words."""
        return (
            f"calibrated with {self.pairs:,} known pairs: mean = {self.intercept:.3f} + "
            f"{self.slope:.3f} x mean, temperature {self.temperature:.2f}, "
            f"variance = {self.floor:.3f}^2 + ({self.spread:.2f} sd)^2"
        )

    def width(self, sd: Floats) -> Floats:
        """Return calibrated standard deviations."""
        return np.hypot(self.floor, self.spread * sd)


def folds_of(n: int, seed: int) -> Longs:
    """Return the fold of each of n pairs."""
    rank = np.random.default_rng(seed).permutation(n)
    return (rank % FOLDS).astype(np.int64)


def strength_by_folds(
    fold: Longs,
    loss: Callable[[Mask, float], float],
    strengths: Sequence[float],
) -> tuple[float, float]:
    """Return the strength with the least loss on pairs left out, and that loss a pair.

    Parameters
    ----------
    fold : int [n]
    loss : callable
        ``loss(left out, strength)``: learn from the others, return the sum over those left out.
    """
    sums = [
        sum(loss(fold == at, strength) for at in range(FOLDS)) / fold.size for strength in strengths
    ]
    best = int(np.argmin(sums))
    return strengths[best], float(sums[best])


def line(x: Floats, y: Floats, strength: float) -> tuple[float, float]:
    """Return intercept and slope, shrunk to 0 and 1 as by ``strength`` pairs on the diagonal."""
    middle = float(x.mean())
    off = float((y - x).mean()) * x.size / (x.size + strength)
    spread = float(x.var())
    if spread <= 0.0:
        return off, 1.0
    both = float(np.mean((x - middle) * (y - y.mean())))
    slope = (x.size * both + strength * spread) / (x.size * spread + strength * spread)
    slope = max(slope, 0.0)
    return middle + off - slope * middle, slope


def logs(probabilities: Floats) -> Floats:
    """Return logarithms of probabilities, a little of each spread evenly over the grades."""
    out: Floats = np.log((1.0 - FLOOR) * probabilities + FLOOR / max(probabilities.shape[1], 1))
    return out


def heated(probabilities: Floats, temperature: float, offsets: Sequence[float]) -> Floats:
    """Return rows proportional to p^(1 / temperature) exp(offset), summing to 1."""
    log = logs(probabilities) / temperature + np.asarray(offsets)
    out = np.exp(log - log.max(axis=1, keepdims=True, initial=-np.inf))
    total: Floats = out / out.sum(axis=1, keepdims=True)
    return total


def warmth(probabilities: Floats, grade: Longs, strength: float) -> tuple[float, tuple[float, ...]]:
    """Return temperature and offsets with the highest likelihood, drawn to 1 and 0.

    The penalty is that of a Gaussian on ln T and on the offsets, of precision
    ``strength`` / 4: what as many pairs say of the log odds of an even chance.
    """
    from scipy.optimize import minimize

    log, rows = logs(probabilities), np.arange(grade.size)

    def loss(x: Floats) -> tuple[float, Floats]:
        heat = np.exp(-x[0])
        z = heat * log + np.append(0.0, x[1:])
        z = z - z.max(axis=1, keepdims=True)
        total = np.log(np.exp(z).sum(axis=1, keepdims=True))
        away = np.exp(z - total)
        away[rows, grade] -= 1.0
        slope = np.append(-heat * np.sum(away * log), away.sum(axis=0)[1:])
        value = float(np.sum(total[:, 0] - z[rows, grade])) + strength / 8.0 * float(x @ x)
        return value, slope + strength / 4.0 * x

    x = minimize(loss, np.zeros(log.shape[1]), jac=True, method="L-BFGS-B").x
    return float(np.exp(x[0])), (0.0, *map(float, x[1:]))


def widths(error: Floats, sd: Floats, slope: float) -> tuple[float, float]:
    """Return floor and spread: the Gaussian with the highest likelihood of the errors.

    Its variance is floor^2 + (spread * sd)^2. A model that is too sure is so of some items
    more than of others; a factor alone would leave those far too narrow. ln spread is drawn
    to that of the slope by what five pairs say.

    Parameters
    ----------
    error : float64 [n]
        Of pairs that were left out.
    sd : float64 [n]
        As the model has it.
    slope : float
        Of the mean.
    """
    from scipy.optimize import minimize

    usual = float(np.mean(error**2))
    goal = 2.0 * float(np.log(max(slope, LEAST_SLOPE)))
    if usual <= 0.0:
        return 0.0, slope
    square, claimed = error**2 / usual, sd**2 / usual

    def loss(x: Floats) -> tuple[float, Floats]:
        floor, stretched = np.exp(x[0]), np.exp(x[1]) * claimed
        variance = floor + stretched
        away = (1.0 - square / variance) / variance
        value = float(np.sum(np.log(variance) + square / variance)) / 2.0
        slopes = np.array([floor * away.sum(), stretched @ away]) / 2.0
        pull = OF_A_WIDTH / 2.0 * np.array([0.0, x[1] - goal])
        return value + 0.5 * float(pull[1] * (x[1] - goal)), slopes + pull

    start = np.array([np.log(0.5), goal])
    bounds = [(-20.0, 5.0), (goal - 10.0, goal + 10.0)]
    x = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(np.sqrt(usual * np.exp(x[0]))), float(np.exp(x[1] / 2.0))


def learn(
    mean: Floats,
    sd: Floats,
    probabilities: Floats,
    values: Floats,
    grade: Longs,
    seed: int,
    without: Floats | None = None,
) -> Calibration:
    """Learn slope, intercept, temperature and widths from known pairs.

    Parameters
    ----------
    mean, sd : float64 [n]
    probabilities : float64 [n, K]
    values : float64 [K]
        Grades of the scale.
    grade : int [n]
        Position of the known grade.
    seed : int
        Of the folds.
    without : float64 [FOLDS, n], optional
        Means by what was learnt without each fold, where the mean itself was learnt from
        these pairs.
    """
    y = values[grade]
    fold = folds_of(y.size, seed)
    if without is None:
        without = np.tile(mean, (FOLDS, 1))

    def left_out(strength: float) -> Floats:
        out = np.empty(y.size)
        for at in range(FOLDS):
            left, x = fold == at, without[at]
            a, b = line(x[~left], y[~left], strength)
            out[left] = a + b * x[left]
        return out

    def heat_loss(left: Mask, strength: float) -> float:
        p = heated(probabilities[left], *warmth(probabilities[~left], grade[~left], strength))
        return float(-np.log(p[np.arange(p.shape[0]), grade[left]]).sum())

    tried = [float(np.mean((y - left_out(strength)) ** 2)) for strength in STRENGTHS]
    after = min(tried)
    strength = STRENGTHS[tried.index(after)]
    out = left_out(strength)
    intercept, slope = line(mean, y, strength)
    pull, _ = strength_by_folds(fold, heat_loss, PULLS)
    temperature, offsets = warmth(probabilities, grade, pull)
    floor, spread = widths(y - out, sd, slope)
    return Calibration(
        pairs=int(y.size),
        intercept=intercept,
        slope=slope,
        temperature=temperature,
        offsets=offsets,
        floor=floor,
        spread=spread,
        error_before=float(np.mean((y - mean) ** 2)),
        error_after=after,
    )


def known_rows(items: pl.DataFrame, gold: Qrels, values: Floats) -> tuple[Any, Any]:
    """Return the rows of the items that are known, and the position of their grades."""
    joined = items.select(PAIR).join(
        gold.frame.select(*PAIR, "relevance"), on=PAIR, how="left", maintain_order="left"
    )
    grade = joined["relevance"].cast(pl.Float64).to_numpy()
    on_scale = np.isin(grade, values)
    rows = np.flatnonzero(on_scale)
    return rows, np.searchsorted(values, grade[rows]).astype(np.int64)


def calibrate(posterior: Posterior, gold: Qrels, *, seed: int = 0) -> Posterior:
    r"""Return a result whose scale and probabilities known grades have corrected.

    .. math:: \hat z_m' = a + b \hat z_m, \qquad p_{mk}' \propto p_{mk}^{1/T} e^{o_k}

    a and b are drawn to 0 and 1, T to 1 and o to 0, with strengths chosen by
    cross-validation over the known pairs; the variance becomes a floor and a multiple of
    what it was, under which errors of pairs left out are most likely. The known pairs must
    not have been held in the fit.

    Source: temperature and offsets, Guo et al., "On calibration of modern neural
    networks" (ICML 2017).

    Parameters
    ----------
    posterior : Posterior
    gold : Qrels
        50 known pairs or more; those that were not judged are not used.
    seed : int
        Of the folds.

    Raises
    ------
    BadSetting
        For fewer than 50 known pairs.
    """
    values = posterior.scale.array()
    rows, grade = known_rows(posterior.items, gold, values)
    if rows.size < FEWEST:
        raise BadSetting(
            f"calibration takes {FEWEST} known pairs or more that were judged, not {rows.size}"
        )
    mean, sd = posterior.mean, posterior.items["sd"].to_numpy()
    found = learn(mean[rows], sd[rows], posterior.probabilities[rows], values, grade, seed)
    return replace(
        posterior,
        items=posterior.items.with_columns(
            pl.Series("estimate", found.intercept + found.slope * mean),
            pl.Series("mean", found.intercept + found.slope * mean),
            pl.Series("sd", found.width(sd)),
        ),
        probabilities=heated(posterior.probabilities, found.temperature, found.offsets),
        calibration=asdict(found),
        notes=(*posterior.notes, found.note(), *_unused(gold, rows.size)),
    )


def _unused(gold: Qrels, used: int) -> tuple[str, ...]:
    if len(gold) == used:
        return ()
    return (f"{counted(len(gold) - used, 'known pair')} not judged, or off the scale: not used",)
