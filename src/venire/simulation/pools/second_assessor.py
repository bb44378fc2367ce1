"""A simulated second assessor, who misses some relevant documents and accepts some others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.arrays import Floats, Longs
from venire.errors import BadSetting, UnknownName
from venire.evaluation.ranks import RankTable
from venire.pooling.base import require_at_least


@dataclass(frozen=True, kw_only=True)
class SecondAssessor:
    """The error rates of a second assessor relative to the first.

    Attributes
    ----------
    keep : float or mapping of grade to float
        Probability that a document judged relevant by the first assessor stays relevant, per
        grade; a single number applies to all relevant grades.
    false_positives : float
        Probability that a document of the pool that is not relevant becomes relevant.
    depth : int
        Depth of the pool that the assessor judges.
    favour : str, optional
        Run whose notion of relevance the assessor shares. New relevant documents are then drawn
        from the first ``top`` documents of this run, each with probability ``accept``, instead
        of from the pool.
    top : int
    accept : float

    Examples
    --------
    The assessor of the article (see reproduce/cranfield.py), with Cranfield's grades, 4 being the
    highest:

    >>> SecondAssessor(keep={4: 0.9, 3: 0.8, 2: 0.6, 1: 0.4}).false_positives
    0.04
    """

    keep: float | Mapping[int, float]
    false_positives: float = 0.04
    depth: int = 20
    favour: str | None = None
    top: int = 5
    accept: float = 0.5

    def __post_init__(self) -> None:
        """Check the ranges."""
        rates = list(self.keep.values()) if isinstance(self.keep, Mapping) else [self.keep]
        check_probability("keep", *rates)
        check_probability("false_positives", self.false_positives)
        check_probability("accept", self.accept)
        require_at_least("depth", self.depth, 1)
        require_at_least("top", self.top, 1)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that have an effect."""
        settings: dict[str, Any] = {
            "keep": dict(self.keep) if isinstance(self.keep, Mapping) else self.keep,
            "depth": self.depth,
        }
        if self.favour is None:
            return settings | {"false_positives": self.false_positives}
        return settings | {"favour": self.favour, "top": self.top, "accept": self.accept}

    def relevance(self, table: RankTable, grades: Longs, relevant_from: int) -> Floats:
        """Return the probability that the assessor judges each pair relevant [P].

        Parameters
        ----------
        table : RankTable
            Contains the pairs of the pool and, for a favoured run, its first ``top`` documents.
        grades : int64 [P]
            Grades of the first assessor.
        relevant_from : int
            Lowest grade that counts as relevant.

        Raises
        ------
        BadSetting
            A relevant grade without a rate.
        UnknownName
            The favoured run is not among the runs.
        """
        is_relevant = grades >= relevant_from
        in_reach, rate = table.rank <= self.depth, self.false_positives
        if self.favour is not None:
            if self.favour not in table.runs:
                raise UnknownName("run", self.favour, table.runs)
            run = table.run
            in_reach = (table.rank <= self.top) & (run == table.runs.index(self.favour))
            rate = self.accept
        probability = np.zeros(grades.size)
        probability[table.pair[in_reach]] = rate
        probability[is_relevant] = self._keep_rates(grades[is_relevant])
        return probability

    def _keep_rates(self, grades: Longs) -> Floats:
        if not isinstance(self.keep, Mapping):
            return np.full(grades.size, float(self.keep))
        rates = np.zeros(grades.size)
        for grade in np.unique(grades):
            if int(grade) not in self.keep:
                raise BadSetting(
                    f"has no probability for grade {grade}, which the qrels use", argument="keep"
                )
            rates[grades == grade] = self.keep[int(grade)]
        return rates


def check_probability(name: str, *values: float) -> None:
    """Refuse values that are not probabilities."""
    for value in values:
        if not 0 <= value <= 1:
            raise BadSetting(f"must be between 0 and 1 (got {value:g})", argument=name, value=value)
