"""Annotator types: the grid of traits, the places of items, P(label | place, type)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from venire.arrays import Floats, Longs, Mask
from venire.errors import BadSetting
from venire.tables.scale import Scale

ERRORS = (0.2, 0.4, 0.7, 1.2)
"""Standard deviations, in steps of the scale."""
RELIABILITIES = (0.97, 0.8, 0.5)
"""Shares of judgments that look at the item; in addition 0, for each kind of spam."""
BIASES = (-1.0, -0.5, 0.0, 0.5, 1.0)
"""Steps added to the perceived position."""
SCALES = (0.6, 1.0, 1.5)
"""Factors of the distance to the middle of the scale."""
ONE_LABEL = 0.85
"""Share of the favourite label among the labels of a one-label spammer."""
FINE = 20
"""Approximate number of steps of the fine grid."""
PRIOR_STEPS = 50
"""Steps that fit the prior of positions to that of grades."""
FLOOR = 1e-9
"""Smallest probability of a label."""
SPAM = ("uniform", "observed", "one-label")
GRIDS = ("grades", "halves", "fine")


@dataclass(frozen=True)
class Places:
    """The possible places of an item: a position between the end grades, and a difficulty.

    Place t is position ``t // D`` and difficulty ``t % D``.
    """

    positions: Floats
    """[Z] in steps of the scale."""
    difficulties: Floats
    """[D] factors of everybody's error."""
    grades: Longs
    """[K] the positions that are grades."""
    thresholds: Floats
    """[K + 1] in steps, the outer ones infinite."""

    @cached_property
    def position(self) -> Floats:
        """Return the position of each place [T]."""
        return np.repeat(self.positions, self.difficulties.size)

    @cached_property
    def difficulty(self) -> Floats:
        """Return the difficulty of each place [T]."""
        return np.tile(self.difficulties, self.positions.size)

    @cached_property
    def edge(self) -> Mask:
        """Return whether each place lies on a threshold [T]."""
        distance = np.abs(self.position[:, None] - self.thresholds[1:-1])
        return np.asarray((distance <= 1e-9).any(axis=1))

    @cached_property
    def grade(self) -> Longs:
        """Return the grade of each place [T]; on a threshold, the lower of the two grades."""
        return np.searchsorted(self.thresholds[1:-1] + 1e-9, self.position).astype(np.int64)


def build_places(scale: Scale, grid: str, difficulties: Floats) -> Places:
    """Return the places of a scale; every grade is a position on every grid."""
    values = scale.array()
    steps = np.diff(values)
    unit = float(steps.mean()) if steps.size else 1.0
    size = values.size
    parts = {"grades": 1, "halves": 2}.get(grid) or max(round(FINE / max(size - 1, 1)), 1)
    if size == 1:
        parts = 1
    between = np.arange(parts) / parts
    positions = (values[:-1, None] + steps[:, None] * between[None, :]).reshape(-1)
    positions = np.append(positions, values[-1]) / unit
    return Places(
        positions,
        difficulties,
        np.arange(size, dtype=np.int64) * parts,
        scale.thresholds(outer="infinite") / unit,
    )


def spread_prior(places: Places, prior: Floats) -> Floats:
    """Return the prior of each position [Z] under which every grade has its own mass.

    The density is even in the cell of each grade; a position on a threshold has the mean density
    of its two grades. The K densities are scaled until the masses of the grades, with a
    position on a threshold divided as ``infer_grades`` divides it, are those of the prior.

    Parameters
    ----------
    places : Places
    prior : float64 [K]
    """
    inner = places.thresholds[1:-1]
    lower = np.searchsorted(inner + 1e-9, places.positions).astype(np.int64)
    edge = np.flatnonzero((np.abs(places.positions[:, None] - inner) <= 1e-9).any(axis=1))
    share = np.zeros((places.positions.size, prior.size))
    share[np.arange(lower.size), lower] = 1.0
    share[edge, lower[edge]] = 0.5
    share[edge, lower[edge] + 1] = 0.5
    density = prior / share.sum(axis=0)
    read = share.copy()
    for _ in range(PRIOR_STEPS):
        position = share @ density
        log = np.log(position)
        upper = 1.0 / (1.0 + np.exp((log[edge - 1] - log[edge + 1]) / 4.0))
        read[edge, lower[edge]], read[edge, lower[edge] + 1] = 1.0 - upper, upper
        density = density * prior / (position @ read)
    position = share @ density
    out: Floats = position / position.sum()
    return out


@dataclass(frozen=True)
class Types:
    """H types: row h of each array is type h."""

    bias: Floats
    error: Floats
    scale: Floats
    reliability: Floats
    spam: Longs
    """Row of pi for each type."""
    pi: Floats
    """[S, K] spam distributions; the kind one-label has one per grade."""
    names: tuple[str, ...]
    """[S] uniform, observed, or the position of the favourite label as text."""

    @property
    def count(self) -> int:
        """Return H, the number of types."""
        return self.bias.size


