"""The traits in which an annotator surely differs from the middle of the crowd."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.aggregation.annotator_types.evidence import compute_evidence
from venire.aggregation.annotator_types.grid import Types
from venire.aggregation.annotator_types.inference import Problem, State
from venire.arrays import Floats, Longs

SURE = 0.95
"""Posterior probability from which a trait is named."""
MIDDLE_PRIOR = 0.7
"""Prior probability that an annotator has the bias, the error or the scale of the middle."""
JUDGMENTS = 300.0
"""n judgments count as n / (1 + n / JUDGMENTS): the grid of types is only near the truth."""
ROUNDS = 3
"""Times that items are placed and annotators compared: the places follow the annotators."""
TRAITS = ("bias", "error", "scale", "reliability")


class Trait(NamedTuple):
    """One trait of all annotators beside the middle of the crowd."""

    middle: float
    direction: Longs
    """[N] 1 where it is surely above the middle by a step of the grid or more, -1 below, else 0."""
    mean: Floats
    """[N] posterior mean."""


def find_distinctive_traits(problem: Problem, state: State) -> tuple[dict[str, Trait], Floats]:
    """Return each trait beside the middle of the crowd, and the posterior of the types [N, H].

    The fit's own posterior is not used: its places depend on the annotator's own labels, and it
    may call a whole crowd strict and stretching instead of moving the places of the items.
    Items are placed by the other annotators, whose types start as in the fit and have the prior
    of :func:`compare_with_middle` afterwards.
    """
    weight, evidence = state.weight, state.evidence
    for _ in range(ROUNDS):
        log, count = compute_evidence(problem, state._replace(evidence=evidence))
        traits, posterior = compare_with_middle(problem.types, weight, log, count)
        weight = posterior.sum(axis=0) + 1e-4
        evidence = np.matmul(posterior, problem.chances).transpose(1, 0, 2)
    return traits, posterior


def compare_with_middle(
    types: Types, weight: Floats, evidence: Floats, count: Longs
) -> tuple[dict[str, Trait], Floats]:
    """Return each trait beside the middle of the crowd, and the posterior of the types [N, H].

    The middle of a trait is the median over the crowd, each annotator weighed by the share of
    their labels that look at the item. The posterior of an annotator's type then has a prior
    with ``MIDDLE_PRIOR`` on the middle of bias, error and scale, uniform in reliability. A trait
    differs where ``SURE`` of its posterior or more is on values at least one step of the grid
    above the middle, or as much below it. Error rate and power by simulation:
    docs/reference/verdicts.md.

    Parameters
    ----------
    types : Types
        H types.
    weight : float64 [H]
        Their frequencies, the prior from which the middle is computed.
    evidence : float64 [N, H]
        Log-likelihood of each annotator's labels.
    count : int64 [N]
        Judgments behind it.
    """
    tempered = evidence / (1.0 + count[:, None] / JUDGMENTS)
    first = _normalise(np.log(weight) + tempered)
    looking = first @ types.reliability
    middles = {}
    for name in TRAITS:
        levels, shares = find_shares(types, name, first)
        middles[name] = find_middle(levels, shares, looking)
    posterior = _normalise(build_prior(types, middles) + tempered)
    traits = {}
    for name, middle in middles.items():
        levels, shares = find_shares(types, name, posterior)
        above = shares[:, levels > middle].sum(axis=1) >= SURE
        below = shares[:, levels < middle].sum(axis=1) >= SURE
        direction = above.astype(np.int64) - below.astype(np.int64)
        traits[name] = Trait(middle, direction, shares @ levels)
    return traits, posterior


def find_shares(types: Types, name: str, posterior: Floats) -> tuple[Floats, Floats]:
    """Return the values of a trait on the grid [V], and each one's posterior [N, V].

    Bias, error and scale are those of the labels that look: types count by their reliability.
    """
    levels, position = np.unique(getattr(types, name), return_inverse=True)
    weight = np.ones(types.count) if name == "reliability" else types.reliability + 1e-9
    shares = (posterior * weight) @ (position.reshape(-1, 1) == np.arange(levels.size))
    return levels, shares / shares.sum(axis=1, keepdims=True)


def find_middle(levels: Floats, shares: Floats, weight: Floats) -> float:
    """Return the median of a trait over annotators weighed by ``weight`` [N]."""
    total = np.cumsum((weight + 1e-9) @ shares)
    return float(levels[np.searchsorted(total, 0.5 * total[-1])])


def build_prior(types: Types, middles: dict[str, float]) -> Floats:
    """Return the log prior of each type [H], for a crowd of these middles."""
    log = np.zeros(types.count)
    for name in ("bias", "error", "scale"):
        values = getattr(types, name)
        others = np.unique(values[types.reliability > 0]).size - 1
        if others > 0:
            is_middle = values == middles[name]
            log += np.log(np.where(is_middle, MIDDLE_PRIOR, (1.0 - MIDDLE_PRIOR) / others))
    _, level = np.unique(types.reliability, return_inverse=True)
    mass = np.bincount(level, weights=np.exp(log))
    out: Floats = log - np.log(mass[level] * mass.size)
    return out


def _normalise(log: Floats) -> Floats:
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    out: Floats = weight / weight.sum(axis=1, keepdims=True)
    return out
