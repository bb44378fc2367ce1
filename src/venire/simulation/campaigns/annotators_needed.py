"""How many annotators a pair needs: what j of J judgments do to scores and order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

from venire.aggregation.dawid_skene import DawidSkene
from venire.aggregation.posterior import Posterior
from venire.arrays import Floats, Longs, Shorts
from venire.errors import BadSetting, DataError
from venire.evaluation.ranks import ABSENT
from venire.evaluation.score import rank
from venire.measures import Measure, parse
from venire.simulation.campaigns.label_samples import Drawn
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs

Row = dict[str, Any]
SOURCES = ("judgments", "posterior")
RULES = ("mean", "majority")
MEASURES = ("AP", "nDCG", "P@10")


@dataclass(frozen=True, eq=False)
class AnnotatorsNeeded:
    """Scores and order of systems by the number of judgments a pair.

    Attributes
    ----------
    rows : list of dict
        For each measure and j: ``measure, judges, sd`` (of a system's score over the draws, mean
        over systems), ``relative_sd`` (over the mean score), ``tau, tau_low, tau_high`` (with the
        reference order), ``judgments``, ``cost`` (None without a price), ``enough``.
    truth : list of dict
        For each j, where known grades were given: ``judges, accuracy, kappa, error`` (mean squared
        error of the grade), each with its ``_sd`` over the draws.
    recommended : dict
        Measure to the least j that meets the targets; None where none does.
    pairs : int
    notes : tuple of str
    settings : dict
    seed : int
    version : str
    """

    rows: list[Row]
    truth: list[Row]
    recommended: dict[str, int | None]
    pairs: int
    notes: tuple[str, ...]
    settings: Row
    seed: int
    version: str


def annotators_needed(
    judgments: Judgments,
    runs: Runs | None = None,
    measures: Sequence[str | Measure] = MEASURES,
    *,
    most: int = 5,
    source: str = "judgments",
    rule: str = "mean",
    draws: int = 100,
    target_tau: float = 0.9,
    target_sd: float | None = None,
    price: float | None = None,
    truth: Qrels | None = None,
    topics: str = "qrels",
    ties: str = "trec",
    seed: int = 0,
) -> AnnotatorsNeeded:
    """Draw j of J judgments of every pair, settle them, score systems, for j = 1 .. ``most``.

    From ``judgments``: pairs with at least ``most`` judgments are used, j of them drawn without
    replacement; the reference order is that under all J. At j = J every draw is the same, so there
    the sd is 0 by construction; it falls as ``sqrt((1/j)(1 - j/J))`` where labels are averaged.
    From the ``posterior`` of a Dawid-Skene fit with one confusion matrix for all, where there are
    too few: true grades are drawn (10 times), then labels of new annotators from that matrix;
    the sd is that within a draw of true grades, and the reference order is that under these.

    Parameters
    ----------
    judgments : Judgments
    runs : Runs, optional
        Without them only the grades are compared with ``truth``.
    measures : sequence
    most : int
        J.
    source : "judgments" or "posterior"
    rule : "mean" or "majority"
        The grade nearest to the mean label, or the label most gave; a tie goes to the lower.
    draws : int
    target_tau : float
        The mean tau that is enough.
    target_sd : float, optional
        And the greatest sd of a score.
    price : float, optional
        Of one judgment.
    truth : Qrels, optional
        Known grades; with runs they also give the reference order.
    topics, ties : str
        As for :func:`venire.evaluation.score.score_runs`.
    seed : int

    Raises
    ------
    DataError
        No pair has ``most`` judgments; no pair has a known grade.

    Examples
    --------
    >>> table = Judgments.from_dict({"query_id": ["q"] * 6, "doc_id": list("aaabbb"),
    ...     "annotator_id": list("xyzxyz"), "label": [1, 1, 0, 0, 0, 1]})
    >>> known = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> found = annotators_needed(table, most=3, truth=known, draws=20)
    >>> found.truth[2]["accuracy"], found.truth[2]["accuracy_sd"]
    (1.0, 0.0)
    """
    _check(source, rule, most, draws, target_tau, runs, truth)
    parsed = [parse(one) if isinstance(one, str) else one for one in measures]
    rng = np.random.default_rng(seed)
    notes: list[str] = []
    if source == "judgments":
        items, worlds = _own(judgments, most, draws, rng, notes)
    else:
        items, worlds = _posterior(judgments, most, draws, rng, notes)
    grades = judgments.scale.array()
    known = _known(items, truth, notes)
    if truth is not None and runs is None and not (known != ABSENT).any():
        raise DataError("none of the pairs used has a known grade")
    table = None
    if runs is not None:
        if not np.array_equal(grades, np.round(grades)):
            raise BadSetting("measures need whole grades; give the scale in whole numbers")
        base = Qrels(items.with_columns(pl.lit(0).alias("relevance")))
        table = rank(base, runs, ties=ties)
        if len(table.runs) < 2:
            raise BadSetting("the order of systems needs at least two runs")
    lab = Drawn(table, items, parsed, topics, grades, known if truth is not None else None)
    for true, labels in worlds:
        lab.world(true)
        for one in labels:
            lab.draw(one, rule)
    rows = lab.rows(most, price)
    for row in rows:
        row["enough"] = (
            row["tau"] is not None
            and row["tau"] >= target_tau
            and (target_sd is None or row["sd"] <= target_sd)
        )
    return AnnotatorsNeeded(
        rows=rows,
        truth=lab.truth_rows(most),
        recommended={
            str(one): next(
                (row["judges"] for row in rows if row["measure"] == str(one) and row["enough"]),
                None,
            )
            for one in (parsed if table is not None else [])
        },
        pairs=items.height,
        notes=(*judgments.notes, *notes, *((table.notes) if table is not None else ())),
        settings={
            "measures": [str(one) for one in parsed],
            "most": most,
            "source": source,
            "rule": rule,
            "draws": draws,
            "target_tau": target_tau,
            "target_sd": target_sd,
            "price": price,
            "topics": topics,
            "ties": ties,
        },
        seed=seed,
        version=version("venire"),
    )


def _check(
    source: str, rule: str, most: int, draws: int, tau: float, runs: Any, truth: Any
) -> None:
    if source not in SOURCES:
        raise BadSetting(f"source is one of {', '.join(SOURCES)}, not {source!r}")
    if rule not in RULES:
        raise BadSetting(f"rule is one of {', '.join(RULES)}, not {rule!r}")
    if most < 2 or draws < 2:
        raise BadSetting("the number of judges, and of draws, is at least 2")
    if not -1 <= tau <= 1:
        raise BadSetting(f"the target of tau is between -1 and 1, not {tau}")
    if runs is None and truth is None:
        raise BadSetting("give runs to score, or known grades to compare with")


Worlds = list[tuple[Longs | None, list[Shorts]]]


def _own(
    judgments: Judgments, most: int, draws: int, rng: np.random.Generator, notes: list[str]
) -> tuple[pl.DataFrame, Worlds]:
    """Return the pairs with enough judgments, and for each draw J of their labels in an order."""
    codes = judgments.codes
    enough = np.flatnonzero(codes.per_item >= most)
    if not enough.size:
        raise DataError(
            f"no pair has {most} judgments (the most is {int(codes.per_item.max(initial=0))}); "
            "ask for fewer, or draw from the posterior"
        )
    left = codes.n_items - enough.size
    if left:
        notes.append(f"{left:,} pairs with fewer than {most} judgments are left out")
    notes.append(f"at {most} judges every draw is the same where a pair has just {most} judgments")
    width = int(codes.per_item[enough].max())
    column = np.arange(width)
    there = column[None, :] < codes.per_item[enough][:, None]
    at = np.minimum(codes.indptr[enough][:, None] + column, codes.n_judgments - 1)
    labels = codes.label[at]
    out = []
    for _ in range(draws):
        key = np.where(there, rng.random(there.shape), 2.0)
        order = np.argsort(key, axis=1)[:, :most]
        out.append(np.take_along_axis(labels, order, axis=1))
    return codes.items.select("query_id", "doc_id")[enough], [(None, out)]


def _posterior(
    judgments: Judgments, most: int, draws: int, rng: np.random.Generator, notes: list[str]
) -> tuple[pl.DataFrame, Worlds]:
    """Return the pairs, and labels drawn from a fitted posterior: ten worlds of true grades."""
    posterior, average = average_annotator(judgments)
    below = np.cumsum(average, axis=1)[:, :-1]
    chance = np.cumsum(posterior.probabilities, axis=1)[:, :-1]
    number = min(10, draws // 2)
    notes.append(f"labels drawn from a Dawid-Skene fit, under {number} draws of the true grades")
    if not posterior.converged:
        notes.append("the fit did not converge")
    worlds: Worlds = []
    size = len(posterior.items)
    for _ in range(number):
        true = (rng.random((size, 1)) > chance).sum(axis=1)
        labels = [
            (rng.random((size, most, 1)) > below[true][:, None, :]).sum(axis=2).astype(np.int16)
            for _ in range(draws // number)
        ]
        worlds.append((true, labels))
    return posterior.items.select("query_id", "doc_id"), worlds


def average_annotator(judgments: Judgments) -> tuple[Posterior, Floats]:
    """Return grades and P(label | grade) [K, K] as if one average annotator had given every label.

    A Dawid-Skene fit with one confusion matrix for all: a few labels a person are too few to learn
    each person's, and their mean would be drawn towards chance.
    """
    one = judgments.frame.with_columns(pl.lit("all").alias("annotator_id"))
    posterior = DawidSkene().fit(Judgments(one, judgments.scale))
    if posterior.confusion is None:
        raise DataError("the model learns no confusion of annotators")
    return posterior, posterior.confusion[0]


def _known(items: pl.DataFrame, truth: Qrels | None, notes: list[str]) -> Longs:
    """Return the known grade of each pair, ABSENT where there is none."""
    if truth is None:
        return np.full(items.height, ABSENT, np.int64)
    joined = items.join(truth.frame, on=["query_id", "doc_id"], how="left", maintain_order="left")[
        "relevance"
    ]
    missing = int(joined.is_null().sum())
    if missing:
        notes.append(f"{missing:,} of {items.height:,} pairs have no known grade")
    known = joined.cast(pl.Int64).fill_null(ABSENT).to_numpy()
    return np.where(known < 0, ABSENT, known)
