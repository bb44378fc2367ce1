"""One figure: a value or the reason why there is none, and its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.arrays import Floats, Mask

ONE_LABEL = "undefined, only one label used"
NO_PAIRS = "undefined, no item has two judgments"
NO_RELEVANT = "undefined, nothing was judged relevant"
ALL_RELEVANT = "undefined, everything was judged relevant"
NOT_RATIO = "undefined, a ratio needs grades of zero or more"


@dataclass(frozen=True)
class Value:
    """One figure of agreement.

    Attributes
    ----------
    name : str
        For example ``alpha-ordinal``.
    value : float or None
        None where the figure is not defined; the notes say why.
    low, high : float or None
        Ends of the interval, where one was asked for and there is one.
    notes : tuple of str
        Why there is no value; by which formula it is.

    Examples
    --------
    >>> Value.of("fleiss-kappa", float("nan"), ONE_LABEL)
    Value(name='fleiss-kappa', value=None, low=None, high=None, notes=('undefined, ...',))
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, value: Any, reason: str, notes: tuple[str, ...] = ()) -> Value:
        """Return a figure; a number that is none becomes None with its reason."""
        number = float(value)
        if math.isnan(number):
            return cls(name, None, notes=(reason, *notes))
        return cls(name, number, notes=notes)


def why(table: Floats) -> str:
    """Return why a chance-corrected figure of one table of pairs [K, K] is not defined."""
    return ONE_LABEL if table.sum() > 0 else NO_PAIRS


def why_relevant(table: Floats) -> str:
    """Return why the agreement on the relevant of one table of pairs [2, 2] is not defined."""
    return NO_RELEVANT if table.sum() > 0 else NO_PAIRS


def why_not_relevant(table: Floats) -> str:
    """Return why the agreement on the rest of one table of pairs [2, 2] is not defined."""
    return ALL_RELEVANT if table.sum() > 0 else NO_PAIRS


def divide(top: Floats, bottom: Floats, defined: Mask | None = None) -> Floats:
    """Return top / bottom, nan where it is not defined (by default where bottom is zero)."""
    top, bottom = np.broadcast_arrays(top, bottom)
    where = bottom != 0 if defined is None else defined & (bottom != 0)
    out: Floats = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=where)
    return out


def several(margin: Floats) -> Mask:
    """Tell whether more than one label was used, from counts of labels [..., K].

    Decided by counting labels, not by chance agreement == 1, which rounding can miss.
    """
    return np.asarray(np.count_nonzero(margin > 0, axis=-1) > 1)
