"""Test whether another panel of assessors would order the systems differently, beyond chance.

A panel's disagreement with the qrels has three parts: it may be stricter, it may err where the
qrels do not, and it may prefer other systems. Only the third changes which system is better. The
test asks whether the order under the panel differs from the order under the qrels by more than
the orders of two equal panels on the same pairs:

1. The panel's grades are aligned: moved onto the distribution of the qrels' grades on the common
   pairs, rank by rank, ties at random. Strictness drops out.
2. D = sum over swapped pairs of systems of min(|difference under the qrels|, |difference under
   the panel|). The observed D is the mean over ``ALIGNMENTS`` random orders of the ties.
3. The two grades of each pair are exchanged with probability 1/2, and D is computed again. These
   panels have the same pairs, topics and disagreements, but no side. p is the share of exchanges
   whose D is at least as large. The exchanges stop at the ``ENOUGH_REACHED``-th such one: p is
   then their share, and else the data count as one exchange (Besag and Clifford, Biometrika 78,
   1991). Both are valid p-values.

The test assumes that errors are independent between pairs of topic and document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs, Mask
from venire.errors import BadSetting
from venire.evaluation.paired_tests import holm
from venire.evaluation.ranks import RankTable
from venire.evaluation.score import score
from venire.measures import Measure, parse
from venire.tables.schema import express

LEAST_PAIRS = 50
"""Panels with fewer pairs in common with the qrels are not tested; a choice."""
LEAST_TOPICS = 6
"""Panels with fewer topics in common with the qrels are not tested; a choice."""
EXCHANGES = 1999
ENOUGH_REACHED = 10
"""Exchanges with a D as large as observed after which no more are made."""
LEAST_EXCHANGES = 99
"""Exchanges made in any case, for the mean and the quantile of the swaps by chance."""
ALIGNMENTS = 10
"""Random orders of tied grades that the observed D is averaged over."""
ROUNDING = 1e-12
"""Differences of mean scores up to this size are rounding errors."""


@dataclass(frozen=True)
class Panel:
    """Grades by one assessor or one group of assessors.

    Attributes
    ----------
    name : str
    grades : int64 [P] or [D, P]
        Grade of each pair of the rank table; a negative number where the panel has none. Where
        several assessors judged a pair, D rows that each hold one of their grades, drawn at
        random; a row lacks a grade where all do.
    """

    name: str
    grades: Longs


@dataclass(frozen=True)
class PanelComparison:
    """The order of the systems under a panel beside that under the qrels.

    Attributes
    ----------
    panel : str
    pairs, topics : int
        Judged by both.
    leniency : float or None
        Mean of the panel's grade minus the qrels' grade.
    systems_swapped : float or None
        Pairs of systems in another order under the panel's own grades, mean over its rows.
    told_apart_swapped : int or None
        Pairs among them, in more than half of the rows, that all topics of the qrels tell apart.
    aligned_swapped : float or None
        Swapped pairs of systems after the panel's strictness is taken out.
    chance_swapped, chance_swapped_95 : float or None
        Mean and 95% quantile of the swapped pairs of systems between two equal panels.
    system_pairs : int
        Pairs of systems.
    p : float or None
        Probability that two equal panels differ as much; None where ``reason`` says why.
    p_corrected : float or None
        Corrected for the number of panels tested (Holm).
    exchanges : int
    reason : str or None
        Why the panel was not tested.
    """

    panel: str
    pairs: int
    topics: int
    system_pairs: int
    leniency: float | None = None
    systems_swapped: float | None = None
    told_apart_swapped: int | None = None
    aligned_swapped: float | None = None
    chance_swapped: float | None = None
    chance_swapped_95: float | None = None
    p: float | None = None
    p_corrected: float | None = None
    exchanges: int = 0
    reason: str | None = None

    @property
    def row(self) -> dict[str, Any]:
        """The figures as one row of a table."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def compare_panels(
    table: RankTable,
    grades: Longs,
    panels: Sequence[Panel],
    measure: str | Measure = "AP",
    *,
    systems: Longs | None = None,
    told_apart: Mask | None = None,
    topics: str = "qrels",
    exchanges: int = EXCHANGES,
    seed: int = 0,
) -> list[PanelComparison]:
    """Compare each panel with the qrels, and correct p for the number of panels (Holm).

    Parameters
    ----------
    table : RankTable
    grades : int64 [P]
        Grades of the qrels; a negative number where there is none.
    panels : sequence of Panel
        A panel with fewer than ``LEAST_PAIRS`` pairs or ``LEAST_TOPICS`` topics in common with the
        qrels is not tested.
    measure : str or Measure
    systems : int64 [S], optional
        Places in ``table.runs`` of the systems to compare; all by default.
    told_apart : bool [S (S - 1) / 2], optional
        Whether the topics of the qrels tell each pair of systems apart, in the order of
        ``numpy.triu_indices``.
    topics : "qrels" or "run"
        As for :func:`venire.evaluation.score.score_runs`.
    exchanges : int
        At most, per panel; at least ``40 * len(panels) - 1`` are allowed, so that a corrected p
        can be below .05.
    seed : int
        The result for a panel does not depend on which other panels are compared.

    Raises
    ------
    BadSetting
        Fewer than one exchange.
    """
    if exchanges < 1:
        raise BadSetting(f"must be >= 1 (got {exchanges})", argument="exchanges", value=exchanges)
    parsed = parse(measure) if isinstance(measure, str) else measure
    compared = np.arange(len(table.runs)) if systems is None else systems
    most = max(exchanges, 40 * len(panels) - 1)
    results = []
    for panel in panels:
        rows = np.atleast_2d(panel.grades)
        is_common = (grades >= 0) & (rows >= 0).all(axis=0)
        result = PanelComparison(
            panel=panel.name,
            pairs=int(is_common.sum()),
            topics=int(np.unique(table.topic[is_common]).size),
            system_pairs=len(compared) * (len(compared) - 1) // 2,
        )
        reason = _find_obstacle(result)
        if reason is None:
            scorer = _Scorer(restrict_pairs(table, is_common), parsed, compared, topics)
            rng = np.random.default_rng([seed, *panel.name.encode()])
            result = _test_panel(
                result, scorer, grades[is_common], rows[:, is_common], told_apart, most, rng
            )
        results.append(replace(result, reason=reason))
    return _correct(results)


