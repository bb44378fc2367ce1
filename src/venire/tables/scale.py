"""The ordinal scale that labels are on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from venire.arrays import Floats, Longs
from venire.errors import BadSetting, DataError, UnknownLabel
from venire.tables.schema import number_text

MOST_GRADES = 255


@dataclass(frozen=True)
class Scale:
    """Ordered grades v_1 < ... < v_K, their names, and which of them are relevant.

    Parameters
    ----------
    values : tuple of float
        Grades in rising order.
    names : tuple of str, optional
        One name a grade; the number as text by default.
    relevant_from : float, optional
        Smallest grade that counts as relevant; by default the smallest above zero,
        or the highest grade where none is above zero.
    cannot_judge : tuple of str
        Labels that say "cannot judge" (a broken link, another language): no grades.

    Examples
    --------
    >>> scale = Scale.of([0, 1, 2])
    >>> scale.values, scale.thresholds().tolist()
    ((0.0, 1.0, 2.0), [-0.5, 0.5, 1.5, 2.5])
    """

    values: tuple[float, ...]
    names: tuple[str, ...] = ()
    relevant_from: float | None = None
    cannot_judge: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        values = tuple(float(value) for value in self.values)
        if not values:
            raise BadSetting("a scale needs at least one grade")
        if not all(np.isfinite(values)):
            raise BadSetting("the grades of a scale must be finite numbers")
        if any(low >= high for low, high in pairwise(values)):
            raise BadSetting(f"the grades of a scale must rise: {', '.join(map(str, self.values))}")
        if len(values) > MOST_GRADES:
            raise BadSetting(
                f"{len(values)} different labels are no ordinal scale (at most {MOST_GRADES}); "
                "is the label column the right one?"
            )
        names = tuple(self.names) or tuple(number_text(value) for value in values)
        if len(names) != len(values) or len(set(names)) != len(names):
            raise BadSetting("a scale needs one name a grade, each different")
        relevant = self.relevant_from
        if relevant is None:
            relevant = next((value for value in values if value > 0), values[-1])
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "relevant_from", float(relevant))
        object.__setattr__(self, "cannot_judge", tuple(self.cannot_judge))

    @classmethod
    def of(cls, values: Iterable[float]) -> Scale:
        """Return the scale with these grades, sorted, each once."""
        return cls(tuple(sorted({float(value) for value in values})))

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Read ``0,1,2`` or ``bad,fair,good`` (names, worst first) or ``0=bad,1=good``.

        Examples
        --------
        >>> Scale.parse("bad,fair,good").values
        (0.0, 1.0, 2.0)
        """
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if not parts:
            raise BadSetting("an empty scale; write it as 0,1,2 or as bad,fair,good")
        pairs = [part.split("=", 1) for part in parts]
        try:
            if all(len(pair) == 2 for pair in pairs):
                return cls(
                    tuple(float(pair[0]) for pair in pairs),
                    tuple(pair[1].strip() for pair in pairs),
                )
            return cls(tuple(float(part) for part in parts))
        except ValueError as error:
            if isinstance(error, BadSetting):
                raise
            if any(len(pair) == 2 for pair in pairs):
                raise BadSetting(f"cannot read the scale {text!r}: write 0=bad,1=good") from None
            return cls(tuple(float(rank) for rank in range(len(parts))), tuple(parts))

    @property
    def size(self) -> int:
        """K, the number of grades."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Mean of the grades, the prior mean of the source paper's model."""
        return float(np.mean(self.values))

    def array(self) -> Floats:
        """Return the grades as an array [K]."""
        return np.asarray(self.values, dtype=np.float64)

    def thresholds(self, *, outer: str = "half-step") -> Floats:
        """Return b_0 < ... < b_K: midpoints, and outer ones half a step out or infinite.

        Parameters
        ----------
        outer : "half-step" or "infinite"
        """
        values = self.array()
        middle = (values[1:] + values[:-1]) / 2
        if outer == "infinite":
            low, high = -np.inf, np.inf
        elif outer == "half-step":
            first = values[1] - values[0] if values.size > 1 else 1.0
            last = values[-1] - values[-2] if values.size > 1 else 1.0
            low, high = values[0] - first / 2, values[-1] + last / 2
        else:
            raise BadSetting(f"outer thresholds are 'half-step' or 'infinite', not {outer!r}")
        return np.concatenate([[low], middle, [high]])

    def index(self, labels: Sequence[float] | Floats) -> Longs:
        """Return the position of each grade on the scale.

        Raises
        ------
        UnknownLabel
            For the first grade that is not on the scale.
        """
        array = np.asarray(labels, dtype=np.float64)
        values = self.array()
        found = np.clip(np.searchsorted(values, array), 0, values.size - 1)
        wrong = values[found] != array
        if wrong.any():
            raise UnknownLabel(number_text(float(array[wrong][0])), self.names)
        return found.astype(np.int64)

    def nearest(self, means: Floats) -> Longs:
        """Return the position of the grade nearest to each mean; half-way goes to the lower."""
        values = self.array()
        return np.searchsorted((values[1:] + values[:-1]) / 2, means, side="left").astype(np.int64)


def infer(labels: Iterable[float]) -> Scale:
    """Return the scale made of the labels that occur; what never occurs cannot be known.

    Raises
    ------
    DataError
        When there is no label at all.
    """
    values = sorted({float(label) for label in labels})
    if not values:
        raise DataError("there is no label to learn the scale from; name it with --scale")
    return Scale(tuple(values))
