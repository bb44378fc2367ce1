"""Expected tau of the order of the best systems with their order on as many other topics.

The share of variance that topics explain (E rho^2) grows with every hopeless system and says
nothing about the best ones. This estimate looks at the best systems only:

1. Systems whose scores by topic differ by at most ``COPY_DISTANCE`` (root mean square) count as
   one; the best stays.
2. The order is cut at the smallest top group, of two systems or more, that lies above every later
   system by a paired t of ``CLEAR_T`` or more. Systems after it cannot change the answer.
3. The topics are split into halves A and B. A names its ``k`` best systems; t is the mean tau
   between their order under A and under B, and the other way round, so that the choice of the
   best is repeated too.
4. With r = sin(pi t / 2), m = n / floor(n / 2): tau = 2 / pi asin(m r / (1 + (m - 1) r)).

Greiner's relation between tau and r of a normal distribution, and the formula of Spearman
(British Journal of Psychology 3, 1910) and Brown for a test made m times as long.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from venire.arrays import Floats, Longs
from venire.errors import BadSetting
from venire.evaluation.clear_groups import order_distinct, size_of_top_group

TOP = 10
"""Systems whose order is asked about, as many as people look at."""
SPLITS = 200
LEAST_TOPICS = 6
"""With fewer topics a half has fewer than three, and orders nothing."""
TOO_FEW_TOPICS = f"fewer than {LEAST_TOPICS} topics"
ONE_SYSTEM = "fewer than two systems, copies counted once"


@dataclass(frozen=True)
class TopOrder:
    """How far the order of the best systems would repeat on other topics.

    Attributes
    ----------
    tau : float or None
        Expected Kendall's tau between the order of the first ``k`` systems and their order on as
        many other topics; None where it is undefined.
    half_tau : float or None
        Mean tau between the orders by two halves of the topics.
    first_repeats : float or None
        Share of half splits in which the best system of one half is best in the other.
    top : tuple of str
        The systems of the top group, best first, copies left out.
    k : int
        How many of them are ordered.
    copies : tuple of (str, str)
        System that counts as a copy, and the one that stays.
    topics : int
    topics_needed : int or None
        Topics for an expected tau of ``target``; None where no number is enough.
    difference_needed : float or None
        Median over the pairs of the first ``k`` of the difference in mean score that a paired t
        test at .05 tells from 0.
    target : float
    reason : str or None
        Why ``tau`` is undefined.
    """

    tau: float | None
    half_tau: float | None
    first_repeats: float | None
    top: tuple[str, ...]
    k: int
    copies: tuple[tuple[str, str], ...]
    topics: int
    topics_needed: int | None
    difference_needed: float | None
    target: float
    reason: str | None = None


def estimate_top_order(
    values: ArrayLike,
    systems: Sequence[str],
    *,
    k: int = TOP,
    splits: int = SPLITS,
    target: float = 0.9,
    seed: int = 0,
) -> TopOrder:
    """Return the expected tau of the first ``k`` systems with their order on other topics.

    Parameters
    ----------
    values : array [systems, topics]
        Scores; every system has every topic.
    systems : sequence of str
        Names of the systems, in the order of the rows.
    k : int
        How many of the best systems are ordered.
    splits : int
        Random splits of the topics into halves.
    target : float
        Tau for which the number of topics is computed.
    seed : int
        The same for any order of the systems, and whatever systems come after the top group.

    Raises
    ------
    BadSetting
        Scores that are not finite or have another number of rows than ``systems``; ``k`` below 2;
        ``splits`` below 1; a target outside (0, 1).

    Examples
    --------
    >>> scores = np.array([[0.5, 0.6, 0.7, 0.5, 0.6, 0.7], [0.1, 0.2, 0.1, 0.3, 0.2, 0.1]])
    >>> estimate_top_order(scores, ["a", "b"]).tau
    1.0
    """
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 2 or not np.isfinite(scores).all():
        raise BadSetting("must be a finite array [systems, topics]", argument="values")
    if len(systems) != len(scores):
        raise BadSetting(
            f"must name every row of `values` (got {len(systems)} for {len(scores)})",
            argument="systems",
        )
    if k < 2:
        raise BadSetting(f"must be >= 2 (got {k})", argument="k", value=k)
    if splits < 1:
        raise BadSetting(f"must be >= 1 (got {splits})", argument="splits", value=splits)
    if not 0 < target < 1:
        raise BadSetting(f"must be between 0 and 1 (got {target})", argument="target", value=target)
    topics = scores.shape[1]
    rows, copies = order_distinct(scores, systems)
    if len(rows) > 2 and topics > 1:
        rows = rows[: size_of_top_group(scores[rows])]
    scores = scores[rows]
    k = min(k, len(rows))
    common: dict[str, Any] = {
        "top": tuple(systems[row] for row in rows),
        "k": k,
        "copies": copies,
        "topics": topics,
        "target": target,
    }
    if topics < LEAST_TOPICS or k < 2:
        reason = TOO_FEW_TOPICS if topics < LEAST_TOPICS else ONE_SYSTEM
        return TopOrder(
            tau=None,
            half_tau=None,
            first_repeats=None,
            topics_needed=None,
            difference_needed=None,
            reason=reason,
            **common,
        )
    rng = np.random.default_rng(seed)
    orders = np.stack([rng.permutation(topics) for _ in range(splits)])
    half_tau, first_repeats = compare_halves(scores, k, orders)
    return TopOrder(
        tau=lengthen(half_tau, topics / (topics // 2)),
        half_tau=half_tau,
        first_repeats=first_repeats,
        topics_needed=count_topics_needed(half_tau, topics // 2, target),
        difference_needed=_median_difference(scores[:k]),
        **common,
    )


def compare_halves(scores: Floats, k: int, orders: Longs) -> tuple[float, float]:
    """Return mean tau and how often the first system repeats, over splits of the topics.

    Parameters
    ----------
    scores : array [systems, topics]
    k : int
        How many systems each half names.
    orders : array [splits, topics]
        Orders of the topics; the first half of each against the second, an odd topic left out.
    """
    half = scores.shape[1] // 2
    first, second = np.triu_indices(k, 1)
    taus: list[float] = []
    repeats: list[bool] = []
    for order in orders:
        one_half = scores[:, order[:half]].mean(axis=1)
        other_half = scores[:, order[half : 2 * half]].mean(axis=1)
        for naming, judging in ((one_half, other_half), (other_half, one_half)):
            best = np.argsort(-naming, kind="stable")[:k]
            ranked = judging[best]
            taus.append(float(np.sign(ranked[first] - ranked[second]).mean()))
            repeats.append(bool(judging.argmax() == best[0]))
    return float(np.mean(taus)), float(np.mean(repeats))


def lengthen(tau: float, times: float) -> float:
    """Return the tau expected of ``times`` as many topics; a tau of 0 or less stays.

    Examples
    --------
    >>> round(lengthen(0.5, 2), 4)
    0.6215
    """
    if tau <= 0:
        return tau
    r = math.sin(math.pi / 2 * tau)
    return 2 / math.pi * math.asin(min(1.0, times * r / (1 + (times - 1) * r)))


def count_topics_needed(tau: float, topics: int, target: float) -> int | None:
    """Return the topics for an expected tau of ``target``, from tau at ``topics`` topics.

    Examples
    --------
    >>> count_topics_needed(0.5, 20, 0.5)
    20
    """
    if tau <= 0:
        return None
    r = math.sin(math.pi / 2 * tau)
    of_one = r / (topics - (topics - 1) * r)
    wanted = math.sin(math.pi / 2 * target)
    if of_one >= 1:
        return 1
    return max(1, math.ceil(wanted / (1 - wanted) * (1 - of_one) / of_one - 1e-9))


def _median_difference(scores: Floats) -> float:
    from scipy.special import stdtrit

    topics = scores.shape[1]
    first, second = np.triu_indices(len(scores), 1)
    errors = (scores[first] - scores[second]).std(axis=1, ddof=1) / math.sqrt(topics)
    return float(stdtrit(topics - 1, 0.975) * np.median(errors))
