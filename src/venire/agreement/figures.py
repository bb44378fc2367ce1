"""Every figure of agreement from summed tables, whatever the sum is over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.agreement.alpha import alpha_of
from venire.agreement.counts import PairCounts, binary
from venire.agreement.fleiss import agreement_of, fleiss_of
from venire.agreement.gwet import gwet_of, weights_of
from venire.agreement.pairs import cohen_of, negative_of, overlap_of, positive_of
from venire.agreement.value import why_not_relevant, why_relevant
from venire.arrays import Floats
from venire.tables.judgments import Judgments

OF_RELEVANCE = (
    "positive-agreement",
    "negative-agreement",
    "overlap",
    "binary-agreement",
    "binary-kappa",
    "binary-ac1",
)
"""Figures of relevant or not; the others are of the grades."""


@dataclass(frozen=True)
class Figures:
    """Every figure from summed tables, whatever the sum is over: all, a topic, a resample.

    Attributes
    ----------
    grades : float [K]
    first : int
        Position on the scale of the smallest grade that counts as relevant.
    """

    grades: Floats
    first: int

    def __call__(
        self, by_judgment: Floats, by_item: Floats, two: Floats | None = None
    ) -> dict[str, Floats]:
        """Return every figure [...] by name.

        Parameters
        ----------
        by_judgment, by_item : float [..., K, K]
            As in :class:`venire.agreement.counts.PairCounts`.
        two : float [..., K, K], optional
            As :func:`of_two`, where there are two annotators in all.
        """
        nominal = weights_of("nominal", self.grades)
        out = {
            "alpha-ordinal": alpha_of(by_judgment, "ordinal", self.grades),
            "alpha-interval": alpha_of(by_judgment, "interval", self.grades),
            "alpha-nominal": alpha_of(by_judgment, "nominal", self.grades),
            "fleiss-kappa": fleiss_of(by_item),
        }
        if two is not None:
            out["cohen-kappa"] = cohen_of(two, nominal)
            out["linear-kappa"] = cohen_of(two, weights_of("linear", self.grades))
            out["quadratic-kappa"] = cohen_of(two, weights_of("quadratic", self.grades))
        relevance = binary(by_item, self.first)
        out |= {
            "agreement": agreement_of(by_item),
            "gwet-ac1": gwet_of(by_item, nominal),
            "gwet-ac2": gwet_of(by_item, weights_of("ordinal", self.grades)),
            # Beside AC1: where relevant documents are rare these say what it hides.
            "positive-agreement": positive_of(relevance),
            "negative-agreement": negative_of(relevance),
            "overlap": overlap_of(relevance),
            "binary-agreement": agreement_of(relevance),
            "binary-kappa": fleiss_of(relevance),
            "binary-ac1": gwet_of(relevance, np.eye(2)),
        }
        return out


def of_two(judgments: Judgments) -> Floats:
    """Return the table of the only two annotators for each topic [T, K, K].

    Each item that both judged weighs 1; repeats share it.
    """
    codes, size = judgments.codes, judgments.scale.size
    item = codes.item_of()
    n_topics = int(codes.query.max()) + 1
    rows, columns = (
        np.bincount(
            item[codes.annotator == who] * size + codes.label[codes.annotator == who],
            minlength=codes.n_items * size,
        ).reshape(-1, size)
        for who in (0, 1)
    )
    both = rows.any(axis=1) & columns.any(axis=1)
    a = rows[both] / rows[both].sum(axis=1, keepdims=True)
    b = columns[both] / columns[both].sum(axis=1, keepdims=True)
    topic = codes.query[both]
    out = np.zeros((n_topics, size, size))
    for k in range(size):
        for other in range(size):
            weight = a[:, k] * b[:, other]
            out[:, k, other] = np.bincount(topic, weights=weight, minlength=n_topics)
    return out


def reasons(counts: PairCounts, first: int) -> dict[str, str]:
    """Return why figures of relevant or not would be undefined, by name."""
    relevance = binary(counts.by_item.sum(axis=0), first)
    return {
        "positive-agreement": why_relevant(relevance),
        "negative-agreement": why_not_relevant(relevance),
        "overlap": why_relevant(relevance),
        "binary-kappa": _only_one(relevance),
        "binary-ac1": _only_one(relevance),
    }


def _only_one(relevance: Floats) -> str:
    if not relevance[1].any():
        return why_relevant(relevance)
    return why_not_relevant(relevance)
