"""The result of an aggregator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs
from venire.errors import UnknownName
from venire.short_repr import list_names, write_repr
from venire.tables.qrels import Qrels
from venire.tables.scale import Scale
from venire.tables.schema import express

GRADE_RULES = ("mode", "rounded-mean", "real")
TIE = 1e-9
"""Probabilities closer than this are tied; the lowest grade wins a tie."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Grades inferred from judgments, with their uncertainty.

    Attributes
    ----------
    model : str
        Name of the aggregator.
    scale : Scale
    items : polars.DataFrame [M]
        ``query_id, doc_id, judgments, estimate, mean, sd``. The estimate is the grade
        according to the model: its mean, the winner of the votes, or the median.
    probabilities : float64 [M, K]
        Grade probabilities of each item; rows sum to 1.
    annotators : polars.DataFrame [N]
        ``annotator_id, judgments`` and what the model learnt about each: ``expertise``,
        ``spamminess``, ... and their standard deviations, with ``_sd`` appended.
    confusions : callable or None
        Computes ``confusion`` and ``confusion_sd`` on first use, because they are large for
        many annotators.
    difficulty : polars.DataFrame or None
        Inverse difficulty of each item or category, if the model has it.
    bounds : polars.DataFrame
        ``restart, iteration, bound``: the objective (log-likelihood or ELBO) at every
        iteration; empty for models that do not iterate.
    converged : bool
        True only if the chosen restart met its tolerance (or the model does not iterate).
    restart : int
        The restart that was chosen.
    settings : mapping
    seed : int
    version : str
    notes : tuple of str
    calibration : mapping or None
        The correction by known grades; None without one, then the scale and the
        probabilities are those of the model.
    weights : mapping or None
        Only of a committee: the weight of each member without known grades.
    state : object
        The state from which ``start=`` continues.
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
    bounds: pl.DataFrame = field(default_factory=lambda: build_bounds([]))
    converged: bool = True
    restart: int = 0
    notes: tuple[str, ...] = ()
    calibration: Mapping[str, Any] | None = None
    weights: Mapping[str, float] | None = None
    state: Any = None
    version: str = field(default_factory=lambda: version("venire"))

    def __repr__(self) -> str:
        return write_repr(
            self,
            self.model,
            express(self.items.height, "item"),
            express(self.annotators.height, "annotator"),
            f"grades {list_names(self.scale.names)}",
            "" if self.converged else "did not converge",
        )

    @cached_property
    def _confusions(self) -> tuple[Floats, Floats] | None:
        return self.confusions() if self.confusions is not None else None

    @property
    def confusion(self) -> Floats | None:
        """P(label | grade) of each annotator [N, grade, label], if the model learns about them."""
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
        """Grade of each item according to the model [M]."""
        return self.items["estimate"].to_numpy()

    def grades(self, rule: str = "mode") -> Floats:
        """Return one grade per item.

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
        raise UnknownName("rule", rule, GRADE_RULES)

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


def build_bounds(histories: list[tuple[float, ...]]) -> pl.DataFrame:
    """Return ``restart, iteration, bound``, one row per iteration of every restart."""
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
