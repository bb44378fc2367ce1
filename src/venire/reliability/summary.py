"""Assess how far a ranking of runs can be trusted, in one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import Any

import polars as pl

from venire.arrays import Longs
from venire.errors import BadSetting, DataError
from venire.evaluation.clear_groups import COPY_DISTANCE
from venire.evaluation.ranks import ABSENT, RankTable
from venire.evaluation.score import Scores, rank, score, smallest_relevant
from venire.evaluation.told_apart import ToldApart, tell_apart
from venire.evaluation.uncertain import GradeProbabilities
from venire.measures import Measure
from venire.pooling.base import Lists
from venire.pooling.depth import DepthK
from venire.progress import Progress, silent
from venire.reliability.assessor_panels import compare_orders_of_panels, make_panels
from venire.reliability.decision import Decision, decide
from venire.reliability.depth_curve import compare_half_depth, compute_depth_curve
from venire.reliability.favour_verdict import assess_favour
from venire.reliability.generalizability import Generalizability, generalizability
from venire.reliability.judge_audit import Audit, audit_judges
from venire.reliability.leave_one_out import LeaveOneOut, leave_one_out
from venire.reliability.pairs_to_judge import list_pairs
from venire.reliability.panels import Panel, PanelComparison
from venire.reliability.substitution import Substitution, substitute
from venire.reliability.top_order import TopOrder, estimate_top_order
from venire.reliability.uncertain_grades import UncertainGrades, rank_drawn_grades
from venire.reliability.unjudged import DEPTH, Unjudged, measure_unjudged
from venire.reliability.verdict import (
    AMBER,
    NO_RELEVANT,
    NOT_CHECKED,
    RED,
    Risk,
    assess_assessors,
    assess_grades,
    assess_pool,
    assess_topics,
    assess_unjudged,
)
from venire.short_repr import list_names, write_repr
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import PAIR, express

LEAST_PAIRS = 20
"""Annotators with fewer pairs in common with the qrels are not checked."""
MOST_JUDGES = 50
"""Only the annotators with most pairs are checked: a crowd may have thousands."""


@dataclass(frozen=True)
class Trust:
    """How far the ranking of the runs can be trusted.

    Attributes
    ----------
    risks : tuple of Risk
        The verdict: always the same five risks in the same order, and with a posterior a sixth,
        "grades are uncertain".
    decision : Decision
        Whether the order can be trusted, which differences hold, and what to do next.
    to_judge : polars.DataFrame
        Pairs to judge next, because of a red or amber risk, the most useful first: ``query_id,
        doc_id, reason``; ``runs``, the number of compared runs that rank it among their first
        documents; ``difference``, see :func:`venire.reliability.pairs_to_judge.list_disputed`.
    scores : Scores
        Under the qrels.
    unjudged : Unjudged
    leave_one_out : LeaveOneOut
    depths : polars.DataFrame
        See :func:`venire.reliability.depth_curve.compute_depth_curve`.
    substitutions : tuple of Substitution
        One per panel with one grade per pair; empty without judgments.
    panels : tuple of PanelComparison
        All annotators together, then each one who judged whole topics.
    audits : tuple of Audit
        One per annotator: whether the annotator favours a system.
    generalizability : Generalizability
    top_order : TopOrder
    told_apart : ToldApart
    uncertain : UncertainGrades or None
        The ranking under qrels drawn from a posterior; None without one.
    notes : tuple of str
    seed : int
    version : str
    """

    risks: tuple[Risk, ...]
    decision: Decision
    to_judge: pl.DataFrame
    scores: Scores
    unjudged: Unjudged
    leave_one_out: LeaveOneOut
    depths: pl.DataFrame
    substitutions: tuple[Substitution, ...]
    panels: tuple[PanelComparison, ...]
    audits: tuple[Audit, ...]
    generalizability: Generalizability
    top_order: TopOrder
    told_apart: ToldApart
    uncertain: UncertainGrades | None
    notes: tuple[str, ...]
    seed: int
    version: str

    def __repr__(self) -> str:
        return write_repr(self, list_names([f"{risk.name} {risk.light}" for risk in self.risks]))

    def __getitem__(self, name: str) -> Risk:
        """Return a risk by its name."""
        for risk in self.risks:
            if risk.name == name:
                return risk
        raise KeyError(name)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The verdict as rows: ``risk, verdict, number, what, reason, next_step``."""
        rows = [asdict(risk) for risk in self.risks]
        return [{"risk": row.pop("name"), "verdict": row.pop("light"), **row} for row in rows]


