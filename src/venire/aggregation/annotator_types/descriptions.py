"""Annotator types in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from venire.aggregation.annotator_types.distinctive_traits import SURE, Trait
from venire.aggregation.annotator_types.grid import Types
from venire.arrays import Floats

OFTEN = 0.5
"""Reliability from which down an annotator often does not look."""
LIKE_MOST = "like most"
AMOUNTS = ((0.25, "a quarter of a grade"), (0.5, "half a grade"), (1.0, "a whole grade"))


def describe_types(
    types: Types, traits: dict[str, Trait], posterior: Floats, labels: Sequence[str]
) -> list[str]:
    """Return a description of each annotator beside the middle of their crowd.

    Parameters
    ----------
    types : Types
        H types.
    traits : mapping of str to Trait
    posterior : float64 [N, H]
        Of the types.
    labels : sequence of str [K]
    """
    middle = traits["reliability"].middle
    never = posterior @ ((types.reliability == 0.0) & (middle > 0.0))
    often = posterior @ ((types.reliability <= OFTEN) & (types.reliability < middle))
    spam = describe_spam(types, posterior, labels)
    return [
        spam[n]
        if never[n] >= SURE
        else describe_type(
            often=bool(often[n] >= SURE),
            error=int(traits["error"].direction[n]),
            bias=float(traits["bias"].mean[n] - traits["bias"].middle)
            * abs(int(traits["bias"].direction[n])),
            scale=int(traits["scale"].direction[n]),
        )
        for n in range(len(posterior))
    ]


def describe_type(*, often: bool, error: int, bias: float, scale: int) -> str:
    """Return a description of an annotator who looks at items.

    Parameters
    ----------
    often : bool
        Whether they surely often do not look.
    error, scale : int
        1 if surely above the middle of the crowd, -1 if surely below, else 0.
    bias : float
        Steps of the scale above the middle; 0 where it is not sure.

    Examples
    --------
    >>> describe_type(often=False, error=-1, bias=0.45, scale=0)
    'careful, lenient by half a grade'
    >>> describe_type(often=False, error=0, bias=0.0, scale=0)
    'like most'
    """
    parts = []
    if often:
        parts.append("often does not look")
    if error:
        parts.append("careful" if error < 0 else "less exact than most")
    if bias:
        amount = min(AMOUNTS, key=lambda pair: abs(pair[0] - abs(bias)))[1]
        parts.append(f"{'lenient' if bias > 0 else 'strict'} by {amount}")
    if scale:
        parts.append("compresses the scale" if scale < 0 else "stretches the scale")
    return ", ".join(parts) or LIKE_MOST


def describe_spam(types: Types, posterior: Floats, labels: Sequence[str]) -> list[str]:
    """Return how each annotator labels if they never look, as far as that is sure."""
    never = np.where(types.reliability == 0.0, posterior, 0.0)
    kinds = never @ (types.spam[:, None] == np.arange(len(types.names)))
    kinds /= np.maximum(kinds.sum(axis=1, keepdims=True), 1e-300)
    is_label = np.array([name.isdigit() for name in types.names])
    words = []
    for row in kinds:
        top = int(np.argmax(row))
        if row[~is_label].sum() >= SURE:
            words.append("random")
        elif row[top] >= SURE:
            words.append(f"clicks one label: {labels[int(types.names[top])]}")
        else:
            words.append("does not look")
    return words
