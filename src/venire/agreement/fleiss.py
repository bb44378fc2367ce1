"""Fleiss' kappa; with two annotators it is the pooled kappa, Scott's pi."""

from __future__ import annotations

import numpy as np

from venire.agreement.counts import PairCounts, pair_counts
from venire.agreement.value import Value, divide, several, why
from venire.arrays import Floats
from venire.tables.judgments import Judgments


def agreement_of(table: Floats) -> Floats:
    """Return the share of equal pairs of tables [..., K, K]; nan where there is no pair."""
    return divide(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1)))


def fleiss_of(table: Floats, shares: Floats | None = None) -> Floats:
    """Return Fleiss' kappa of tables of pairs in which each item weighs 1 [..., K, K].

    ``kappa = (P - P_e) / (1 - P_e)``, P the mean over the items of the share of their pairs
    that agree, ``P_e = sum_k p_k^2``.

    Parameters
    ----------
    table : float [..., K, K]
        Symmetric, as ``PairCounts.by_item``.
    shares : float [..., K], optional
        Counts that p is made of; by default the row sums of the table.
    """
    shares = table.sum(axis=-1) if shares is None else shares
    p = divide(shares, shares.sum(axis=-1)[..., None])
    chance = (p**2).sum(axis=-1)
    return divide(agreement_of(table) - chance, 1.0 - chance, several(shares))


def formula(counts: PairCounts) -> str:
    """Return which formula Fleiss' kappa is by, in words."""
    if counts.fewest == counts.most:
        return f"{counts.most} judgments an item: the formula of Fleiss (1971)"
    return (
        f"{counts.fewest} to {counts.most} judgments an item: the general formula, "
        "in which each item counts the same"
    )


def fleiss_kappa(judgments: Judgments, *, singles: bool = False) -> Value:
    """Return Fleiss' kappa of all annotators together.

    With the same number of judgments for each item it is that of Fleiss (1971), "Measuring
    nominal scale agreement among many raters". Otherwise it is the general formula of Gwet
    (2014), "Handbook of Inter-Rater Reliability": each item counts the same in
    agreement and in chance, ``p_k = mean_u n_uk / m_u``. The notes state the formula.

    Parameters
    ----------
    judgments : Judgments
    singles : bool
        Whether items with one judgment count in chance agreement, as they do with Gwet. By
        default they do not, so that all figures cover the same items.

    Examples
    --------
    >>> table = Judgments.from_dict({"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...     "annotator_id": ["x", "y"] * 2, "label": [0, 0, 1, 0]})
    >>> round(fleiss_kappa(table).value, 4)  # P = 1/2, p = 3/4 and 1/4
    -0.3333
    """
    counts = pair_counts(judgments)
    table = counts.by_item.sum(axis=0)
    shares = table.sum(axis=-1) + (counts.single.sum(axis=0) if singles else 0.0)
    notes = (*((formula(counts),) if table.any() else ()), *(() if singles else counts.notes))
    return Value.of("fleiss-kappa", fleiss_of(table, shares), why(table), notes)
