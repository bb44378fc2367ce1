"""The share of pairs of systems that the topics can tell apart."""

from __future__ import annotations

from dataclasses import dataclass

from venire.errors import BadSetting
from venire.evaluation.paired_tests import Comparison, compare_systems
from venire.evaluation.score import Scores


@dataclass(frozen=True)
class DiscriminativePower:
    """How many pairs of systems differ by more than chance.

    Attributes
    ----------
    apart, pairs : int
        Pairs of systems with a corrected p below ``alpha``, and all pairs.
    share : float
    alpha : float
    comparisons : tuple of Comparison
    """

    apart: int
    pairs: int
    share: float
    alpha: float
    comparisons: tuple[Comparison, ...]


def discriminative_power(
    scores: Scores,
    measure: int = 0,
    *,
    alpha: float = 0.05,
    permutations: int = 10_000,
    seed: int = 0,
) -> DiscriminativePower:
    """Return the share of pairs with a randomised Tukey HSD p below alpha (Sakai, SIGIR 2006).

    Not Holm's: with many pairs its least possible p, pairs / permutations, is above alpha.
    A pair that differs on no topic is not told apart.

    Parameters
    ----------
    scores : Scores
    measure : int
        Which of the scores' measures.
    alpha : float
    permutations, seed : int

    Raises
    ------
    BadSetting
        For fewer than two systems, no common topic, or an alpha outside 0 to 1.
    """
    if not 0 < alpha < 1:
        raise BadSetting(f"must be > 0 and < 1 (got {alpha})", argument="alpha", value=alpha)
    comparisons = compare_systems(
        scores, measure, permutations=permutations, bootstraps=1, seed=seed
    )
    apart = sum(pair.p_tukey is not None and pair.p_tukey < alpha for pair in comparisons)
    return DiscriminativePower(
        apart, len(comparisons), apart / len(comparisons), alpha, tuple(comparisons)
    )
