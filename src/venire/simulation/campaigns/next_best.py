"""Choose the pairs to judge again: those where another judgment has the largest expected gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from venire.aggregation.posterior import Posterior
from venire.arrays import Floats, Longs
from venire.errors import BadSetting, UnknownName
from venire.evaluation.ranks import RankTable
from venire.simulation.campaigns.average_annotator import fit_average_annotator
from venire.tables.judgments import Judgments
from venire.tables.runs import Runs
from venire.tables.schema import express

Row = dict[str, Any]
BY = ("grade", "ranking")
ROUNDING = 1e-20
"""Gains up to this size are rounding errors: a gain is made of squared differences of numbers of
about 1, whose rounding errors are about 1e-16."""


@dataclass(frozen=True, eq=False)
class NextBest:
    """Pairs to judge again, sorted by descending gain.

    Attributes
    ----------
    frame : polars.DataFrame
        ``query_id, doc_id, judgments`` (number so far), ``sd`` of the grade, ``gain``.
    by : str
    notes : tuple of str
    """

    frame: pl.DataFrame
    by: str
    notes: tuple[str, ...]


def next_best(
    judgments: Judgments,
    budget: int,
    *,
    by: str = "ranking",
    runs: Runs | None = None,
    posterior: Posterior | None = None,
    ties: str = "trec",
) -> NextBest:
    """Choose the pairs where one more judgment has the largest expected gain, within a budget.

    Pairs with an expected gain of 0 are never chosen.

    With grade probabilities p_k and the confusion matrix c_kl of an average annotator, one more
    judgment reduces the variance of the pair's grade by ``Var_l E[g | l]`` (law of total
    variance). This is the gain for ``by="grade"``. For ``by="ranking"`` it is multiplied by the
    pair's influence on the differences between systems: ``sum_s (d_s - mean d)^2``, where d_s is
    the derivative of the average precision of system s by the pair's relevance
    (:func:`influence`). The gain is then the reduction of the summed variance of the differences
    between systems. The weights follow the idea of Carterette, Allan and Sitaraman, "Minimal test
    collections for retrieval evaluation" (SIGIR 2006).

    Parameters
    ----------
    judgments : Judgments
        The judgments so far.
    budget : int
        Number of pairs to choose.
    by : "ranking" or "grade"
    runs : Runs, optional
        Required for ``ranking``.
    posterior : Posterior, optional
        Posterior of these judgments; by default that of a model with one average annotator.
    ties : str
        Tie rule, see :meth:`venire.Runs.ranks`.

    Examples
    --------
    >>> table = Judgments.from_dict({"query_id": ["q"] * 6, "doc_id": list("aabbcc"),
    ...     "annotator_id": list("xyxyxy"), "label": [1, 1, 0, 1, 0, 0]})
    >>> next_best(table, 1, by="grade").frame["doc_id"].to_list()
    ['b']
    """
    if by not in BY:
        raise UnknownName("by", by, BY)
    if budget < 1:
        raise BadSetting(f"must be >= 1 (got {budget})", argument="budget", value=budget)
    if by == "ranking" and runs is None:
        raise BadSetting(
            "must be given to choose by ranking",
            argument="runs",
            hint="Pass the runs, or choose by grade.",
        )
    average, confusion = fit_average_annotator(judgments)
    posterior = average if posterior is None else posterior
    values = posterior.scale.array()
    gain = grade_gain(posterior.probabilities, confusion, values)
    useful = gain > ROUNDING * np.ptp(values) ** 2
    items = posterior.items.select("query_id", "doc_id", "judgments", "sd")
    notes: list[str] = []
    if runs is not None and by == "ranking":
        table = RankTable.of(runs, items.select("query_id", "doc_id"), ties=ties)
        is_relevant = posterior.scale.array() >= (posterior.scale.relevant_from or 0.0)
        order = table.pairs.join(
            items.with_row_index("row"), on=["query_id", "doc_id"], how="left",
            maintain_order="left",
        )["row"].to_numpy()  # fmt: skip
        weight = np.empty(items.height)
        weight[order] = influence(table, (posterior.probabilities @ is_relevant)[order])
        # The measure depends on the binary relevance of the pair, not on its grade.
        gain = grade_gain(posterior.probabilities, confusion, is_relevant.astype(np.float64))
        useful = (gain > ROUNDING) & (weight > ROUNDING / len(table.topics) ** 2)
        gain = gain * weight
    best = np.argsort(-gain, kind="stable")
    useful = useful[best]
    if best.size and int(useful.sum()) < budget:
        notes.append(
            f"another judgment has an expected gain for {express(int(useful.sum()), 'pair')} only; "
            f"the other {int((~useful).sum()):,} are left out"
        )
    best = best[useful][:budget]
    frame = items[best].with_columns(pl.Series("gain", gain[best]))
    return NextBest(frame, by, tuple(notes))


def grade_gain(probabilities: Floats, confusion: Floats, values: Floats) -> Floats:
    """Return the expected reduction of the grade's variance by one more judgment [P].

    Parameters
    ----------
    probabilities : float64 [P, K]
    confusion : float64 [K, K]
        P(label | grade).
    values : float64 [K]
        Numeric value of each grade.

    Examples
    --------
    A perfect annotator removes the whole variance:

    >>> grade_gain(np.array([[0.5, 0.5], [1.0, 0.0]]), np.eye(2), np.array([0.0, 1.0])).tolist()
    [0.25, 0.0]
    """
    mean = probabilities @ values
    chance = probabilities @ confusion
    sums = (probabilities * values) @ confusion
    mean_given_label = np.divide(sums, chance, out=np.zeros_like(sums), where=chance > 0)
    gain: Floats = (chance * (mean_given_label - mean[:, None]) ** 2).sum(axis=1)
    return gain


def influence(table: RankTable, relevant: Floats) -> Floats:
    """Return the influence of each pair's relevance on differences in average precision [P].

    ``sum_s (d_s - mean d)^2``, divided by the squared number of topics, where
    ``d_s = (P(r) + sum_{j > r} rel_j / j - AP_s) / R`` for a pair at rank r of system s, and
    ``d_s = -AP_s / R`` if s did not retrieve it. The expected relevance replaces the unknown
    relevance.

    Parameters
    ----------
    table : RankTable
    relevant : float64 [P]
        Probability that each pair is relevant.
    """
    n_runs, n_topics = len(table.runs), len(table.topics)
    total = np.maximum(np.bincount(table.topic, weights=relevant, minlength=n_topics), 1e-9)
    rel = relevant[table.pair]
    before = _sum_before(rel, table.segment)
    precision = (before + rel) / table.rank
    reciprocal = rel / table.rank
    segment_sums = np.bincount(table.segment, weights=reciprocal, minlength=n_runs * n_topics)
    after = segment_sums[table.segment] - _sum_before(reciprocal, table.segment) - reciprocal
    topic = table.segment % n_topics
    ap = np.bincount(
        table.segment, weights=rel * precision, minlength=n_runs * n_topics
    ).reshape(n_runs, n_topics) / total  # fmt: skip
    slopes = -(ap / total)[:, table.topic]
    slopes[table.run, table.pair] += (precision + after) / total[topic]
    centred = slopes - slopes.mean(axis=0)
    influences: Floats = (centred**2).sum(axis=0) / n_topics**2
    return influences


def _sum_before(values: Floats, segment: Longs) -> Floats:
    """Return the sum of the earlier values of the same segment; ``segment`` is sorted."""
    if not values.size:
        return values
    running = np.cumsum(values) - values
    first = np.flatnonzero(np.diff(segment, prepend=segment[0] - 1))
    lengths = np.diff(first, append=values.size)
    return running - np.repeat(running[first], lengths)
