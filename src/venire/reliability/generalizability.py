"""Estimate how far the order would repeat on other topics, and how many topics are enough."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from venire.errors import BadSetting

ONE_SYSTEM = "fewer than two systems"
ONE_TOPIC = "fewer than two topics"
NO_SPREAD = "systems differ by no more than chance would make them"


@dataclass(frozen=True)
class Generalizability:
    """Variance of the scores, by what it comes from.

    Attributes
    ----------
    systems, topics : int
    system, topic, residual : float or None
        Variance components; one below 0 is set to 0. None where undefined.
    reason : str or None
        Why they are undefined.
    """

    systems: int
    topics: int
    system: float | None
    topic: float | None
    residual: float | None
    reason: str | None = None

    def relative(self, topics: int | None = None) -> float | None:
        """Return E rho^2 = s_s / (s_s + s_e / n): how far the order of systems would repeat.

        Parameters
        ----------
        topics : int, optional
            n; those there are by default.
        """
        return self._ratio(self.residual, topics)

    def absolute(self, topics: int | None = None) -> float | None:
        """Return Phi = s_s / (s_s + (s_q + s_e) / n): how far the scores would repeat."""
        error = None if self.residual is None else self.residual + (self.topic or 0.0)
        return self._ratio(error, topics)

    def topics_needed(self, target: float = 0.95) -> int | None:
        """Return the least n with E rho^2 of at least ``target``; None where there is none.

        ``n = target / (1 - target) * s_e / s_s``, rounded up.
        """
        if not 0 < target < 1:
            raise BadSetting(
                f"must be between 0 and 1 (got {target})", argument="target", value=target
            )
        if not self.system or self.residual is None:
            return None
        # A ratio that is whole but for rounding must not cost a topic.
        return max(1, math.ceil(target / (1 - target) * self.residual / self.system - 1e-9))

    def _ratio(self, error: float | None, topics: int | None) -> float | None:
        n = self.topics if topics is None else topics
        if n < 1:
            raise BadSetting(f"must be >= 1 (got {n})", argument="topics", value=n)
        if self.system is None or error is None or self.system + error == 0:
            return None
        return self.system / (self.system + error / n)


def generalizability(values: ArrayLike) -> Generalizability:
    """Split the variance of scores into systems, topics and the rest.

    Two-way analysis of variance without replication: ``s_s = (MS_s - MS_e) / n_q``,
    ``s_q = (MS_q - MS_e) / n_s``, ``s_e = MS_e`` (Brennan, Generalizability Theory, 2001;
    Bodoff and Li, SIGIR 2007, for test collections).

    Parameters
    ----------
    values : array [systems, topics]

    Examples
    --------
    >>> result = generalizability([[0.2, 0.4, 0.3], [0.5, 0.7, 0.6]])
    >>> round(result.relative(), 6), round(result.absolute(), 3)
    (1.0, 0.931)
    """
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 2 or not np.isfinite(scores).all():
        raise BadSetting("scores are a table of numbers, systems by topics")
    rows, columns = scores.shape
    if rows < 2 or columns < 2:
        why = ONE_SYSTEM if rows < 2 else ONE_TOPIC
        return Generalizability(rows, columns, None, None, None, why)
    mean = scores.mean()
    by_row, by_column = scores.mean(axis=1), scores.mean(axis=0)
    rest = scores - by_row[:, None] - by_column[None, :] + mean
    error = float((rest**2).sum() / ((rows - 1) * (columns - 1)))
    of_row = float(columns * ((by_row - mean) ** 2).sum() / (rows - 1))
    of_column = float(rows * ((by_column - mean) ** 2).sum() / (columns - 1))
    system = max(0.0, (of_row - error) / columns)
    topic = max(0.0, (of_column - error) / rows)
    reason = NO_SPREAD if system == 0 else None
    return Generalizability(rows, columns, system, topic, error, reason)
