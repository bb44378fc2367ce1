"""Groups made in one pass over the pool: leader, near-duplicate; and no groups at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from venire.arrays import Float32s, Longs
from venire.grouping.base import SINGLE, within_limits

ROUNDING = 1e-5
"""Cosines of float32 vectors that are equal to a threshold may lie this far below it."""


@dataclass(frozen=True, kw_only=True)
class OneAtATime:
    """No groups: every image is judged by itself."""

    needs: ClassVar[str] = "nothing"
    grid: ClassVar[dict[str, tuple[float, ...]]] = {}
    limits: ClassVar[dict[str, tuple[float, float]]] = {}

    def group(self, vectors: Float32s) -> Longs:
        """Put each document in its own group: return -1 for each."""
        return np.full(vectors.shape[0], SINGLE, np.int64)


@dataclass(frozen=True, kw_only=True)
class Leader:
    """In the order of the pool, each image joins the most similar leader, or becomes one.

    It joins where the cosine is at least ``cosine``; of equally similar leaders the first
    (Hartigan 1975, chapter 3, with the nearest leader in place of the first).

    Attributes
    ----------
    cosine : float

    Examples
    --------
    >>> import numpy as np
    >>> Leader(cosine=0.9).group(np.array([[1, 0], [0, 1], [0.99, 0.141]], np.float32)).tolist()
    [0, 1, 0]
    """

    needs: ClassVar[str] = "vectors"
    grid: ClassVar[dict[str, tuple[float, ...]]] = {"cosine": (0.95, 0.9, 0.85, 0.8, 0.7)}
    limits: ClassVar[dict[str, tuple[float, float]]] = {"cosine": (-1, 1)}
    cosine: float = 0.9

    def __post_init__(self) -> None:
        """Refuse what is no cosine."""
        within_limits(self)

    def group(self, vectors: Float32s) -> Longs:
        """Return the number of each document's leader."""
        return _lead(vectors @ vectors.T, self.cosine - ROUNDING)


@dataclass(frozen=True, kw_only=True)
class NearDuplicate:
    """Images whose perceptual hashes differ in at most ``distance`` bits of 64 from a leader's.

    As the leader method, on hashes: nothing chains, every image is that near to the first of
    its group.

    Attributes
    ----------
    distance : int
        Bits.

    Examples
    --------
    >>> import numpy as np
    >>> bits = np.ones((3, 64), np.float32) / 8
    >>> bits[1, :2] *= -1
    >>> bits[2, :9] *= -1
    >>> NearDuplicate(distance=2).group(bits).tolist()
    [0, 0, 1]
    """

    needs: ClassVar[str] = "hashes"
    grid: ClassVar[dict[str, tuple[float, ...]]] = {"distance": (2, 4, 6, 8, 10)}
    limits: ClassVar[dict[str, tuple[float, float]]] = {"distance": (0, 64)}
    distance: int = 4

    def __post_init__(self) -> None:
        """Refuse what is no number of bits."""
        within_limits(self)

    def group(self, vectors: Float32s) -> Longs:
        """Return the number of each document's leader."""
        return _lead(vectors @ vectors.T, 1.0 - self.distance / 32.0 - ROUNDING)


def _lead(cosine: NDArray[np.floating], least: float) -> Longs:
    out = np.empty(cosine.shape[0], np.int64)
    leaders: list[int] = []
    for row in range(out.size):
        near = cosine[row, leaders]
        if near.size and near.max() >= least:
            out[row] = int(near.argmax())
        else:
            out[row] = len(leaders)
            leaders.append(row)
    return out
