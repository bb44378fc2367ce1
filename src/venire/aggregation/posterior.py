"""What an aggregator returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs
from venire.errors import BadSetting
from venire.tables.qrels import Qrels
from venire.tables.scale import Scale

RULES = ("mode", "rounded-mean", "real")
TIE = 1e-9
"""Probabilities nearer than this are a tie; the lowest grade wins a tie."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Grades inferred from judgments, and how sure they are.

    Attributes
    ----------
    model : str
        Name of the aggregator.
    scale : Scale
    items : polars.DataFrame [M]
        ``query_id, doc_id, judgments, estimate, mean, sd``. The estimate is what the model
        says the grade is: its mean, or the winner of the votes, or the median.
    probabilities : float64 [M, K]
        Grade probabilities of each item; rows sum to 1.
    annotators : polars.DataFrame [N]
        ``annotator_id, judgments`` and what the model says of each: ``expertise``,
        ``spamminess``, ... with ``_sd`` beside it.
    confusions : callable or None
        Computes ``confusion`` and ``confusion_sd``, which not everybody looks at and which
        are large for many annotators.
    difficulty : polars.DataFrame or None
        Difficulty of each category, where the model has it.
    bounds : polars.DataFrame
        ``restart, iteration, bound``; empty for models that do not iterate.
    converged : bool
        True only if the chosen restart met its tolerance (or there is nothing to iterate).
    restart : int
        The restart that was chosen.
    settings : mapping
    seed : int
    version : str
    notes : tuple of str
    calibration : mapping or None
        What known grades corrected; None where nothing did, and then the scale and the
        probabilities are as the model has them.
    state : object
        What ``start=`` continues from.
    """

    model: str
    scale: Scale
    items: pl.DataFrame
    probabilities: Floats
    annotators: pl.DataFrame
    settings: Mapping[str, Any]
    seed: int
    confusions: Callable[[], tuple[Floats, Floats]] | None = None
    difficulty: pl.DataFrame | None = None
    bounds: pl.DataFrame = field(default_factory=lambda: bounds_frame([]))
    converged: bool = True
    restart: int = 0
    notes: tuple[str, ...] = ()
    calibration: Mapping[str, Any] | None = None
    state: Any = None
    version: str = field(default_factory=lambda: version("venire"))

    @cached_property
    def _confusions(self) -> tuple[Floats, Floats] | None:
        return self.confusions() if self.confusions is not None else None

    @property
    def confusion(self) -> Floats | None:
        """P(label | grade) of each annotator [N, grade, label], where the model learns of them."""
        return self._confusions[0] if self._confusions else None

    @property
    def confusion_sd(self) -> Floats | None:
        """Standard deviation of ``confusion`` [N, grade, label]."""
        return self._confusions[1] if self._confusions else None

    @cached_property
    def mode(self) -> Longs:
        """Position of the most probable grade of each item; a tie goes to the lowest."""
        if not self.probabilities.size:
            return np.zeros(len(self.items), np.int64)
        top = self.probabilities.max(axis=1, keepdims=True)
        first: Longs = np.argmax(self.probabilities >= top - TIE, axis=1)
        return first

    @property
    def mean(self) -> Floats:
        """Posterior mean grade of each item [M]."""
        return self.items["mean"].to_numpy()

    @property
    def estimate(self) -> Floats:
        """What the model says the grade of each item is [M]."""
        return self.items["estimate"].to_numpy()

    def grades(self, rule: str = "mode") -> Floats:
        """Return one grade an item.

        Parameters
        ----------
        rule : "mode", "rounded-mean" or "real"
            The most probable grade; the grade nearest to the mean; the estimate itself.
            Ties go to the lower grade.
        """
        if rule == "mode":
            return self.scale.array()[self.mode]
        if rule == "rounded-mean":
            return self.scale.array()[self.scale.nearest(self.mean)]
        if rule == "real":
            return self.estimate
        raise BadSetting(f"rule is one of {', '.join(RULES)}, not {rule!r}")

    def qrels(self, rule: str = "mode") -> Qrels:
        """Return settled grades; see :meth:`grades` for the rules."""
        frame = self.items.select("query_id", "doc_id").with_columns(
            pl.Series("relevance", self.grades(rule), dtype=pl.Float64)
        )
        return Qrels.of(frame)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Items with their grade probabilities as columns ``p(<grade>)`` and the mode."""
        columns = [
            pl.Series(f"p({name})", self.probabilities[:, k], dtype=pl.Float64)
            for k, name in enumerate(self.scale.names)
        ]
        mode = pl.Series("mode", self.grades("mode"), dtype=pl.Float64)
        return self.items.with_columns(mode, *columns)


def bounds_frame(histories: list[tuple[float, ...]]) -> pl.DataFrame:
    """Return the bound at every iteration of every restart as one frame."""
    rows = [
        (restart, iteration, bound)
        for restart, history in enumerate(histories)
        for iteration, bound in enumerate(history)
    ]
    return pl.DataFrame(
        rows,
        schema={"restart": pl.Int64, "iteration": pl.Int64, "bound": pl.Float64},
        orient="row",
    )


def moments(probabilities: Floats, scale: Scale) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each row of grade probabilities."""
    values = scale.array()
    mean = probabilities @ values
    centred = values[None, :] - mean[:, None]
    return mean, np.sqrt(np.einsum("mk,mk->m", probabilities, centred**2))