def assess_ranking(
    qrels: Qrels,
    runs: Runs,
    measure: str | Measure = "AP",
    *,
    judgments: Judgments | None = None,
    posterior: GradeProbabilities | None = None,
    draws: int = 200,
    depth: int = 10,
    groups: Mapping[str, str] | None = None,
    topics: str = "qrels",
    ties: str = "trec",
    permutations: int = 1000,
    seed: int = 0,
    progress: Progress = silent,
) -> Trust:
    """Assess how far the ranking of runs under qrels can be trusted.

    Parameters
    ----------
    qrels : Qrels
    runs : Runs
        At least two.
    measure : str or Measure
        Measure that ranks the runs.
    judgments : Judgments, optional
        Grades that other annotators gave to pairs of the qrels, on the scale of the qrels. Without
        them two of the five risks are not checked.
    posterior : GradeProbabilities, optional
        Grade probabilities that the qrels were inferred from, as an aggregation writes them. Adds
        a sixth risk, by qrels drawn from them.
    draws : int
        Number of qrels drawn from the posterior.
    depth : int
        Depth of the pool that the runs made.
    groups : mapping, optional
        Run to group, see :func:`venire.reliability.leave_one_out.leave_one_out`.
    topics, ties : str
        As in :func:`venire.evaluation.score.score_runs`.
    permutations : int
        Number of permutations per test; more where there are many judges.
    seed : int
    progress : callable

    Raises
    ------
    BadSetting
        For fewer than two runs, or a setting outside its range.
    DataError
        For grades that are not whole; ``NoOverlap`` where qrels and runs share no topic.

    Examples
    --------
    >>> import polars as pl
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}, "r": {"x": 1, "y": 0}})
    >>> good = Runs.from_dict({"q": {"a": 2, "b": 1}, "r": {"x": 2, "y": 1}}, run_id="good")
    >>> poor = Runs.from_dict({"q": {"b": 2, "a": 1}, "r": {"z": 2, "x": 1}}, run_id="poor")
    >>> result = assess_ranking(qrels, Runs(pl.concat([good.frame, poor.frame])))
    >>> result["outsiders underrated"].light, result["outsiders underrated"].number
    ('amber', 0.25)
    """
    _check(runs, depth, permutations)
    table = rank(qrels, runs, ties=ties)
    grades = table.grades(qrels)
    scores = score(table, grades, [measure], topics=topics)
    parsed = scores.measures[0]
    values = scores.values[0][:, scores.counted.all(axis=0)]
    top = estimate_top_order(values, table.runs, seed=seed)
    told_apart = tell_apart(values, table.runs, permutations=permutations, seed=seed)
    left_out = leave_one_out(
        table, grades, parsed, depth=depth, groups=groups, copies=dict(top.copies), topics=topics
    )
    unjudged = measure_unjudged(table, grades)
    latest, latest_notes = _keep_latest(judgments)
    others, judge_notes = _select_judges(table, grades, latest)
    panels, panel_notes = ([], []) if latest is None else make_panels(
        table, latest, grades, seed=seed
    )  # fmt: skip
    comparisons = compare_orders_of_panels(table, grades, panels, parsed, told_apart, topics, seed)
    audits = audit_judges(
        table, grades, others, permutations=permutations, seed=seed, progress=progress
    )
    uncertain = None
    if posterior is not None:
        uncertain = rank_drawn_grades(
            posterior, runs, parsed, draws=draws, seed=seed, topics=topics, ties=ties,
            systems=top.top,
        )  # fmt: skip
    lists = Lists.of(runs, depth=max(2 * depth, DEPTH), ties=ties)
    reason = "no judgments by others were given"
    if judgments is not None:
        reason = f"no annotator judged {LEAST_PAIRS} pairs of the qrels"
    mean = dict(zip(scores.runs, scores.mean[0].tolist(), strict=True))
    risks: tuple[Risk, ...] = (
        assess_pool(
            left_out,
            top.top,
            _count_ungraded(lists, qrels, 2 * depth),
            compare_half_depth(table, grades, scores, top.top, depth),
        ),
        assess_unjudged(unjudged, _count_ungraded(lists, qrels, DEPTH), mean, top.top),
        assess_assessors(comparisons, reason, top.topics),
        assess_favour(audits, reason),
        assess_topics(top, told_apart, str(parsed)),
        *(() if uncertain is None else (assess_grades(uncertain),)),
    )
    if not (grades >= smallest_relevant(parsed)).any():
        risks = tuple(map(_withdraw, risks))
    alarms = {risk.name for risk in risks if risk.light in (RED, AMBER)}
    return Trust(
        risks=risks,
        decision=decide(risks, told_apart),
        to_judge=list_pairs(
            alarms, lists, qrels, table, grades, panels, audits, posterior, top.top
        ),
        scores=scores,
        unjudged=unjudged,
        leave_one_out=left_out,
        depths=compute_depth_curve(table, grades, parsed, topics=topics),
        substitutions=_substitute(table, grades, panels, parsed, topics),
        panels=tuple(comparisons),
        audits=audits,
        generalizability=generalizability(values),
        top_order=top,
        told_apart=told_apart,
        uncertain=uncertain,
        notes=(*qrels.notes, *scores.notes, *left_out.notes, *_describe_copies(top),
               *latest_notes, *judge_notes, *panel_notes),
        seed=seed,
        version=version("venire"),
    )  # fmt: skip


