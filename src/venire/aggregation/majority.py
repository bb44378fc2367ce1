"""Majority vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from venire.aggregation.posterior import Posterior
from venire.aggregation.result import build_from_votes, pick_winners
from venire.engine import Engine
from venire.progress import Progress, silent
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels


@dataclass(frozen=True, kw_only=True)
class Majority:
    """The label given by most annotators; the lowest grade wins a tie.

    Grade probabilities are the shares of the votes, ``estimate`` is the winner.

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 2, "doc_id": ["a"] * 2, "annotator_id": ["x", "y"],
    ...      "label": [2, 0]})
    >>> Majority().fit(judgments).items["estimate"].to_list()
    [0.0]
    """

    name: ClassVar[str] = "majority"
    uses_gold: ClassVar[bool] = False

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
        return build_from_votes(
            self, judgments, gold, seed, lambda shares: pick_winners(shares, judgments)
        )
