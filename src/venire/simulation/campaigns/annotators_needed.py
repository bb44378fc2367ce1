"""Estimate how many judgments per pair are enough for the order of the systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

from venire.errors import BadSetting, DataError
from venire.evaluation.score import parse_measures
from venire.measures import Measure
from venire.progress import Progress, silent
from venire.settings import Settings, check_seed, setting
from venire.simulation.campaigns.judged_systems import JUDGES, JudgedSystems
from venire.simulation.campaigns.judges_verdict import Verdict, decide
from venire.simulation.campaigns.order_estimates import OrderEstimates
from venire.simulation.campaigns.settled_grades import RULES, compare_by_judges
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import PAIR

Row = dict[str, Any]
MEASURES = ("AP", "nDCG", "P@10")


@dataclass(frozen=True, kw_only=True)
class AnnotatorsNeededSettings(Settings):
    """Settings of :func:`annotators_needed`, described there."""

    most: int = setting(
        10,
        words="Largest number of judgments per pair to show; the verdict does not depend on it.",
        label="Show up to (judgments per pair)",
        least=1,
        most=JUDGES[-1],
    )
    rule: str = setting(
        "mean", words="How labels become a grade.", label="Aggregate by", choices=RULES
    )
    draws: int = setting(
        30,
        words="Number of worlds drawn from the fitted crowd.",
        label="Simulated worlds",
        least=10,
    )
    target_tau: float = setting(
        0.9,
        words="Mean Kendall's tau with the order under another crowd that is enough.",
        label="Target: tau",
        least=-1,
        most=1,
    )
    target_sd: float | None = setting(
        None,
        words="Largest standard deviation of a score that is enough; null: only tau counts.",
        label="Target: standard deviation",
        least=0,
    )
    price: float | None = setting(
        None, words="Price per judgment; null: no cost is computed.", label="Price", least=0
    )


@dataclass(frozen=True, eq=False)
class AnnotatorsNeeded:
    """Scores and order of systems by the number of judgments per pair.

    Attributes
    ----------
    rows : list of dict
        One row per measure and number of judgments per pair (1, 2, 3, 4, 5, 7, 10):
        ``measure, judges``; ``tau_rep``, expected Kendall's tau-b with the order under as many
        judgments by another crowd; ``tau_inf``, with the order under infinitely many judgments;
        ``tau_ap``, as tau_rep with tau_ap,b; ``sd``, standard deviation of a system's score over
        crowds, mean over systems. Each with the ends of its 95% interval, ``_low`` and ``_high``.
        ``judgments``; ``cost``, None without a price; ``enough``, whether this and all larger
        numbers meet the targets with the worse end of their intervals.
    verdicts : dict
        Per measure, ``code, enough, possible, reason`` of
        :class:`venire.simulation.campaigns.judges_verdict.Verdict`.
    compared : dict
        Per measure, the names of the runs whose order is meant.
    truth : list of dict
        One row per number of judgments, where known grades were passed: ``judges, accuracy,
        kappa, error`` (mean squared error of the grade), each with its ``_sd``, and ``pairs``.
    pairs : int
    judgments_per_pair : float
        Median of the data.
    notes : tuple of str
    settings : dict
    seed : int
    version : str
    """

    rows: list[Row]
    verdicts: dict[str, Row]
    compared: dict[str, list[str]]
    truth: list[Row]
    pairs: int
    judgments_per_pair: float
    notes: tuple[str, ...]
    settings: Row
    seed: int
    version: str


def annotators_needed(
    judgments: Judgments,
    runs: Runs | None = None,
    measures: Sequence[str | Measure] = MEASURES,
    *,
    truth: Qrels | None = None,
    ties: str = "trec",
    seed: int = 0,
    progress: Progress = silent,
    **settings: Any,
) -> AnnotatorsNeeded:
    """Estimate how far another crowd would order the systems alike, by judgments per pair.

    Topics, pairs and runs are fixed; people are drawn anew. The verdict rests on tau_rep. Its
    estimate comes from disjoint halves of the judgments, extrapolated
    (:mod:`~venire.simulation.campaigns.disjoint_halves`); worlds drawn from a fitted crowd
    (:mod:`~venire.simulation.campaigns.fitted_crowd`) give its error, which is subtracted, and
    its interval. For fewer judgments than the data have, the same people do less each; for more,
    more people with the same load are assumed. Every number of judgments in :data:`JUDGES` is
    computed, whatever is shown.

    Parameters
    ----------
    judgments : Judgments
    runs : Runs, optional
        Without runs only the grades are compared with ``truth``.
    measures : sequence
    truth : Qrels, optional
        Known grades, with which settled grades are compared.
    ties : str
        Tie rule of the runs.
    seed : int
    progress : Progress
    **settings
        Fields of :class:`AnnotatorsNeededSettings`.

    Raises
    ------
    BadSetting
        A setting outside its range; neither runs nor truth.
    DataError
        No judgments; no pair has a known grade.

    Examples
    --------
    >>> table = Judgments.from_dict({"query_id": ["q"] * 6, "doc_id": list("aaabbb"),
    ...     "annotator_id": list("xyzxyz"), "label": [1, 1, 0, 0, 0, 1]})
    >>> known = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> result = annotators_needed(table, truth=known)
    >>> result.truth[2]["accuracy"], result.truth[2]["accuracy_sd"]
    (1.0, 0.0)
    """
    check_seed(seed)
    chosen = AnnotatorsNeededSettings.of(settings)
    if runs is None and truth is None:
        raise BadSetting(
            "Neither runs nor known grades are set",
            hint="Pass `runs`, `truth` or both.",
            code="no-runs-or-truth",
        )
    if not len(judgments):
        raise DataError("The file has no judgments", hint="Pass a file with judgments.")
    parsed = parse_measures(measures)
    notes: list[str] = []
    rows: list[Row] = []
    verdicts: dict[str, Row] = {}
    compared: dict[str, list[str]] = {}
    if runs is not None:
        study = JudgedSystems(judgments, runs, chosen.rule, ties)
        for measure, names, outcome in study.estimate(parsed, chosen.draws, seed, progress):
            compared[str(measure)] = names
            if isinstance(outcome, str):
                verdict = Verdict(code="not-checked", reason=outcome)
            else:
                verdict, measure_rows = _judge_measure(
                    str(measure), outcome, chosen, judgments.codes.n_items
                )
                rows += measure_rows
            verdicts[str(measure)] = asdict(verdict)
        notes += study.notes
    known = []
    if truth is not None:
        known = _compare_with_truth(judgments, truth, chosen.rule, seed, notes)
    median = float(np.median(judgments.codes.per_item))
    return AnnotatorsNeeded(
        rows=rows,
        verdicts=verdicts,
        compared=compared,
        truth=known,
        pairs=judgments.codes.n_items,
        judgments_per_pair=median,
        notes=(*judgments.notes, *notes),
        settings={"measures": [str(measure) for measure in parsed], **asdict(chosen), "ties": ties},
        seed=seed,
        version=version("venire"),
    )


def _judge_measure(
    measure: str, estimates: OrderEstimates, settings: AnnotatorsNeededSettings, pairs: int
) -> tuple[Verdict, list[Row]]:
    """Return the verdict on a measure and its rows, up to the number that is to be shown."""
    tau, sd = estimates.values["tau_rep"], estimates.values["sd"]
    surely, perhaps = tau[:, 1] >= settings.target_tau, tau[:, 2] >= settings.target_tau
    if settings.target_sd is not None:
        surely &= sd[:, 2] <= settings.target_sd
        perhaps &= sd[:, 1] <= settings.target_sd
    verdict = decide(surely, perhaps, JUDGES)
    rows = []
    for g, judges in enumerate(JUDGES):
        row: Row = {"measure": measure, "judges": judges}
        for name in ("tau_rep", "tau_inf", "tau_ap", "sd"):
            estimate, low, high = estimates.values[name][g].tolist()
            row |= {name: estimate, f"{name}_low": low, f"{name}_high": high}
        row["judgments"] = judges * pairs
        row["cost"] = None if settings.price is None else settings.price * row["judgments"]
        row["enough"] = verdict.enough is not None and judges >= verdict.enough
        rows.append(row)
    return verdict, [row for row in rows if row["judges"] <= settings.most]


def _compare_with_truth(
    judgments: Judgments, truth: Qrels, rule: str, seed: int, notes: list[str]
) -> list[Row]:
    """Compare settled grades with known ones by number of judgments per pair."""
    codes = judgments.codes
    items = codes.items.select(PAIR)
    joined = items.join(truth.frame, on=PAIR, how="left", maintain_order="left")["relevance"]
    known = joined.cast(pl.Float64).fill_null(-1.0).to_numpy()
    is_known = known >= 0
    if not is_known.any():
        raise DataError("none of the pairs used has a known grade")
    missing = int((~is_known).sum())
    if missing:
        notes.append(f"{missing:,} of {items.height:,} pairs have no known grade")
    rows = compare_by_judges(
        codes.indptr,
        codes.label,
        known,
        is_known,
        judgments.scale.array(),
        rule,
        np.random.default_rng(seed),
    )
    left_out = items.height - missing - rows[0]["pairs"]
    if left_out:
        notes.append(
            f"{left_out:,} pairs with fewer than {len(rows)} judgments are not compared with "
            "known grades"
        )
    return rows
