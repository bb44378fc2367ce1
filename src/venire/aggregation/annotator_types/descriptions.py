"""Annotator types in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from venire.arrays import Floats

SELDOM = 0.5
"""Reliability below which an annotator is described by their spam."""
OFTEN = 0.75
"""Reliability below which an annotator often does not look."""
CAREFUL = 0.5
"""Largest error, in steps, of a careful annotator."""
AMOUNTS = ((0.25, "a quarter of a grade"), (0.5, "half a grade"), (1.0, "a whole grade"))


def describe_type(
    bias: float,
    error: float,
    scale: float,
    reliability: float,
    favourite: str | None,
) -> str:
    """Return a description of an annotator.

    Parameters
    ----------
    bias, error : float
        In steps of the scale.
    scale : float
        Factor of the distance to the middle of the scale.
    reliability : float
        Share of the judgments that look at the item.
    favourite : str or None
        The label of their spam if it is mostly one label, else None.

    Examples
    --------
    >>> describe_type(0.45, 0.4, 1.0, 0.97, None)
    'careful, lenient by half a grade'
    >>> describe_type(0.0, 0.7, 1.0, 0.1, "2")
    'clicks one label: 2'
    """
    if reliability < SELDOM:
        return f"clicks one label: {favourite}" if favourite is not None else "random"
    parts = []
    if reliability < OFTEN:
        parts.append("often does not look")
    elif error < CAREFUL and reliability >= 0.9:
        parts.append("careful")
    if abs(bias) >= AMOUNTS[0][0] / 2:
        amount = min(AMOUNTS, key=lambda pair: abs(pair[0] - abs(bias)))[1]
        parts.append(f"{'lenient' if bias > 0 else 'strict'} by {amount}")
    if scale < 0.8:
        parts.append("compresses the scale")
    elif scale > 1.25:
        parts.append("stretches the scale")
    return ", ".join(parts) or "typical"


def find_favourites(share: Floats, kinds: Sequence[str], labels: Sequence[str]) -> list[str | None]:
    """Return the label that each annotator always gives, or None.

    Parameters
    ----------
    share : float64 [N, S]
        Probability of each kind of spam.
    kinds : sequence of str [S]
        ``uniform``, ``observed``, or the position of the favourite label.
    labels : sequence of str [K]
    """
    favourites: list[str | None] = []
    for row in share:
        top = kinds[int(np.argmax(row))] if row.size else ""
        favourites.append(labels[int(top)] if top.isdigit() and row.max() > 0.5 else None)
    return favourites
