"""Groups by clustering, as scikit-learn has it; cosine on unit vectors."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from venire.arrays import Float32s, Floats, Longs
from venire.errors import MissingExtra
from venire.grouping.base import within_limits

DISTANCES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4)


@dataclass(frozen=True, kw_only=True)
class AverageLinkage:
    """Agglomerative clustering; the distance of two groups is the mean of their cosine distances.

    Attributes
    ----------
    distance : float
        Groups nearer than this are joined; cosine distance, 1 - cosine.

    Examples
    --------
    >>> import numpy as np
    >>> unit = np.array([[1, 0], [0.99, 0.141], [0, 1]], np.float32)
    >>> AverageLinkage(distance=0.1).group(unit).tolist()
    [0, 0, 1]
    """

    needs: ClassVar[str] = "vectors"
    grid: ClassVar[dict[str, tuple[float, ...]]] = {"distance": DISTANCES}
    limits: ClassVar[dict[str, tuple[float, float]]] = {"distance": (0, 2)}
    linkage: ClassVar[str] = "average"
    distance: float = 0.2

    def __post_init__(self) -> None:
        """Refuse what is no cosine distance."""
        within_limits(self)

    def group(self, vectors: Float32s) -> Longs:
        """Return the number of each document's cluster."""
        if vectors.shape[0] < 2:
            return np.zeros(vectors.shape[0], np.int64)
        model = _sklearn().AgglomerativeClustering(
            n_clusters=None,
            metric="precomputed",
            linkage=self.linkage,
            distance_threshold=self.distance,
        )
        return _as_labels(model.fit(distances(vectors)).labels_)


@dataclass(frozen=True, kw_only=True)
class CompleteLinkage(AverageLinkage):
    """Agglomerative clustering; the distance of two groups is the greatest of their distances.

    Attributes
    ----------
    distance : float
        Groups nearer than this are joined; cosine distance, 1 - cosine.
    """

    linkage: ClassVar[str] = "complete"


@dataclass(frozen=True, kw_only=True)
class KMeans:
    """k-means with about ``size`` images a group: k is n / size, rounded (Lloyd 1982).

    Starts by k-means++ from a fixed seed, the best of four.

    Attributes
    ----------
    size : int
        Images a group, on average.
    """

    needs: ClassVar[str] = "vectors"
    grid: ClassVar[dict[str, tuple[float, ...]]] = {"size": (4, 6, 8, 12, 16)}
    limits: ClassVar[dict[str, tuple[float, float]]] = {"size": (1, math.inf)}
    size: int = 8

    def __post_init__(self) -> None:
        """Refuse groups of nothing."""
        within_limits(self)

    def group(self, vectors: Float32s) -> Longs:
        """Return the number of each document's cluster."""
        n = vectors.shape[0]
        distinct = np.unique(vectors, axis=0).shape[0]
        k = min(max(1, round(n / self.size)), distinct)
        if k <= 1:
            return np.zeros(n, np.int64)
        model = _sklearn().KMeans(n_clusters=k, n_init=4, random_state=0)
        with _one_thread():
            rows = vectors.astype(np.float64)
            if rows.shape[1] > n:
                # The same distances in n numbers: the rows in a basis of what they span.
                triangle: Any = np.linalg.qr(rows.T, mode="r")
                rows = triangle.T
            return _as_labels(model.fit(rows).labels_)


@dataclass(frozen=True, kw_only=True)
class Hdbscan:
    """HDBSCAN: groups are where images lie dense; the rest, its noise, is ungrouped.

    Campello, Moulavi and Sander 2013.

    Attributes
    ----------
    min_size : int
        Least size of a group.
    """

    needs: ClassVar[str] = "vectors"
    grid: ClassVar[dict[str, tuple[float, ...]]] = {"min_size": (2, 3, 5, 8)}
    limits: ClassVar[dict[str, tuple[float, float]]] = {"min_size": (2, math.inf)}
    min_size: int = 3

    def __post_init__(self) -> None:
        """Refuse groups of one."""
        within_limits(self)

    def group(self, vectors: Float32s) -> Longs:
        """Return the number of each document's cluster, -1 for noise."""
        n = vectors.shape[0]
        if n <= self.min_size:
            return np.full(n, -1, np.int64)
        model = _sklearn().HDBSCAN(min_cluster_size=self.min_size, metric="precomputed", copy=True)
        with warnings.catch_warnings():
            # Vectors that are all the same lie infinitely dense; that divides by zero inside.
            warnings.simplefilter("ignore", RuntimeWarning)
            return _as_labels(model.fit(distances(vectors)).labels_)


def distances(vectors: Float32s) -> Floats:
    """Return the cosine distances of unit vectors [n, n]: exactly 0 on the diagonal."""
    wide = vectors.astype(np.float64)
    out: Floats = np.clip(1.0 - wide @ wide.T, 0.0, 2.0)
    # The product need not be symmetric to the last bit.
    out = (out + out.T) / 2
    np.fill_diagonal(out, 0.0)
    return out


def _as_labels(labels: NDArray[Any]) -> Longs:
    return np.asarray(labels, np.int64)


def _sklearn() -> Any:
    try:
        from sklearn import cluster
    except ImportError:
        raise MissingExtra("scikit-learn", "images", "grouping by clusters") from None
    return cluster


def _one_thread() -> Any:
    """Threads share sums out by how many there are; one gives the same bits on every machine."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)
