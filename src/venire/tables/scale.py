"""The ordinal scale of the labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from venire.arrays import Floats, Longs
from venire.errors import BadLine, BadSetting, DataError, UnknownLabel, UnknownName
from venire.tables.schema import number_text

MOST_GRADES = 255
"""Maximum number of grades; more different labels are probably another column."""


class WordLabel(BadLine):
    """A label that is a word where numbers are expected: the scale is not known.

    Attributes
    ----------
    label, words : str, tuple of str
        The first such label, and all of them.
    has_numbers : bool
        Whether other labels are numbers.
    """

    code = "word-label"

    def __init__(
        self, words: Sequence[str], path: str, line: int | None, *, has_numbers: bool
    ) -> None:
        self.label = words[0]
        self.words = tuple(words)
        self.has_numbers = has_numbers
        hint = (
            f"Leave it out with `drop_labels=[{self.label!r}]`, or pass the whole `scale`."
            if has_numbers
            else f'Pass them worst first, for example `scale="{",".join(self.words)}"`.'
        )
        super().__init__(
            path, line, f"label must be a finite number (got {self.label!r})", hint=hint
        )


@dataclass(frozen=True)
class Scale:
    """Ordered grades v_1 < ... < v_K, their names, and which of them are relevant.

    Parameters
    ----------
    values : tuple of float
        Grades in increasing order.
    names : tuple of str, optional
        One name per grade; the number as text by default.
    relevant_from : float, optional
        Smallest relevant grade; by default the smallest above 0, or the highest grade if none
        is above 0.
    cannot_judge : tuple of str
        Labels that mean "cannot judge" (a broken link, another language); they are not grades.

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
            raise BadSetting("must have at least one grade", argument="scale", value=self.values)
        if not all(np.isfinite(values)):
            raise BadSetting(
                f"must have finite grades (got {self._join()})", argument="scale", value=self.values
            )
        if any(low >= high for low, high in pairwise(values)):
            raise BadSetting(
                f"must have increasing grades (got {self._join()})",
                argument="scale",
                value=self.values,
            )
        if len(values) > MOST_GRADES:
            raise BadSetting(
                f"must have at most {MOST_GRADES} grades (got {len(values)} different labels)",
                argument="scale",
                hint="Check that the label column is the right one.",
            )
        names = tuple(self.names) or tuple(number_text(value) for value in values)
        if len(names) != len(values) or len(set(names)) != len(names):
            raise BadSetting(
                f"must have one name per grade, all different (got {', '.join(names)})",
                argument="scale",
                value=names,
            )
        relevant = self.relevant_from
        if relevant is None:
            relevant = next((value for value in values if value > 0), values[-1])
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "relevant_from", float(relevant))
        object.__setattr__(self, "cannot_judge", tuple(self.cannot_judge))

    def _join(self) -> str:
        return ", ".join(map(str, self.values))

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
            raise BadSetting(
                "must not be empty", argument="scale", hint="Write 0,1,2 or bad,fair,good."
            )
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
                raise BadSetting(
                    f"must be written as 0=bad,1=good (got {text!r})", argument="scale", value=text
                ) from None
            return cls(tuple(float(rank) for rank in range(len(parts))), tuple(parts))

    @property
    def size(self) -> int:
        """K, the number of grades."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Mean of the grades; the prior mean in the source paper's model."""
        return float(np.mean(self.values))

    def array(self) -> Floats:
        """Return the grades as an array [K]."""
        return np.asarray(self.values, dtype=np.float64)

    def thresholds(self, *, outer: str = "half-step") -> Floats:
        """Return thresholds b_0 < ... < b_K: midpoints of grades, and two outer thresholds.

        Parameters
        ----------
        outer : "half-step" or "infinite"
            Half a step beyond the lowest and highest grade, or infinite.
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
            raise UnknownName("rule for outer thresholds", outer, ("half-step", "infinite"))
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
        position = np.clip(np.searchsorted(values, array), 0, values.size - 1)
        wrong = values[position] != array
        if wrong.any():
            raise UnknownLabel(number_text(float(array[wrong][0])), self.names)
        return position.astype(np.int64)

    def nearest(self, means: Floats) -> Longs:
        """Return the position of the grade nearest to each mean; half-way goes to the lower."""
        values = self.array()
        return np.searchsorted((values[1:] + values[:-1]) / 2, means, side="left").astype(np.int64)


def infer(labels: Iterable[float]) -> Scale:
    """Return the scale of the labels that occur; grades that never occur are missing from it.

    Raises
    ------
    DataError
        If there is no label; its code is ``unknown-scale``.
    """
    values = sorted({float(label) for label in labels})
    if not values:
        raise DataError(
            "there are no valid labels, so the scale is unknown",
            hint='Pass the scale, for example `scale="0,1,2"`.',
            code="unknown-scale",
        )
    return Scale(tuple(values))
