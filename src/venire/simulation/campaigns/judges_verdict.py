"""The verdict on how many judgments per pair are enough, from intervals by number of judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.arrays import Mask


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How many judgments per pair are enough, as far as the data tell.

    Attributes
    ----------
    code : str
        ``enough``: the number ``enough``. ``between``: from ``possible`` to ``enough``.
        ``at-least``: ``possible`` or more, the data cannot tell how many. ``more``: more than
        the largest number looked at. ``not-checked``: see ``reason``.
    enough : int or None
        Least number of judgments that meets the target with the worse end of its interval, as
        all larger numbers do; None where none does.
    possible : int or None
        The same by the better end: fewer are not enough.
    reason : str
        Why nothing was checked; else empty.
    """

    code: str
    enough: int | None = None
    possible: int | None = None
    reason: str = ""


def decide(meets_surely: Mask, meets_perhaps: Mask, judges: Sequence[int]) -> Verdict:
    """Return the verdict.

    Parameters
    ----------
    meets_surely, meets_perhaps : bool [G]
        Whether the worse and the better end of the interval meet the target.
    judges : sequence of int [G]
        Numbers of judgments per pair, increasing.

    Examples
    --------
    >>> decide(np.array([False, False, True]), np.array([False, True, True]), [1, 2, 3]).code
    'enough'
    """
    enough = find_least(meets_surely, judges)
    possible = find_least(meets_perhaps, judges)
    if possible is None:
        code = "more"
    elif enough is None:
        code = "at-least"
    else:
        steps = list(judges).index(enough) - list(judges).index(possible)
        code = "enough" if steps <= 1 else "between"
    return Verdict(code=code, enough=enough, possible=possible)


def find_least(meets: Mask, judges: Sequence[int]) -> int | None:
    """Return the least number that meets the target as all larger ones do; None for none."""
    failures = np.flatnonzero(~meets)
    first = int(failures[-1]) + 1 if failures.size else 0
    return int(judges[first]) if first < len(judges) else None
