"""Estimate how many judgments a pair needs: scores and order under j of J judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

from venire.aggregation.dawid_skene import DawidSkene
from venire.aggregation.posterior import Posterior
from venire.arrays import Floats, Longs, Shorts
from venire.errors import BadSetting, DataError
from venire.evaluation.ranks import ABSENT, RankTable
from venire.evaluation.score import parse_measures, rank
from venire.measures import Measure
from venire.simulation.campaigns.label_samples import SampleScores
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import PAIR

Row = dict[str, Any]
SOURCES = ("judgments", "posterior")
RULES = ("mean", "majority")
MEASURES = ("AP", "nDCG", "P@10")


Worlds = list[tuple[Longs | None, list[Shorts]]]
"""True grades of the pairs [P] or None, and draws of labels [P, J] under them."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings that :func:`annotators_needed` describes."""

    most: int
    source: str
    rule: str
    draws: int
    target_tau: float
    target_sd: float | None
    price: float | None
    topics: str
    ties: str


@dataclass(frozen=True, eq=False)
class AnnotatorsNeeded:
    """Scores and order of systems by the number of judgments per pair.

    Attributes
    ----------
    rows : list of dict
        One row per measure and j: ``measure, judges``; ``sd``, the standard deviation of a
        system's score over the draws (mean over systems); ``relative_sd``, the sd divided by the
        mean score; ``tau, tau_low, tau_high`` with the reference order; ``judgments``; ``cost``,
        None without a price; ``enough``.
    truth : list of dict
        One row per j, where known grades were given: ``judges, accuracy, kappa, error`` (mean
        squared error of the grade), each with its ``_sd`` over the draws.
    recommended : dict
        Per measure, the smallest j that meets the targets; None where none does.
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
    """Draw j of J judgments of every pair, settle them and score systems, for j = 1 .. ``most``.

    With the source ``judgments``, j judgments are drawn without replacement from each pair that has
    at least ``most``. The reference order is that under all J. At j = J every draw is the same, so
    the sd is 0 by construction; it falls as ``sqrt((1/j)(1 - j/J))`` where labels are averaged.

    With the source ``posterior``, for pairs with too few judgments, Dawid-Skene is fitted with one
    confusion matrix for all. True grades are drawn (10 times), then labels of new annotators from
    that matrix. The sd is that within a draw of true grades; the reference order is that under
    these grades.

    Parameters
    ----------
    judgments : Judgments
    runs : Runs, optional
        Without runs only the grades are compared with ``truth``.
    measures : sequence
    most : int
        Greatest number J of judgments per pair.
    source : "judgments" or "posterior"
    rule : "mean" or "majority"
        The grade nearest to the mean label, or the most frequent label; the lower one of ties.
    draws : int
        Number of draws.
    target_tau : float
        Mean tau that is enough.
    target_sd : float, optional
        Greatest standard deviation of a score that is enough.
    price : float, optional
        Price of one judgment.
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
    >>> result = annotators_needed(table, most=3, truth=known, draws=20)
    >>> result.truth[2]["accuracy"], result.truth[2]["accuracy_sd"]
    (1.0, 0.0)
    """
    settings = Settings(
        most=most,
        source=source,
        rule=rule,
        draws=draws,
        target_tau=target_tau,
        target_sd=target_sd,
        price=price,
        topics=topics,
        ties=ties,
    )
    _check(settings)
    if runs is None and truth is None:
        raise BadSetting(
            "Neither runs nor known grades are set",
            hint="Pass `runs`, `truth` or both.",
            code="no-runs-or-truth",
        )
    parsed = parse_measures(measures)
    rng = np.random.default_rng(seed)
    notes: list[str] = []
    draw_labels = _draw_judgments if source == "judgments" else _draw_posterior
    items, worlds = draw_labels(judgments, most, draws, rng, notes)
    known = _join_known_grades(items, truth, notes)
    if truth is not None and runs is None and not (known != ABSENT).any():
        raise DataError("none of the pairs used has a known grade")
    table = None if runs is None else _rank_items(items, runs, judgments.scale.array(), ties)
    samples = SampleScores(
        table,
        items,
        parsed,
        topics,
        judgments.scale.array(),
        known if truth is not None else None,
    )
    for true_grades, draws_of_world in worlds:
        samples.begin_world(true_grades)
        for labels in draws_of_world:
            samples.add_draw(labels, rule)
    rows = _mark_enough(samples.to_rows(most, price), settings)
    scored = [] if table is None else parsed
    return AnnotatorsNeeded(
        rows=rows,
        truth=samples.to_truth_rows(most),
        recommended={str(measure): _recommend(rows, str(measure)) for measure in scored},
        pairs=items.height,
        notes=(*judgments.notes, *notes, *(table.notes if table is not None else ())),
        settings={"measures": [str(measure) for measure in parsed], **asdict(settings)},
        seed=seed,
        version=version("venire"),
    )


def _check(settings: Settings) -> None:
    """Refuse settings outside their range."""
    for name, choices in (("source", SOURCES), ("rule", RULES)):
        value = getattr(settings, name)
        if value not in choices:
            raise BadSetting(
                f"must be {' or '.join(choices)} (got {value!r})", argument=name, value=value
            )
    for name in ("most", "draws"):
        value = getattr(settings, name)
        if value < 2:
            raise BadSetting(f"must be >= 2 (got {value})", argument=name, value=value)
    tau = settings.target_tau
    if not -1 <= tau <= 1:
        raise BadSetting(f"must be between -1 and 1 (got {tau})", argument="target_tau", value=tau)


def _rank_items(items: pl.DataFrame, runs: Runs, grades: Floats, ties: str) -> RankTable:
    """Return where the runs rank the pairs."""
    if not np.array_equal(grades, np.round(grades)):
        raise BadSetting("measures need whole grades; give the scale in whole numbers")
    table = rank(Qrels(items.with_columns(pl.lit(0).alias("relevance"))), runs, ties=ties)
    if len(table.runs) < 2:
        raise BadSetting("the order of systems needs at least two runs")
    return table


def _mark_enough(rows: list[Row], settings: Settings) -> list[Row]:
    """Add ``enough`` to each row: whether it meets the targets."""
    for row in rows:
        row["enough"] = (
            row["tau"] is not None
            and row["tau"] >= settings.target_tau
            and (settings.target_sd is None or row["sd"] <= settings.target_sd)
        )
    return rows


def _recommend(rows: list[Row], measure: str) -> int | None:
    """Return the smallest number of judgments per pair that is enough; None where none is."""
    return next(
        (row["judges"] for row in rows if row["measure"] == measure and row["enough"]), None
    )


def _draw_judgments(
    judgments: Judgments, most: int, draws: int, rng: np.random.Generator, notes: list[str]
) -> tuple[pl.DataFrame, Worlds]:
    """Return the pairs with enough judgments, and per draw J of their labels in random order."""
    codes = judgments.codes
    enough = np.flatnonzero(codes.per_item >= most)
    if not enough.size:
        raise DataError(
            f"no pair has {most} judgments (the most is {int(codes.per_item.max(initial=0))}); "
            "ask for fewer, or draw from the posterior"
        )
    left_out = codes.n_items - enough.size
    if left_out:
        notes.append(f"{left_out:,} pairs with fewer than {most} judgments are left out")
    notes.append(f"at {most} judges every draw is the same where a pair has just {most} judgments")
    column = np.arange(int(codes.per_item[enough].max()))
    is_filled = column[None, :] < codes.per_item[enough][:, None]
    rows = np.minimum(codes.indptr[enough][:, None] + column, codes.n_judgments - 1)
    labels = codes.label[rows]
    drawn = []
    for _ in range(draws):
        key = np.where(is_filled, rng.random(is_filled.shape), 2.0)
        order = np.argsort(key, axis=1)[:, :most]
        drawn.append(np.take_along_axis(labels, order, axis=1))
    return codes.items.select(PAIR)[enough], [(None, drawn)]


def _draw_posterior(
    judgments: Judgments, most: int, draws: int, rng: np.random.Generator, notes: list[str]
) -> tuple[pl.DataFrame, Worlds]:
    """Return the pairs, and labels drawn from a fitted posterior: ten worlds of true grades."""
    posterior, average = fit_average_annotator(judgments)
    below = np.cumsum(average, axis=1)[:, :-1]
    chance = np.cumsum(posterior.probabilities, axis=1)[:, :-1]
    number = min(10, draws // 2)
    notes.append(f"labels drawn from a Dawid-Skene fit, under {number} draws of the true grades")
    if not posterior.converged:
        notes.append("the fit did not converge")
    worlds: Worlds = []
    size = len(posterior.items)
    for _ in range(number):
        true_grades = (rng.random((size, 1)) > chance).sum(axis=1)
        limits = below[true_grades][:, None, :]
        labels = [
            (rng.random((size, most, 1)) > limits).sum(axis=2).astype(np.int16)
            for _ in range(draws // number)
        ]
        worlds.append((true_grades, labels))
    return posterior.items.select(PAIR), worlds


def fit_average_annotator(judgments: Judgments) -> tuple[Posterior, Floats]:
    """Return grades and P(label | grade) [K, K] as if an average annotator had given every label.

    Fits Dawid-Skene with one confusion matrix for all. A few labels per person are too few to learn
    a matrix per person, and the mean of such matrices would be drawn towards chance.
    """
    pooled = judgments.frame.with_columns(pl.lit("all").alias("annotator_id"))
    posterior = DawidSkene().fit(Judgments(pooled, judgments.scale))
    if posterior.confusion is None:
        raise DataError("the model learns no confusion of annotators")
    return posterior, posterior.confusion[0]


def _join_known_grades(items: pl.DataFrame, truth: Qrels | None, notes: list[str]) -> Longs:
    """Return the known grade of each pair, ABSENT where there is none."""
    if truth is None:
        return np.full(items.height, ABSENT, np.int64)
    joined = items.join(truth.frame, on=PAIR, how="left", maintain_order="left")["relevance"]
    missing = int(joined.is_null().sum())
    if missing:
        notes.append(f"{missing:,} of {items.height:,} pairs have no known grade")
    known = joined.cast(pl.Int64).fill_null(ABSENT).to_numpy()
    return np.where(known < 0, ABSENT, known)
