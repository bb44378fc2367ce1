"""What type of person an annotator is, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from venire.arrays import Floats

SELDOM = 0.5
"""Who looks at a smaller share of the items is named by what they do instead."""
OFTEN = 0.75
CAREFUL = 0.5
"""An error below half a step."""
AMOUNTS = ((0.25, "a quarter of a grade"), (0.5, "half a grade"), (1.0, "a whole grade"))


def words(
    bias: float,
    error: float,
    scale: float,
    reliability: float,
    favourite: str | None,
) -> str:
    """Return a person in words.

    Parameters
    ----------
    bias, error : float
        In steps of the scale.
    scale : float
        Factor of the distance to the middle of the scale.
    reliability : float
        Share of judgments that look at the item.
    favourite : str or None
        The label of their spam where it is mostly one, else None.

    Examples
    --------
    >>> words(0.45, 0.4, 1.0, 0.97, None)
    'careful, lenient by half a grade'
    >>> words(0.0, 0.7, 1.0, 0.1, "2")
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


def favourites(share: Floats, kinds: Sequence[str], labels: Sequence[str]) -> list[str | None]:
    """Return the label that each annotator clicks, or None.

    Parameters
    ----------
    share : float64 [N, S]
        Probability of each kind of spam.
    kinds : sequence of str [S]
        ``uniform``, ``observed``, or the position of the favourite label.
    labels : sequence of str [K]
    """
    out: list[str | None] = []
    for row in share:
        top = kinds[int(np.argmax(row))] if row.size else ""
        out.append(labels[int(top)] if top.isdigit() and row.max() > 0.5 else None)
    return out
