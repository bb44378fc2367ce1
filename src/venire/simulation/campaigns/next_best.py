"""Which pairs need another judgment, by what it is expected to change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from venire.aggregation.posterior import Posterior
from venire.arrays import Floats, Longs
from venire.errors import BadSetting
from venire.evaluation.ranks import RankTable
from venire.simulation.campaigns.annotators_needed import fit_average_annotator
from venire.tables.judgments import Judgments
from venire.tables.runs import Runs
from venire.tables.schema import express

Row = dict[str, Any]
BY = ("grade", "ranking")
LEAST = 1e-20
"""What is smaller is 0 but for rounding: both parts of a gain are squares of differences of numbers
of about 1, whose rounding errors are of 1e-16."""


@dataclass(frozen=True, eq=False)
class NextBest:
    """Pairs that need another judgment, the one that is worth most first.

    Attributes
    ----------
    frame : polars.DataFrame
        ``query_id, doc_id, judgments`` (so far), ``sd`` of the grade, ``gain``.
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
    """Choose the pairs that another judgment is worth most for, one each, within a budget.

    Pairs that are expected to change nothing are not chosen, however great the budget.

    With grade probabilities p_k and the label's chances c_kl of an average annotator, one more
    judgment takes ``Var_l E[g | l]`` off the variance of the pair's grade (the law of total
    variance). By ``grade`` that is the gain. By ``ranking`` it is multiplied by how much the
    pair tells systems apart: ``sum_s (d_s - mean d)^2``, d_s the derivative of system s's average
    precision by the pair's relevance (:func:`influence`), so that the gain is what the judgment
    takes off the summed variance of the differences between systems. The weights are in the spirit
    of Carterette, Allan and Sitaraman, "Minimal test collections for retrieval evaluation"
    (SIGIR 2006).

    Parameters
    ----------
    judgments : Judgments
        So far.
    budget : int
        Pairs to choose.
    by : "ranking" or "grade"
    runs : Runs, optional
        Needed for ``ranking``.
    posterior : Posterior, optional
        Of those judgments; by default that of one average annotator.
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
        raise BadSetting(f"by is one of {', '.join(BY)}, not {by!r}")
    if budget < 1:
        raise BadSetting(f"a budget is at least one judgment, not {budget}")
    if by == "ranking" and runs is None:
        raise BadSetting("by ranking needs the runs; without them choose by grade")
    average, confusion = fit_average_annotator(judgments)
    chosen = average if posterior is None else posterior
    values = chosen.scale.array()
    gain = grade_gain(chosen.probabilities, confusion, values)
    useful = gain > LEAST * np.ptp(values) ** 2
    items = chosen.items.select("query_id", "doc_id", "judgments", "sd")
    notes: list[str] = []
    if runs is not None and by == "ranking":
        table = RankTable.of(runs, items.select("query_id", "doc_id"), ties=ties)
        relevant = chosen.scale.array() >= (chosen.scale.relevant_from or 0.0)
        order = table.pairs.join(
            items.with_row_index("at"), on=["query_id", "doc_id"], how="left",
            maintain_order="left",
        )["at"].to_numpy()  # fmt: skip
        weight = np.empty(items.height)
        weight[order] = influence(table, (chosen.probabilities @ relevant)[order])
        # What the measure sees is whether the pair is relevant.
        steps = relevant.astype(np.float64)
        gain = grade_gain(chosen.probabilities, confusion, steps)
        useful = (gain > LEAST) & (weight > LEAST / len(table.topics) ** 2)
        gain = gain * weight
    best = np.argsort(-gain, kind="stable")
    useful = useful[best]
    if best.size and int(useful.sum()) < budget:
        notes.append(
            f"only {express(int(useful.sum()), 'pair')} can be expected to change anything by "
            f"another judgment; none is asked for of the other {int((~useful).sum()):,}"
        )
    best = best[useful][:budget]
    frame = items[best].with_columns(pl.Series("gain", gain[best]))
    return NextBest(frame, by, tuple(notes))


def grade_gain(probabilities: Floats, confusion: Floats, values: Floats) -> Floats:
    """Return the variance of the grade that one more judgment is expected to take off [P].

    Parameters
    ----------
    probabilities : float64 [P, K]
    confusion : float64 [K, K]
        P(label | grade).
    values : float64 [K]
        What each grade counts.

    Examples
    --------
    A perfect annotator takes off all of it:

    >>> grade_gain(np.array([[0.5, 0.5], [1.0, 0.0]]), np.eye(2), np.array([0.0, 1.0])).tolist()
    [0.25, 0.0]
    """
    mean = probabilities @ values
    chance = probabilities @ confusion
    sums = (probabilities * values) @ confusion
    after = np.divide(sums, chance, out=np.zeros_like(sums), where=chance > 0)
    gain: Floats = (chance * (after - mean[:, None]) ** 2).sum(axis=1)
    return gain


def influence(table: RankTable, relevant: Floats) -> Floats:
    """Return how far each pair's relevance tells systems apart under average precision [P].

    ``d_s = (P(r) + sum_{j > r} rel_j / j - AP_s) / R`` for a pair at rank r of system s, and
    ``-AP_s / R`` where s has it not, with the expected relevance in the place of what is not
    known; then ``sum_s (d_s - mean d)^2``, over the squared number of topics.

    Parameters
    ----------
    table : RankTable
    relevant : float64 [P]
        Probability that each pair is relevant.
    """
    n_runs, n_topics = len(table.runs), len(table.topics)
    total = np.maximum(np.bincount(table.topic, weights=relevant, minlength=n_topics), 1e-9)
    rel = relevant[table.pair]
    before = _within(rel, table.segment)
    precision = (before + rel) / table.rank
    reciprocal = rel / table.rank
    ends = np.bincount(table.segment, weights=reciprocal, minlength=n_runs * n_topics)
    after = ends[table.segment] - _within(reciprocal, table.segment) - reciprocal
    topic = table.segment % n_topics
    ap = np.bincount(
        table.segment, weights=rel * precision, minlength=n_runs * n_topics
    ).reshape(n_runs, n_topics) / total  # fmt: skip
    slopes = -(ap / total)[:, table.topic]
    slopes[table.run, table.pair] += (precision + after) / total[topic]
    centred = slopes - slopes.mean(axis=0)
    influences: Floats = (centred**2).sum(axis=0) / n_topics**2
    return influences


def _within(values: Floats, segment: Longs) -> Floats:
    """Return the sum of what stands before each value in its segment; segments are sorted."""
    if not values.size:
        return values
    running = np.cumsum(values) - values
    first = np.flatnonzero(np.diff(segment, prepend=segment[0] - 1))
    lengths = np.diff(first, append=values.size)
    return running - np.repeat(running[first], lengths)
