"""Assess how far a ranking of runs can be trusted, in one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import polars as pl

from venire.arrays import Longs
from venire.errors import BadSetting, DataError
from venire.evaluation.ranks import ABSENT, RankTable
from venire.evaluation.score import Scores, rank, score
from venire.evaluation.uncertain import GradeProbabilities
from venire.measures import Measure
from venire.pooling.base import Lists
from venire.pooling.depth import DepthK
from venire.reliability.depth_curve import compute_depth_curve
from venire.reliability.discriminative_power import DiscriminativePower, discriminative_power
from venire.reliability.favoured_system import Audit
from venire.reliability.generalizability import Generalizability, generalizability
from venire.reliability.leave_one_out import LeaveOneOut, leave_one_out
from venire.reliability.substitution import Substitution, substitute
from venire.reliability.uncertain_grades import UncertainGrades, rank_drawn_grades
from venire.reliability.unjudged import DEPTH, Unjudged, measure_unjudged
from venire.reliability.verdict import (
    Risk,
    assess_assessors,
    assess_favour,
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
    scores : Scores
        Under the qrels.
    unjudged : Unjudged
    leave_one_out : LeaveOneOut
    depths : polars.DataFrame
        See :func:`venire.reliability.depth_curve.compute_depth_curve`.
    substitutions : tuple of Substitution
        One per annotator; empty without judgments.
    audits : tuple of Audit
        One per annotator: whether the annotator favours a system.
    generalizability : Generalizability
    power : DiscriminativePower or None
        None where no topic is in all runs.
    uncertain : UncertainGrades or None
        The ranking under qrels drawn from a posterior; None without one.
    notes : tuple of str
    seed : int
    version : str
    """

    risks: tuple[Risk, ...]
    scores: Scores
    unjudged: Unjudged
    leave_one_out: LeaveOneOut
    depths: pl.DataFrame
    substitutions: tuple[Substitution, ...]
    audits: tuple[Audit, ...]
    generalizability: Generalizability
    power: DiscriminativePower | None
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
    if depth < 1:
        raise BadSetting(f"must be >= 1 (got {depth})", argument="depth", value=depth)
    if permutations < 1:
        raise BadSetting(
            f"must be >= 1 (got {permutations})", argument="permutations", value=permutations
        )
    if runs.frame["run_id"].n_unique() < 2:
        raise BadSetting("a ranking to trust has at least two runs")
    table = rank(qrels, runs, ties=ties)
    grades = table.grades(qrels)
    scores = score(table, grades, [measure], topics=topics)
    left_out = leave_one_out(table, grades, measure, depth=depth, groups=groups, topics=topics)
    unjudged = measure_unjudged(table, grades)
    is_shared = scores.counted.all(axis=0)
    variance = generalizability(scores.values[0][:, is_shared])
    power = None
    if is_shared.any():
        power = discriminative_power(scores, permutations=permutations, seed=seed)
    others, notes = _select_judges(table, grades, judgments)
    substitutions = tuple(
        substitute(table, grades, other, measure, assessor=name, topics=topics)
        for name, other in others
    )
    audits = _audit_judges(table, grades, others, permutations, seed)
    uncertain = None
    if posterior is not None:
        uncertain = rank_drawn_grades(
            posterior, runs, measure, draws=draws, seed=seed, topics=topics, ties=ties
        )
    lists = Lists.of(runs, depth=max(2 * depth, DEPTH), ties=ties)
    reason = "no judgments by others were given"
    if judgments is not None:
        reason = f"no annotator judged {LEAST_PAIRS} pairs of the qrels"
    risks = (
        assess_pool(left_out, len(table.runs), _count_ungraded(lists, qrels, 2 * depth)),
        assess_unjudged(unjudged, _count_ungraded(lists, qrels, DEPTH)),
        assess_assessors(substitutions, reason),
        assess_favour(audits, reason),
        assess_topics(variance, power),
        *(() if uncertain is None else (assess_grades(uncertain),)),
    )
    return Trust(
        risks=risks,
        scores=scores,
        unjudged=unjudged,
        leave_one_out=left_out,
        depths=compute_depth_curve(table, grades, measure, topics=topics),
        substitutions=substitutions,
        audits=audits,
        generalizability=variance,
        power=power,
        uncertain=uncertain,
        notes=(*qrels.notes, *scores.notes, *left_out.notes, *notes),
        seed=seed,
        version=version("venire"),
    )


def _audit_judges(
    table: RankTable,
    grades: Longs,
    others: Sequence[tuple[str, Longs]],
    permutations: int,
    seed: int,
) -> tuple[Audit, ...]:
    """Test every annotator; with more judges, p is corrected more, so permutations increase."""
    permutations = max(permutations, 200 * len(others))
    return tuple(
        Audit.of(name, table, grades, other, permutations=permutations, seed=seed)
        for name, other in others
    )


def _count_ungraded(lists: Lists, qrels: Qrels, depth: int) -> int:
    """Return the number of ungraded pairs of a depth-k pool, for the topics of the qrels."""
    judged = qrels.frame.filter(pl.col("relevance") >= 0)
    pool = DepthK(depth=depth).pool(lists).frame
    pool = pool.join(qrels.frame.select("query_id").unique(), on="query_id", how="semi")
    return pool.join(judged, on=PAIR, how="anti").height


def _select_judges(
    table: RankTable, grades: Longs, judgments: Judgments | None
) -> tuple[list[tuple[str, Longs]], list[str]]:
    """Return the grades of the annotators with most pairs of the qrels [P], and notes."""
    if judgments is None:
        return [], []
    labels = judgments.frame["label"]
    if not (labels == labels.round()).all():
        raise DataError("grades of the judgments must be whole numbers, as those of the qrels are")
    frame = judgments.frame.select(*PAIR, "annotator_id", pl.col("label").cast(pl.Int64))
    last = frame.unique([*PAIR, "annotator_id"], keep="last", maintain_order=True)
    notes = list(judgments.notes)
    if last.height < frame.height:
        notes.append(
            f"{express(frame.height - last.height, 'earlier judgment')} of a pair by the same "
            "annotator left out: the last counts"
        )
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