def build_types(
    size: int, observed: Floats, spam: tuple[str, ...], *, bias: bool, scale: bool
) -> Types:
    """Return the grid of types.

    Parameters
    ----------
    size : int
        K.
    observed : float64 [K]
        Frequency of each label in the judgments.
    spam : tuple of str
        Kinds of spam; at least one.
    bias, scale : bool
        Whether annotators differ in these.
    """
    rows: list[Floats] = []
    names: list[str] = []
    for kind in spam:
        if kind == "uniform":
            rows.append(np.full(size, 1.0 / size))
            names.append(kind)
        elif kind == "observed":
            rows.append(observed)
            names.append(kind)
        else:
            for k in range(size):
                row = np.full(size, (1.0 - ONE_LABEL) / max(size - 1, 1))
                row[k] = ONE_LABEL if size > 1 else 1.0
                rows.append(row)
                names.append(str(k))
    kinds = np.arange(len(rows))
    biases = np.array(BIASES if bias and size > 1 else (0.0,))
    scales = np.array(SCALES if scale and size > 1 else (1.0,))
    # An annotator who nearly always looks gives too little spam to distinguish its kind.
    pairs = [(RELIABILITIES[0], 0)] + [
        (reliability, kind) for reliability in RELIABILITIES[1:] for kind in range(len(rows))
    ]
    mesh = np.meshgrid(biases, np.array(ERRORS), scales, np.arange(len(pairs)), indexing="ij")
    a, s, c, which = (part.reshape(-1) for part in mesh)
    e = np.array([reliability for reliability, _ in pairs])[which.astype(np.int64)]
    spam_kind = np.array([kind for _, kind in pairs])[which.astype(np.int64)]
    # An annotator who never looks has no error, bias or scale: one type per kind of spam.
    none = np.zeros(kinds.size)
    return Types(
        np.concatenate([a, none]),
        np.concatenate([s, none + 1.0]),
        np.concatenate([c, none + 1.0]),
        np.concatenate([e, none]),
        np.concatenate([spam_kind, kinds]).astype(np.int64),
        np.array(rows),
        tuple(names),
    )


def log_chances(types: Types, places: Places) -> Floats:
    """Return ln P(label | place, type) [H, label, T].

    e [Phi((b_r - mu) / (s d)) - Phi((b_{r-1} - mu) / (s d))] + (1 - e) pi_r with
    mu = middle + c (z - middle) + a.
    """
    from scipy.special import ndtr

    middle = 0.5 * (places.positions[0] + places.positions[-1])
    size = places.thresholds.size - 1
    # Types that differ only in reliability and spam perceive alike: computed once each.
    look, back = np.unique(
        np.stack([types.bias, types.error, types.scale], axis=1), axis=0, return_inverse=True
    )
    mu = middle + look[:, 2, None] * (places.position[None, :] - middle) + look[:, 0, None]
    width = look[:, 1, None] * places.difficulty[None, :]
    perceived = np.empty((look.shape[0], size, mu.shape[1]))
    below = np.zeros_like(mu)
    for r in range(size):
        upper = ndtr((places.thresholds[r + 1] - mu) / width)
        # From the nearer side, so that small probabilities keep their digits.
        other = ndtr((mu - places.thresholds[r]) / width) - ndtr(
            (mu - places.thresholds[r + 1]) / width
        )
        perceived[:, r] = np.where(below > 0.5, other, upper - below)
        below = upper
    e = types.reliability[:, None, None]
    chance = e * perceived[back.reshape(-1)] + (1.0 - e) * types.pi[types.spam][:, :, None]
    return np.log(np.maximum(chance, FLOOR))


def tilt(weight: Floats, traits: Floats) -> Floats:
    r"""Return the nearest weights under which each trait has mean 0.

    w_h proportional to weight_h exp(lambda . f_h) with lambda such that sum_h w_h f_h = 0:
    the weights that minimise KL(w || weight). Newton's method on the convex log partition
    function.

    Parameters
    ----------
    weight : float64 [H]
        Positive.
    traits : float64 [H, F]
        Each with values on both sides of 0.

    Raises
    ------
    BadSetting
        When a trait has values on one side of 0 only.
    """
    weight = weight / weight.sum()
    if not traits.shape[1]:
        return weight
    if not ((traits.min(axis=0) < 0) & (traits.max(axis=0) > 0)).all():
        raise BadSetting("A trait of the types needs values on both sides of 0.")
    log_weight = np.log(weight)
    point = np.zeros(traits.shape[1])

    def evaluate(x: Floats) -> tuple[float, Floats]:
        score = log_weight + traits @ x
        top = float(score.max())
        w = np.exp(score - top)
        total = float(w.sum())
        return top + float(np.log(total)), w / total

    height, tilted = evaluate(point)
    for _ in range(200):
        slope = tilted @ traits
        if np.abs(slope).max() < 1e-13:
            break
        centred = traits - slope
        curve = (centred * tilted[:, None]).T @ centred
        step = np.linalg.solve(curve + 1e-12 * np.eye(point.size), slope)
        size = 1.0
        while size > 1e-8:
            lower, lower_tilted = evaluate(point - size * step)
            if lower <= height + 1e-15 * abs(height):
                break
            size *= 0.5
        point, height, tilted = point - size * step, lower, lower_tilted
    return tilted
