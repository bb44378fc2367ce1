"""The mixture of the members of a committee, with its calibration by known grades."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from venire.aggregation.calibration import Calibration, apply_temperature, learn_calibration
from venire.aggregation.committee_members import Opinions
from venire.aggregation.weights import Combination, learn_weights
from venire.arrays import Floats, Longs


class Known(NamedTuple):
    """Items with a known grade, in the order of the opinions."""

    rows: Longs
    """[n]"""
    grade: Longs
    """Position of the grade on the scale [n]."""


class Mixture(NamedTuple):
    """What a committee says about each item."""

    mean: Floats
    """[M]"""
    sd: Floats
    """[M]"""
    grades: Floats
    """Grade probabilities [M, K]."""
    split: Floats
    """Standard deviation of the members' means [M]."""
    distance: Floats
    """Distance of each member from the mean [M, I]; 0 for a member without weight."""


def mix(opinions: Opinions, combination: Combination) -> Mixture:
    """Return the weighted mixture of the members.

    Its variance is that of the members and that of their means.
    """
    w, means = combination.weight, combination.apply_lines(opinions.x)
    mean = combination.combine(opinions.x)
    spreads = combination.slope * opinions.sd
    between = np.maximum(means**2 @ w - mean**2, 0.0)
    grades = np.einsum("i,imk->mk", w, opinions.grades)
    grades = grades / np.maximum(grades.sum(axis=1, keepdims=True), 1e-300)
    distance = np.where(w > 0.0, np.round(np.abs(means - mean[:, None]), 9), 0.0)
    return Mixture(mean, np.sqrt(spreads**2 @ w + between), grades, np.sqrt(between), distance)


def combine_plainly(weights: Floats) -> Combination:
    """Return the convex combination of the members on their own scales."""
    return Combination(weights, np.zeros(weights.size), np.ones(weights.size))


def calibrate_mixture(
    opinions: Opinions, weights: Floats, known: Known, values: Floats, seed: int
) -> tuple[Mixture, Combination, Calibration]:
    """Return the mixture with weights and lines learnt from known grades, and calibrated.

    Parameters
    ----------
    opinions : Opinions
    weights : float64 [I]
        Weights without known grades, to which the learnt ones are drawn.
    known : Known
    values : float64 [K]
    seed : int
        Of the folds.
    """
    rows, grade = known
    combination, without = learn_weights(opinions.x[rows], values[grade], seed, towards=weights)
    mixture = mix(opinions, combination)
    before = float(np.mean((values[grade] - opinions.x[rows] @ weights) ** 2))
    calibration = replace(
        learn_calibration(
            mixture.mean[rows],
            mixture.sd[rows],
            mixture.grades[rows],
            values,
            grade,
            seed,
            without,
        ),
        error_before=before,
    )
    calibrated = mixture._replace(
        mean=calibration.intercept + calibration.slope * mixture.mean,
        sd=calibration.widen(mixture.sd),
        grades=apply_temperature(mixture.grades, calibration.temperature, calibration.offsets),
    )
    return calibrated, combination, calibration
