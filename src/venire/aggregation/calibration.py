"""Calibration: known grades correct the scale and the probabilities of a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import polars as pl

from venire.aggregation.posterior import Posterior
from venire.arrays import Floats, Longs, Mask
from venire.errors import BadSetting
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR, express

FEWEST = 50
"""Smallest number of known pairs for a calibration."""
FOLDS = 5
STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
"""Candidate strengths of the pull to no change, in pairs."""
FLOOR = 0.005
"""Share of the probabilities that is spread evenly over the grades."""
LEAST_SLOPE = 0.05
SPREAD_STRENGTH = 5.0
"""Strength of the pull of the spread to the slope, in pairs: each has information 1/2 on ln var."""
PROBABILITY_STRENGTHS = (10.0, 30.0)
"""Candidate strengths for temperature and offsets, which are K numbers."""


@dataclass(frozen=True)
class Calibration:
    """A correction learnt from known grades.

    Attributes
    ----------
    pairs : int
        Number of known pairs.
    intercept, slope : float
        The calibrated mean is intercept + slope * mean.
    temperature : float
        Probabilities are raised to the power of 1 / temperature: > 1 makes them less certain.
    offsets : tuple of float [K]
        Added to the logarithms of the probabilities afterwards; 0 for the lowest grade.
    floor, spread : float
        The calibrated variance is floor^2 + (spread * sd)^2.
    error_before, error_after : float
        Mean squared error on the known pairs; after calibration by cross-validation.
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

    def describe(self) -> str:
        """Return one line of text."""
        return (
            f"calibrated with {self.pairs:,} known pairs: mean = {self.intercept:.3f} + "
            f"{self.slope:.3f} x mean, temperature {self.temperature:.2f}, "
            f"variance = {self.floor:.3f}^2 + ({self.spread:.2f} sd)^2"
        )

    def widen(self, sd: Floats) -> Floats:
        """Return calibrated standard deviations."""
        return np.hypot(self.floor, self.spread * sd)


def assign_folds(n: int, seed: int) -> Longs:
    """Return the fold of each of n pairs."""
    rank = np.random.default_rng(seed).permutation(n)
    return (rank % FOLDS).astype(np.int64)


def choose_strength(
    fold: Longs,
    loss: Callable[[Mask, float], float],
    strengths: Sequence[float],
) -> tuple[float, float]:
    """Return the strength with the smallest loss on pairs left out, and that loss per pair.

    Parameters
    ----------
    fold : int [n]
    loss : callable
        ``loss(left_out, strength)``: learn from the others, return the sum over those left out.
    strengths : sequence of float
        Candidates.
    """
    losses = [
        sum(loss(fold == number, strength) for number in range(FOLDS)) / fold.size
        for strength in strengths
    ]
    best = int(np.argmin(losses))
    return strengths[best], float(losses[best])


def fit_line(x: Floats, y: Floats, strength: float) -> tuple[float, float]:
    """Return intercept and slope, shrunk to 0 and 1 like by ``strength`` pairs on the diagonal."""
    middle = float(x.mean())
    shift = float((y - x).mean()) * x.size / (x.size + strength)
    spread = float(x.var())
    if spread <= 0.0:
        return shift, 1.0
    covariance = float(np.mean((x - middle) * (y - y.mean())))
    slope = (x.size * covariance + strength * spread) / (x.size * spread + strength * spread)
    slope = max(slope, 0.0)
    return middle + shift - slope * middle, slope


def take_logs(probabilities: Floats) -> Floats:
    """Return logarithms of probabilities, of which a small share is spread over all grades."""
    out: Floats = np.log((1.0 - FLOOR) * probabilities + FLOOR / max(probabilities.shape[1], 1))
    return out


def apply_temperature(
    probabilities: Floats, temperature: float, offsets: Sequence[float]
) -> Floats:
    """Return rows proportional to p^(1 / temperature) exp(offset), with sum 1."""
    log = take_logs(probabilities) / temperature + np.asarray(offsets)
    out = np.exp(log - log.max(axis=1, keepdims=True, initial=-np.inf))
    total: Floats = out / out.sum(axis=1, keepdims=True)
    return total


def fit_temperature(
    probabilities: Floats, grade: Longs, strength: float
) -> tuple[float, tuple[float, ...]]:
    """Return temperature and offsets with the highest likelihood, shrunk to 1 and 0.

    The penalty is a Gaussian prior on ln T and on the offsets with precision ``strength`` / 4,
    the information of ``strength`` pairs on log odds near 0.
    """
    from scipy.optimize import minimize

    log, rows = take_logs(probabilities), np.arange(grade.size)

    def loss(x: Floats) -> tuple[float, Floats]:
        heat = np.exp(-x[0])
        z = heat * log + np.append(0.0, x[1:])
        z = z - z.max(axis=1, keepdims=True)
        total = np.log(np.exp(z).sum(axis=1, keepdims=True))
        residual = np.exp(z - total)
        residual[rows, grade] -= 1.0
        slope = np.append(-heat * np.sum(residual * log), residual.sum(axis=0)[1:])
        value = float(np.sum(total[:, 0] - z[rows, grade])) + strength / 8.0 * float(x @ x)
        return value, slope + strength / 4.0 * x

    x = minimize(loss, np.zeros(log.shape[1]), jac=True, method="L-BFGS-B").x
    return float(np.exp(x[0])), (0.0, *map(float, x[1:]))


