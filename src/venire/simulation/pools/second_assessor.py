"""A second assessor, made up: keeps some relevant documents, and finds some that are not."""

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
    """How a second assessor differs from the first.

    Attributes
    ----------
    keep : float or mapping of grade to float
        Probability that a relevant document of that grade stays relevant; one number for all.
    false_positives : float
        Probability that a document of the pool that is not relevant becomes relevant.
    depth : int
        Of the pool that the assessor looks at.
    favour : str, optional
        A run whose notion of relevance the assessor shares. New relevant documents are then
        drawn from the first ``top`` of this run, each with probability ``accept``, and not from
        the pool.
    top : int
    accept : float

    Examples
    --------
    The assessor of the article, on Cranfield's grades, where 4 is the best:

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
        """Refuse what is no probability or depth."""
        rates = list(self.keep.values()) if isinstance(self.keep, Mapping) else [self.keep]
        probability("keep", *rates)
        probability("false_positives", self.false_positives)
        probability("accept", self.accept)
        require_at_least("depth", self.depth, 1)
        require_at_least("top", self.top, 1)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that have a say."""
        out: dict[str, Any] = {
            "keep": dict(self.keep) if isinstance(self.keep, Mapping) else self.keep,
            "depth": self.depth,
        }
        if self.favour is None:
            return out | {"false_positives": self.false_positives}
        return out | {"favour": self.favour, "top": self.top, "accept": self.accept}

    def relevance(self, table: RankTable, grades: Longs, relevant_from: int) -> Floats:
        """Return the probability that the assessor calls each pair relevant [P].

        Parameters
        ----------
        table : RankTable
            With the pairs of the pool and, for a favoured run, of its top.
        grades : int64 [P]
            Of the first assessor.
        relevant_from : int

        Raises
        ------
        BadSetting
            For a relevant grade without a rate.
        UnknownName
            Where the favoured run is none of the runs.
        """
        relevant = grades >= relevant_from
        near, rate = table.rank <= self.depth, self.false_positives
        if self.favour is not None:
            if self.favour not in table.runs:
                raise UnknownName("run", self.favour, table.runs)
            run = table.run
            near = (table.rank <= self.top) & (run == table.runs.index(self.favour))
            rate = self.accept
        out = np.zeros(grades.size)
        out[table.pair[near]] = rate
        out[relevant] = self._keep_rates(grades[relevant])
        return out

    def _keep_rates(self, grades: Longs) -> Floats:
        if not isinstance(self.keep, Mapping):
            return np.full(grades.size, float(self.keep))
        out = np.zeros(grades.size)
        for grade in np.unique(grades):
            if int(grade) not in self.keep:
                raise BadSetting(f"keep has no rate for grade {grade}, which the qrels have")
            out[grades == grade] = self.keep[int(grade)]
        return out


def probability(name: str, *values: float) -> None:
    """Refuse what is no probability."""
    for value in values:
        if not 0 <= value <= 1:
            raise BadSetting(f"{name} is a probability, 0 to 1, not {value:g}")