def _find_obstacle(result: PanelComparison) -> str | None:
    """Return why a panel cannot be tested; None if it can."""
    if result.pairs < LEAST_PAIRS:
        return f"judged {express(result.pairs, 'pair')} of the qrels; {LEAST_PAIRS} are needed"
    if result.topics < LEAST_TOPICS:
        return f"judged {express(result.topics, 'topic')} of the qrels; {LEAST_TOPICS} are needed"
    return None


def _correct(results: list[PanelComparison]) -> list[PanelComparison]:
    """Return the results with p corrected for the number of panels tested."""
    tested = [result.p for result in results if result.p is not None]
    corrected = iter(holm(np.array(tested)).tolist())
    return [
        result if result.p is None else replace(result, p_corrected=next(corrected))
        for result in results
    ]


@dataclass(frozen=True)
class _Scorer:
    """Mean scores of the compared systems under grades of the common pairs."""

    table: RankTable
    measure: Measure
    systems: Longs
    topics: str

    def __call__(self, grades: Longs) -> Floats:
        """Return the mean scores [S]."""
        means: Floats = score(self.table, grades, [self.measure], topics=self.topics).mean[0]
        return means[self.systems]


def _test_panel(
    result: PanelComparison,
    scorer: _Scorer,
    qrels_grades: Longs,
    panel_grades: Longs,
    told_apart: Mask | None,
    exchanges: int,
    rng: np.random.Generator,
) -> PanelComparison:
    """Return the result with the figures of the test; grades are those of the common pairs."""
    under_qrels = scorer(qrels_grades)
    own_swaps = np.stack([find_swaps(under_qrels, scorer(row)) for row in panel_grades])
    rows = [panel_grades[number % len(panel_grades)] for number in range(ALIGNMENTS)]
    alignments = [align_grades(qrels_grades, row, rng) for row in rows]
    amounts, swaps = zip(
        *(measure_discordance(under_qrels, scorer(aligned)) for aligned in alignments),
        strict=True,
    )
    p, chance_swaps = _exchange(
        scorer, qrels_grades, alignments, float(np.mean(amounts)), exchanges, rng
    )
    often = own_swaps.mean(axis=0) > 0.5
    return replace(
        result,
        leniency=float((panel_grades - qrels_grades).mean()),
        systems_swapped=float(own_swaps.sum(axis=1).mean()),
        told_apart_swapped=None if told_apart is None else int((often & told_apart).sum()),
        aligned_swapped=float(np.mean(swaps)),
        chance_swapped=float(np.mean(chance_swaps)),
        chance_swapped_95=float(np.quantile(chance_swaps, 0.95)),
        p=p,
        exchanges=len(chance_swaps),
    )


