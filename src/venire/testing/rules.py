"""Building blocks of the checks: requirements on one result, and on two equal results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from venire.aggregation.posterior import Posterior
from venire.errors import VenireError
from venire.tables.schema import PAIR

CLOSE = 1e-6


class Nonconforming(VenireError, AssertionError):
    """A plug-in breaks a rule."""

    code = "nonconforming"


class DoesNotApply(Exception):
    """A check does not apply to this kind of aggregator."""


def require(condition: bool, message: str) -> None:
    """Raise unless a condition holds."""
    if not condition:
        raise Nonconforming(message)


def sort_by_id(posterior: Posterior) -> Posterior:
    """Return a result with items and annotators sorted by id."""
    order = posterior.items.with_row_index("row").sort(PAIR)["row"].to_numpy()
    people = posterior.annotators.with_row_index("row").sort("annotator_id")["row"].to_numpy()
    return replace(
        posterior,
        items=posterior.items[order],
        probabilities=posterior.probabilities[order],
        annotators=posterior.annotators[people],
    )


def require_same(first: Posterior, second: Posterior, what: str, close: float = CLOSE) -> None:
    """Require that two results are equal."""
    a, b = sort_by_id(first), sort_by_id(second)
    require(a.items.height == b.items.height, f"{what}: different numbers of items")
    for name in ("estimate", "mean"):
        gap = np.abs(a.items[name].to_numpy() - b.items[name].to_numpy()).max(initial=0.0)
        require(bool(gap <= close), f"{what}: {name} differs by {gap:.2g}")
    gap = np.abs(a.probabilities - b.probabilities).max(initial=0.0)
    require(bool(gap <= close), f"{what}: grade probabilities differ by {gap:.2g}")
    require(bool(np.array_equal(a.mode, b.mode)), f"{what}: the most probable grades differ")
    for name, dtype in a.annotators.schema.items():
        if dtype.is_float():
            left = a.annotators[name].to_numpy()
            right = b.annotators[name].to_numpy()
            scale = np.maximum(np.abs(left), 1.0)
            gap = (np.abs(left - right) / scale).max(initial=0.0)
            require(bool(gap <= close), f"{what}: {name} of annotators differs by {gap:.2g}")


def require_sane(posterior: Posterior, items: int, annotators: int) -> None:
    """Require a result of the right size with finite numbers."""
    require(posterior.items.height == items, f"{posterior.items.height} items instead of {items}")
    require(
        posterior.annotators.height == annotators,
        f"{posterior.annotators.height} annotators instead of {annotators}",
    )
    p = posterior.probabilities
    require(p.shape == (items, posterior.scale.size), f"the probabilities have the shape {p.shape}")
    require(
        bool(np.isfinite(p).all() and (p >= -1e-12).all()),
        "a probability is negative or not finite",
    )
    require(bool(np.allclose(p.sum(axis=1), 1.0, atol=1e-9)), "probabilities do not sum to 1")
    for name in ("estimate", "mean", "sd"):
        column = posterior.items[name].to_numpy()
        require(bool(np.isfinite(column).all()), f"{name} is not finite")
