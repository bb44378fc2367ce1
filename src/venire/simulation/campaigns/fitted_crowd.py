"""A crowd fitted to judgments: classes of pairs, types of annotators, by Gibbs sampling.

    P(label l of pair p by annotator a) = theta[c_p, t_a, l]

There are 12 classes of pairs, more than grades, so that hard pairs have their own, and 6 types
of annotators. Priors: Dirichlet for theta, drawn towards the labels that all types give the
class; for the share of the classes in each stratum, drawn towards their share among all pairs;
for the share of the types, uniform.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from venire.arrays import Floats, Ints, Longs, Shorts
from venire.compilation import jit

CLASSES = 12
TYPES = 6
BURN_IN = 150
THINNING = 5


@dataclass(frozen=True)
class CrowdDraw:
    """One draw of the fitted crowd.

    Attributes
    ----------
    pair_class : int64 [P]
    annotator_type : int64 [N]
    theta : float64 [C, T, K]
        P(label | class, type).
    """

    pair_class: Longs
    annotator_type: Longs
    theta: Floats


@jit
def draw_classes(
    indptr: Longs,
    annotator: Ints,
    label: Shorts,
    annotator_type: Longs,
    log_theta: Floats,  # [C, T, K]
    log_share: Floats,  # [strata, C]
    stratum: Longs,
    chance: Floats,  # [P] uniform numbers
    pair_class: Longs,  # filled
) -> None:
    """Draw the class of each pair given the types and theta."""
    weight = np.empty(log_theta.shape[0])
    for p in range(indptr.size - 1):
        weight[:] = log_share[stratum[p]]
        for j in range(indptr[p], indptr[p + 1]):
            for c in range(weight.size):
                weight[c] += log_theta[c, annotator_type[annotator[j]], label[j]]
        pair_class[p] = draw_category(weight, chance[p])


@jit
def draw_types(
    indptr: Longs,
    annotator: Ints,
    label: Shorts,
    pair_class: Longs,
    log_theta: Floats,
    log_share: Floats,  # [T]
    chance: Floats,  # [N] uniform numbers
    annotator_type: Longs,  # filled
) -> None:
    """Draw the type of each annotator given the classes and theta."""
    weight = np.zeros((annotator_type.size, log_share.size))
    for p in range(indptr.size - 1):
        for j in range(indptr[p], indptr[p + 1]):
            for t in range(log_share.size):
                weight[annotator[j], t] += log_theta[pair_class[p], t, label[j]]
    for a in range(annotator_type.size):
        annotator_type[a] = draw_category(weight[a] + log_share, chance[a])


@jit
def draw_category(log_weight: Floats, chance: float) -> int:
    """Return a category drawn with probability proportional to exp(log weight)."""
    top = log_weight.max()
    total = 0.0
    for c in range(log_weight.size):
        total += np.exp(log_weight[c] - top)
    left = chance * total
    for c in range(log_weight.size):
        left -= np.exp(log_weight[c] - top)
        if left < 0:
            return c
    return log_weight.size - 1


@jit
def count_labels(
    indptr: Longs, annotator: Ints, label: Shorts, pair_class: Longs, annotator_type: Longs,
    counts: Floats,
) -> None:  # fmt: skip
    """Add each judgment to the counts [class, type, label]."""
    counts[:] = 0.0
    for p in range(indptr.size - 1):
        for j in range(indptr[p], indptr[p + 1]):
            counts[pair_class[p], annotator_type[annotator[j]], label[j]] += 1.0


def draw_crowds(
    indptr: Longs,
    annotator: Ints,
    label: Shorts,
    size: int,
    stratum: Longs,
    draws: int,
    rng: np.random.Generator,
) -> Iterator[CrowdDraw]:
    """Yield draws of the crowd from its posterior: every fifth sweep after 150.

    Parameters
    ----------
    indptr, annotator, label
        Judgments sorted by pair.
    size : int
        K, the number of grades.
    stratum : int64 [P]
    draws : int
    rng : Generator
    """
    pairs, annotators = indptr.size - 1, int(annotator.max()) + 1
    per_pair = np.diff(indptr)
    mean = np.add.reduceat(label.astype(np.float64), indptr[:-1]) / per_pair
    order = np.argsort(np.argsort(mean + rng.random(pairs) * 0.01))
    pair_class = np.minimum(order * CLASSES // pairs, CLASSES - 1).astype(np.int64)
    annotator_type = rng.integers(0, TYPES, annotators).astype(np.int64)
    counts = np.zeros((CLASSES, TYPES, size))
    strata = int(stratum.max()) + 1
    for sweep in range(BURN_IN + draws * THINNING):
        count_labels(indptr, annotator, label, pair_class, annotator_type, counts)
        theta = _draw_theta(counts, rng)
        log_theta = np.log(theta + 1e-12)
        cells = np.bincount(stratum * CLASSES + pair_class, minlength=strata * CLASSES)
        among_all = (np.bincount(pair_class, minlength=CLASSES) + 1.0) / (pairs + CLASSES)
        gamma = rng.standard_gamma(cells.reshape(strata, CLASSES) + 2 * among_all)
        log_share = np.log(gamma / gamma.sum(axis=1, keepdims=True) + 1e-12)
        type_share = rng.dirichlet(np.bincount(annotator_type, minlength=TYPES) + 1.0)
        draw_classes(
            indptr, annotator, label, annotator_type, log_theta, log_share, stratum,
            rng.random(pairs), pair_class,
        )  # fmt: skip
        draw_types(
            indptr, annotator, label, pair_class, log_theta, np.log(type_share + 1e-300),
            rng.random(annotators), annotator_type,
        )  # fmt: skip
        if sweep >= BURN_IN and (sweep - BURN_IN) % THINNING == 0:
            yield CrowdDraw(pair_class.copy(), annotator_type.copy(), theta)


def _draw_theta(counts: Floats, rng: np.random.Generator) -> Floats:
    """Draw P(label | class, type), drawn towards P(label | class) of all types together."""
    size = counts.shape[2]
    of_class = counts.sum(axis=1, keepdims=True)
    total = counts.sum(axis=(1, 2))[:, None, None]
    prior = 0.3 + 0.7 * size * (of_class + 0.5) / (total + 0.5 * size)
    gamma = rng.standard_gamma(counts + prior)
    theta: Floats = gamma / gamma.sum(axis=2, keepdims=True)
    return theta