def _exchange(
    scorer: _Scorer,
    qrels_grades: Longs,
    alignments: Sequence[Longs],
    observed: float,
    exchanges: int,
    rng: np.random.Generator,
) -> tuple[float, list[int]]:
    """Return p of the observed amount of swaps, and the swaps of every exchange."""
    swaps: list[int] = []
    p, reached = None, 0
    while len(swaps) < exchanges and (p is None or len(swaps) < LEAST_EXCHANGES):
        aligned = alignments[len(swaps) % ALIGNMENTS]
        is_exchanged = rng.random(len(aligned)) < 0.5
        amount, swapped = measure_discordance(
            scorer(np.where(is_exchanged, aligned, qrels_grades)),
            scorer(np.where(is_exchanged, qrels_grades, aligned)),
        )
        reached += amount >= observed - ROUNDING
        swaps.append(swapped)
        if p is None and reached == ENOUGH_REACHED:
            p = reached / len(swaps)
    return p or (1 + reached) / (1 + len(swaps)), swaps


def restrict_pairs(table: RankTable, is_included: Mask) -> RankTable:
    """Return the table of some of its pairs.

    Parameters
    ----------
    table : RankTable
    is_included : bool [P]
    """
    place = np.cumsum(is_included) - 1
    is_hit = is_included[table.pair]
    return replace(
        table,
        pairs=table.pairs.filter(pl.Series(is_included)),
        topic=table.topic[is_included],
        segment=table.segment[is_hit],
        rank=table.rank[is_hit],
        pair=place[table.pair[is_hit]],
        stratum=None if table.stratum is None else table.stratum[is_included],
    )


def align_grades(target: Longs, grades: Longs, rng: np.random.Generator) -> Longs:
    """Return grades in the order of ``grades`` with the distribution of ``target``.

    Tied grades come in random order.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> align_grades(np.array([2, 0, 1]), np.array([5, 3, 4]), rng).tolist()
    [2, 0, 1]
    """
    aligned = np.empty(len(grades), np.int64)
    aligned[np.lexsort((rng.random(len(grades)), grades))] = np.sort(target)
    return aligned


def find_swaps(first: Floats, second: Floats) -> Mask:
    """Return which pairs of systems are in opposite order under two scorings [S (S - 1) / 2]."""
    high, low = np.triu_indices(len(first), 1)
    swapped: Mask = _sign(first[high] - first[low]) * _sign(second[high] - second[low]) < 0
    return swapped


def measure_discordance(first: Floats, second: Floats) -> tuple[float, int]:
    """Return what the swaps between two scorings amount to, and their number.

    The amount is the sum over swapped pairs of the smaller of the two absolute differences.

    Examples
    --------
    >>> amount, swaps = measure_discordance(np.array([0.5, 0.25]), np.array([0.25, 0.375]))
    >>> amount, swaps
    (0.125, 1)
    """
    high, low = np.triu_indices(len(first), 1)
    of_first, of_second = first[high] - first[low], second[high] - second[low]
    swapped = _sign(of_first) * _sign(of_second) < 0
    amount = np.minimum(np.abs(of_first), np.abs(of_second))[swapped].sum()
    return float(amount), int(swapped.sum())


def _sign(differences: Floats) -> Floats:
    """Return signs; differences that are rounding errors have none."""
    return np.where(np.abs(differences) > ROUNDING, np.sign(differences), 0.0)
