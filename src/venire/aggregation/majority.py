"""Majority vote."""

from __future__ import annotations

from dataclasses import dataclass

from venire.aggregation import base
from venire.aggregation.posterior import Posterior
from venire.engine import Engine
from venire.progress import Progress, silent
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels


@dataclass(frozen=True, kw_only=True)
class Majority:
    """The label most annotators gave; the lowest grade wins a tie.

    Grade probabilities are the shares of the votes, ``estimate`` the winner.

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 2, "doc_id": ["a"] * 2, "annotator_id": ["x", "y"],
    ...      "label": [2, 0]})
    >>> Majority().fit(judgments).items["estimate"].to_list()
    [0.0]
    """

    def fit(
        self,
        judgments: Judgments,
        *,
        gold: Qrels | None = None,
        start: Posterior | None = None,
        seed: int = 0,
        engine: Engine | None = None,
        progress: Progress = silent,
    ) -> Posterior:
        """Count the votes; see :class:`venire.aggregation.base.Aggregator`."""
        return base.of_votes(
            self, "majority", judgments, gold, seed, lambda shares: base.winner(shares, judgments)
        )