def fit_widths(error: Floats, sd: Floats, slope: float) -> tuple[float, float]:
    """Return floor and spread: the Gaussian with the highest likelihood of the errors.

    Its variance is floor^2 + (spread * sd)^2. An overconfident model is more so for some items
    than for others; a factor alone would leave these far too narrow. ln spread is shrunk to
    ln slope with the strength of five pairs.

    Parameters
    ----------
    error : float64 [n]
        Errors of pairs left out.
    sd : float64 [n]
        Standard deviations of the model.
    slope : float
        Slope of the mean.
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
        residual = (1.0 - square / variance) / variance
        value = float(np.sum(np.log(variance) + square / variance)) / 2.0
        slopes = np.array([floor * residual.sum(), stretched @ residual]) / 2.0
        pull = SPREAD_STRENGTH / 2.0 * np.array([0.0, x[1] - goal])
        return value + 0.5 * float(pull[1] * (x[1] - goal)), slopes + pull

    start = np.array([np.log(0.5), goal])
    bounds = [(-20.0, 5.0), (goal - 10.0, goal + 10.0)]
    x = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(np.sqrt(usual * np.exp(x[0]))), float(np.exp(x[1] / 2.0))


def learn_calibration(
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
        Seed of the folds.
    without : float64 [FOLDS, n], optional
        Means learnt without each fold, where the mean itself was learnt from these pairs.
    """
    y = values[grade]
    fold = assign_folds(y.size, seed)
    if without is None:
        without = np.tile(mean, (FOLDS, 1))

    def predict_left_out(strength: float) -> Floats:
        predictions = np.empty(y.size)
        for number in range(FOLDS):
            left_out, x = fold == number, without[number]
            a, b = fit_line(x[~left_out], y[~left_out], strength)
            predictions[left_out] = a + b * x[left_out]
        return predictions

    def log_loss(left_out: Mask, strength: float) -> float:
        learnt = fit_temperature(probabilities[~left_out], grade[~left_out], strength)
        p = apply_temperature(probabilities[left_out], *learnt)
        return float(-np.log(p[np.arange(p.shape[0]), grade[left_out]]).sum())

    errors = [float(np.mean((y - predict_left_out(strength)) ** 2)) for strength in STRENGTHS]
    after = min(errors)
    strength = STRENGTHS[errors.index(after)]
    intercept, slope = fit_line(mean, y, strength)
    pull, _ = choose_strength(fold, log_loss, PROBABILITY_STRENGTHS)
    temperature, offsets = fit_temperature(probabilities, grade, pull)
    floor, spread = fit_widths(y - predict_left_out(strength), sd, slope)
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


def find_known_rows(items: pl.DataFrame, gold: Qrels, values: Floats) -> tuple[Longs, Longs]:
    """Return the rows of items with a known grade, and the positions of these grades."""
    joined = items.select(PAIR).join(
        gold.frame.select(*PAIR, "relevance"), on=PAIR, how="left", maintain_order="left"
    )
    grade = joined["relevance"].cast(pl.Float64).to_numpy()
    on_scale = np.isin(grade, values)
    rows = np.flatnonzero(on_scale)
    return rows, np.searchsorted(values, grade[rows]).astype(np.int64)


def calibrate(posterior: Posterior, gold: Qrels, *, seed: int = 0) -> Posterior:
    r"""Return a result with its scale and probabilities corrected by known grades.

    .. math:: \hat z_m' = a + b \hat z_m, \qquad p_{mk}' \propto p_{mk}^{1/T} e^{o_k}

    a and b are shrunk to 0 and 1, T to 1 and o to 0, with strengths chosen by
    cross-validation over the known pairs. The variance becomes a floor plus a multiple of the
    old one, under which the errors of pairs left out are most likely. The known pairs must
    not have been held in the fit.

    Source: temperature and offsets, Guo et al., "On calibration of modern neural
    networks" (ICML 2017).

    Parameters
    ----------
    posterior : Posterior
    gold : Qrels
        50 or more known pairs; those that were not judged are not used.
    seed : int
        Seed of the folds.

    Raises
    ------
    BadSetting
        For fewer than 50 known pairs.
    """
    values = posterior.scale.array()
    rows, grade = find_known_rows(posterior.items, gold, values)
    if rows.size < FEWEST:
        raise BadSetting(
            f"must hold {FEWEST} or more pairs that were judged (got {rows.size})",
            argument="calibrate",
            value=rows.size,
        )
    mean, sd = posterior.mean, posterior.items["sd"].to_numpy()
    learnt = learn_calibration(
        mean[rows], sd[rows], posterior.probabilities[rows], values, grade, seed
    )
    corrected = learnt.intercept + learnt.slope * mean
    return replace(
        posterior,
        items=posterior.items.with_columns(
            pl.Series("estimate", corrected),
            pl.Series("mean", corrected),
            pl.Series("sd", learnt.widen(sd)),
        ),
        probabilities=apply_temperature(
            posterior.probabilities, learnt.temperature, learnt.offsets
        ),
        calibration=asdict(learnt),
        notes=(*posterior.notes, learnt.describe(), *_note_unused(gold, rows.size)),
    )


def _note_unused(gold: Qrels, used: int) -> tuple[str, ...]:
    if len(gold) == used:
        return ()
    return (f"{express(len(gold) - used, 'known pair')} not judged, or off the scale: not used",)
