"""Gwet's AC1 and AC2: chance agreement that does not grow where one label is common.

That is also their danger: where relevant documents are rare, AC1 is high although the
annotators hardly agree on one of them, and where one label only is used it is 1. Show positive
agreement and overlap beside it.
"""

from __future__ import annotations

import numpy as np

from venire.agreement.counts import pair_counts
from venire.agreement.value import Value, divide, why
from venire.arrays import Floats
from venire.errors import BadSetting
from venire.tables.judgments import Judgments

WEIGHTS = ("nominal", "ordinal", "linear", "quadratic")


def weights_of(kind: str, values: Floats) -> Floats:
    """Return how far each two grades agree [K, K], 1 on the diagonal, 0 for the ends.

    nominal ``[k = l]``; ordinal ``1 - C(|k - l| + 1, 2) / C(K, 2)`` by position (Gwet 2014);
    linear ``1 - |v_k - v_l| / (v_K - v_1)`` and quadratic, its square, by the grades.

    Raises
    ------
    BadSetting
        For another kind.

    Examples
    --------
    >>> weights_of("ordinal", np.arange(3.0))[0].round(4).tolist()
    [1.0, 0.6667, 0.0]
    """
    if kind not in WEIGHTS:
        raise BadSetting(f"weights are one of {', '.join(WEIGHTS)}, not {kind!r}")
    if kind == "nominal" or values.size == 1:
        return np.eye(values.size)
    place = np.arange(values.size) if kind == "ordinal" else values
    gap = np.abs(place[:, None] - place[None, :]).astype(np.float64)
    if kind == "ordinal":
        gap = gap * (gap + 1.0) / 2.0
    elif kind == "quadratic":
        gap = gap**2
    return np.asarray(1.0 - gap / gap.max())


def gwet_of(table: Floats, weights: Floats, shares: Floats | None = None) -> Floats:
    """Return Gwet's coefficient of tables of pairs in which each item weighs 1 [..., K, K].

    ``(P - P_e) / (1 - P_e)`` with ``P = sum_kl w_kl a_kl / sum_kl a_kl`` and
    ``P_e = sum_kl w_kl / (K (K - 1)) sum_k p_k (1 - p_k)`` (Gwet 2008, "Computing inter-rater
    reliability and its variance in the presence of high agreement"; 2014 for the weights).

    Parameters
    ----------
    table : float [..., K, K]
        Symmetric, as ``PairCounts.by_item``.
    weights : float [K, K]
        The identity for AC1.
    shares : float [..., K], optional
        Counts that p is made of; by default the row sums of the table.
    """
    size = weights.shape[0]
    shares = table.sum(axis=-1) if shares is None else shares
    p = divide(shares, shares.sum(axis=-1)[..., None])
    observed = divide((table * weights).sum(axis=(-2, -1)), table.sum(axis=(-2, -1)))
    chance = weights.sum() / max(size * (size - 1), 1) * (p * (1.0 - p)).sum(axis=-1)
    # On a scale of one grade nothing else could be said: undefined. With several grades of which
    # one is used, chance agreement is 0 by the formula, and the coefficient is 1.
    return divide(observed - chance, 1.0 - chance, np.full(chance.shape, size > 1))


def gwet_ac1(judgments: Judgments, *, singles: bool = False) -> Value:
    """Return Gwet's AC1 of all annotators together.

    K is the number of grades of the scale, whether or not each was used.

    Parameters
    ----------
    judgments : Judgments
    singles : bool
        Whether items with one judgment count in chance agreement, as they do with Gwet.

    Examples
    --------
    >>> table = Judgments.from_dict({"query_id": ["q"] * 4, "doc_id": ["a", "a", "b", "b"],
    ...     "annotator_id": ["x", "y"] * 2, "label": [0, 0, 1, 0]})
    >>> round(gwet_ac1(table).value, 4)  # P = 1/2, P_e = 2 (3/4) (1/4)
    0.2
    """
    return _value("gwet-ac1", judgments, "nominal", singles=singles)


def gwet_ac2(judgments: Judgments, *, weights: str = "ordinal", singles: bool = False) -> Value:
    """Return Gwet's AC2 of all annotators together: AC1 with near misses counted in part.

    Parameters
    ----------
    judgments : Judgments
    weights : "ordinal", "linear", "quadratic" or "nominal"
        How far two grades agree; see :func:`weights_of`. ``nominal`` gives AC1.
    singles : bool
        As for :func:`gwet_ac1`.

    Raises
    ------
    BadSetting
        For other weights.
    """
    return _value("gwet-ac2", judgments, weights, singles=singles)


def _value(name: str, judgments: Judgments, kind: str, *, singles: bool) -> Value:
    weights = weights_of(kind, judgments.scale.array())
    counts = pair_counts(judgments)
    table = counts.by_item.sum(axis=0)
    shares = table.sum(axis=-1) + (counts.single.sum(axis=0) if singles else 0.0)
    notes = () if singles else counts.notes
    return Value.of(name, gwet_of(table, weights, shares), why(table), notes)
