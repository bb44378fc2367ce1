"""The conformance suite of groupers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from venire.arrays import Float32s, Longs
from venire.grouping.base import finish
from venire.testing.rules import Nonconforming, require

BITS = 64


def check_grouper(grouper: Any, *, seed: int = 0) -> list[str]:
    """Run every check on a grouper; return their names.

    Parameters
    ----------
    grouper : Grouper
        A configured grouper; it is not changed.
    seed : int
        Seed of the simulated vectors.

    Raises
    ------
    Nonconforming
        With the name of the check and what is wrong.

    Examples
    --------
    >>> from venire.grouping.leader import Leader
    >>> "two calls" in check_grouper(Leader())
    True
    """
    passed = []
    for name, check in CHECKS:
        try:
            check(grouper, seed)
        except Nonconforming as error:
            raise Nonconforming(f"{name}: {error}") from None
        passed.append(name)
    return passed


def make_vectors(grouper: Any, clusters: int, each: int, seed: int) -> tuple[Float32s, Longs]:
    """Return unit vectors of tight clusters in random order, and the cluster of each.

    For a grouper that needs hashes, the vectors are bits (-1 or 1, divided by 8) that differ in
    at most one bit from those of their cluster.
    """
    rng = np.random.default_rng(seed)
    cluster = rng.permutation(np.repeat(np.arange(clusters), each))
    # Rows of a Hadamard matrix: bits, and orthogonal.
    matrix = np.array([[1.0]])
    while matrix.shape[0] < BITS:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    rows = matrix[cluster + 1]
    if grouper.needs == "hashes":
        flipped = rng.integers(0, BITS, cluster.size)
        rows[np.arange(cluster.size), flipped] *= rng.choice([-1, 1], cluster.size)
    else:
        rows = rows + rng.normal(0, 0.02, rows.shape)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32), cluster


def _labels(grouper: Any, seed: int) -> None:
    """Every document has a label, a whole number >= -1."""
    for clusters, each in ((3, 12), (20, 1), (1, 30)):
        vectors, _ = make_vectors(grouper, clusters, each, seed)
        labels = grouper.group(vectors)
        require(
            labels.shape == (clusters * each,),
            f"{labels.shape} labels for {clusters * each} documents",
        )
        require(np.issubdtype(labels.dtype, np.integer), f"labels are {labels.dtype}")
        require(bool((labels >= -1).all()), "a label is below -1")


def _twice(grouper: Any, seed: int) -> None:
    vectors, _ = make_vectors(grouper, 6, 9, seed)
    first = finish(grouper.group(vectors))
    before = _read_global_state()
    require(bool(np.array_equal(first, finish(grouper.group(vectors)))), "two calls differ")
    require(_read_global_state() == before, "it draws from numpy's global random numbers")


def _read_global_state() -> str:
    """Return the state of numpy's global random generator, to detect its use."""
    return str(np.random.get_state())  # noqa: NPY002


def _check_unchanged(grouper: Any, seed: int) -> None:
    vectors, _ = make_vectors(grouper, 3, 9, seed)
    before, settings = vectors.copy(), repr(grouper)
    grouper.group(vectors)
    require(bool(np.array_equal(before, vectors)), "it changes the vectors")
    require(repr(grouper) == settings, "it changes its settings")


def _small(grouper: Any, seed: int) -> None:
    """Zero, one and two documents."""
    vectors, _ = make_vectors(grouper, 1, 2, seed)
    for n in range(3):
        require(grouper.group(vectors[:n]).shape == (n,), f"{n} documents fail")


def _alike(grouper: Any, seed: int) -> None:
    """Equal documents, and documents without direction."""
    vectors, _ = make_vectors(grouper, 1, 1, seed)
    for rows in (np.repeat(vectors, 40, axis=0), np.zeros((40, vectors.shape[1]), np.float32)):
        require(grouper.group(rows).shape == (40,), "40 equal documents fail")


def _pure(grouper: Any, seed: int) -> None:
    """Tight orthogonal clusters are never mixed."""
    vectors, cluster = make_vectors(grouper, 4, 24, seed)
    labels = finish(grouper.group(vectors))
    for group in range(int(labels.max(initial=-1)) + 1):
        inside = np.unique(cluster[labels == group])
        require(inside.size == 1, f"a group mixes {inside.size} orthogonal clusters")


def _grid(grouper: Any, seed: int) -> None:
    """Every value of the grid is a valid setting."""
    vectors, _ = make_vectors(grouper, 3, 9, seed)
    for name, values in grouper.grid.items():
        require(hasattr(grouper, name), f"the grid has {name}, which is not a setting")
        for value in values:
            labels = type(grouper)(**{name: value}).group(vectors)
            require(labels.shape == (27,), f"{name}={value} fails")


CHECKS: tuple[tuple[str, Callable[[Any, int], None]], ...] = (
    ("labels", _labels),
    ("two calls", _twice),
    ("nothing changed", _check_unchanged),
    ("small pools", _small),
    ("equal documents", _alike),
    ("pure", _pure),
    ("grid", _grid),
)