def _check(runs: Runs, depth: int, permutations: int) -> None:
    """Refuse settings outside their range, and fewer than two runs."""
    for name, value in (("depth", depth), ("permutations", permutations)):
        if value < 1:
            raise BadSetting(f"must be >= 1 (got {value})", argument=name, value=value)
    if runs.frame["run_id"].n_unique() < 2:
        raise BadSetting("a ranking to trust has at least two runs")


def _substitute(
    table: RankTable, grades: Longs, panels: Sequence[Panel], measure: Measure, topics: str
) -> tuple[Substitution, ...]:
    """Return the ranking under every panel that has one grade per pair."""
    return tuple(
        substitute(table, grades, panel.grades, measure, assessor=panel.name, topics=topics)
        for panel in panels
        if panel.grades.ndim == 1 and ((grades >= 0) & (panel.grades >= 0)).any()
    )


def _withdraw(risk: Risk) -> Risk:
    """Return the risk without a light that rests on relevant documents, where there are none."""
    if risk.light in (RED, NOT_CHECKED):
        return risk
    return replace(
        risk, light=NOT_CHECKED, number=None, reason=NO_RELEVANT, next_step="judge more documents"
    )


def _describe_copies(top: TopOrder) -> list[str]:
    """Return the note on runs that count as copies."""
    if not top.copies:
        return []
    pairs = ", ".join(f"{copy} as {original}" for copy, original in top.copies[:5])
    others = f" and {len(top.copies) - 5} more" if len(top.copies) > 5 else ""
    return [
        f"{express(len(top.copies), 'run')} scored as another on every topic, within "
        f"{COPY_DISTANCE} (root mean square), and count once in the verdict: {pairs}{others}"
    ]


def _count_ungraded(lists: Lists, qrels: Qrels, depth: int) -> int:
    """Return the number of ungraded pairs of a depth-k pool, for the topics of the qrels."""
    judged = qrels.frame.filter(pl.col("relevance") >= 0)
    pool = DepthK(depth=depth).pool(lists).frame
    pool = pool.join(qrels.frame.select("query_id").unique(), on="query_id", how="semi")
    return pool.join(judged, on=PAIR, how="anti").height


def _keep_latest(judgments: Judgments | None) -> tuple[Judgments | None, list[str]]:
    """Return the last label that each annotator gave to each pair, and notes."""
    if judgments is None:
        return None, []
    labels = judgments.frame["label"]
    if not (labels == labels.round()).all():
        raise DataError("grades of the judgments must be whole numbers, as those of the qrels are")
    last = judgments.frame.unique([*PAIR, "annotator_id"], keep="last", maintain_order=True)
    notes = list(judgments.notes)
    left_out = judgments.frame.height - last.height
    if left_out:
        notes.append(
            f"{express(left_out, 'earlier judgment')} of a pair by the same annotator left out: "
            "the last counts"
        )
    return Judgments(last, judgments.scale), notes


def _select_judges(
    table: RankTable, grades: Longs, judgments: Judgments | None
) -> tuple[list[tuple[str, Longs]], list[str]]:
    """Return the grades of the annotators with most pairs of the qrels [P], and notes."""
    if judgments is None:
        return [], []
    last = judgments.frame.select(*PAIR, "annotator_id", pl.col("label").cast(pl.Int64))
    notes = []
    judged = table.pairs.filter(pl.Series((grades != ABSENT) & (grades >= 0)))
    # In common and on the scale: a negative label is no grade.
    common = last.filter(pl.col("label") >= 0).join(judged, on=PAIR, how="semi")
    sizes = (
        common.group_by("annotator_id")
        .len()
        .sort(["len", "annotator_id"], descending=[True, False])
    )
    enough = sizes.filter(pl.col("len") >= LEAST_PAIRS)
    total = last["annotator_id"].n_unique()
    if enough.height < total:
        notes.append(
            f"{express(total - enough.height, 'annotator')} with fewer than {LEAST_PAIRS} pairs "
            "of the qrels: not checked"
        )
    if enough.height > MOST_JUDGES:
        notes.append(
            f"{express(enough.height - MOST_JUDGES, 'annotator')} not checked: "
            f"only the {MOST_JUDGES} with most pairs are"
        )
    others = []
    for name in sorted(enough["annotator_id"].head(MOST_JUDGES)):
        rows = common.filter(pl.col("annotator_id") == name)
        qrels = Qrels(rows.select(*PAIR, pl.col("label").alias("relevance")))
        others.append((name, table.grades(qrels)))
    return others, notes
