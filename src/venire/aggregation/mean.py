"""Mean and median of the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from venire.aggregation.posterior import Posterior
from venire.aggregation.result import build_from_votes
from venire.arrays import Floats
from venire.engine import Engine
from venire.progress import Progress, silent
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels


@dataclass(frozen=True, kw_only=True)
class Mean:
    """The mean of the labels of an item.

    Grade probabilities are the shares of the votes; ``sd`` is the standard deviation of the votes.

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 2, "doc_id": ["a"] * 2, "annotator_id": ["x", "y"],
    ...      "label": [2, 1]}, scale="0,1,2")
    >>> Mean().fit(judgments).items["estimate"].to_list()
    [1.5]
    """

    name: ClassVar[str] = "mean"
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
        """Average the labels; see :class:`venire.aggregation.base.Aggregator`."""
        return build_from_votes(self, judgments, gold, seed)


@dataclass(frozen=True, kw_only=True)
class Median:
    """The median of the labels of an item; of an even number, the mean of the middle two.

    Examples
    --------
    >>> from venire import Judgments
    >>> judgments = Judgments.from_dict(
    ...     {"query_id": ["q"] * 4, "doc_id": ["a"] * 4, "annotator_id": list("wxyz"),
    ...      "label": [0, 1, 2, 2]})
    >>> Median().fit(judgments).items["estimate"].to_list()
    [1.5]
    """

    name: ClassVar[str] = "median"
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
        """Take the middle label; see :class:`venire.aggregation.base.Aggregator`."""
        values = judgments.scale.array()

        def find_medians(shares: Floats) -> Floats:
            count = judgments.codes.per_item[:, None]
            below = np.round(np.cumsum(shares, axis=1) * count).astype(np.int64)
            low = np.argmax(2 * below >= count, axis=1)
            high = np.argmax(2 * below > count, axis=1)
            halves: Floats = (values[low] + values[high]) / 2
            return halves

        return build_from_votes(self, judgments, gold, seed, find_medians)
