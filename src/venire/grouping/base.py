"""A pool's vectors in, groups out: what every grouper shares."""

from __future__ import annotations

import math
from typing import ClassVar, Protocol

import numpy as np

from venire.arrays import Float32s, Longs
from venire.errors import BadSetting

SINGLE = -1
"""The label of an image that is in no group."""


class Grouper(Protocol):
    """Puts near-alike documents of one pool together; its settings are a frozen dataclass.

    A grouper sees one pool at a time, and never any labels. It is deterministic.
    """

    needs: ClassVar[str]
    """``vectors``, ``hashes`` (vectors of the encoder perceptual-hash) or ``nothing``."""
    grid: ClassVar[dict[str, tuple[float, ...]]]
    """The values of each setting that are worth trying."""
    limits: ClassVar[dict[str, tuple[float, float]]]
    """The least and the greatest value of each setting; may be left out."""

    def group(self, vectors: Float32s) -> Longs:
        """Return a label for each document.

        Parameters
        ----------
        vectors : float32 [n, d]
            Unit vectors in the order of the pool, best first.

        Returns
        -------
        int64 [n]
            Documents with the same label are a group; ``-1`` is in none.
        """


def within_limits(grouper: Grouper) -> None:
    """Refuse a setting outside the limits of the grouper.

    Raises
    ------
    BadSetting
    """
    for name, (least, most) in grouper.limits.items():
        value = getattr(grouper, name)
        if not least <= value <= most:
            bounds = f"between {least:g} and {most:g}" if math.isfinite(most) else f">= {least:g}"
            raise BadSetting(f"{name} must be {bounds} (got {value:g})")


def finish(labels: Longs, cap: int | None = None) -> Longs:
    """Limit the size of groups, dissolve groups of one, and number groups by their first member.

    A group of more than ``cap`` is split, in pool order, into the smallest possible number of
    parts; their sizes differ by at most one.

    Parameters
    ----------
    labels : int64 [n]
    cap : int, optional

    Returns
    -------
    int64 [n]
        Groups are 0, 1, ... in pool order; ``-1`` is ungrouped.

    Examples
    --------
    >>> import numpy as np
    >>> finish(np.array([7, 3, 7, 7, 5, 7, -1]), cap=3).tolist()
    [0, -1, 0, 1, -1, 1, -1]
    """
    out = np.full(labels.size, SINGLE, np.int64)
    inside = np.flatnonzero(labels >= 0)
    if not inside.size:
        return out
    order = inside[np.argsort(labels[inside], kind="stable")]
    sorted_labels = labels[order]
    starts = np.flatnonzero(np.r_[True, sorted_labels[1:] != sorted_labels[:-1]])
    size = np.diff(np.r_[starts, order.size])
    place = np.arange(order.size) - np.repeat(starts, size)
    of_size = np.repeat(size, size)
    parts = -(-of_size // cap) if cap else np.ones_like(of_size)
    # The first (size mod parts) parts have one more.
    small, larger = of_size // parts, of_size % parts
    part = np.where(
        place < larger * (small + 1),
        place // (small + 1),
        larger + (place - larger * (small + 1)) // np.maximum(small, 1),
    )
    code = np.repeat(np.arange(starts.size), size) * (int(parts.max()) + 1) + part
    _, inverse, counts = np.unique(code, return_inverse=True, return_counts=True)
    is_in_group = counts[inverse] >= 2
    where, group = order[is_in_group], inverse[is_in_group]
    first = np.full(counts.size, labels.size, np.int64)
    np.minimum.at(first, group, where)
    number = np.empty(counts.size, np.int64)
    number[np.argsort(first, kind="stable")] = np.arange(counts.size)
    out[where] = number[group]
    return out
