"""All that is said of how far a ranking can be trusted, in one result."""

from __future__ import annotations

from collections.abc import Mapping
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
from venire.reliability.uncertain_grades import UncertainGrades, uncertain_grades
from venire.reliability.unjudged import DEPTH, Unjudged, unjudged
from venire.reliability.verdict import (
    Risk,
    assessors_risk,
    favour_risk,
    grades_risk,
    outsiders_risk,
    pool_risk,
    topics_risk,
)
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import PAIR, counted

LEAST_PAIRS = 20
"""With fewer pairs in common an annotator ranks nothing."""
MOST_JUDGES = 50
"""Those with most pairs are checked: a crowd has thousands, each with a few pairs."""


@dataclass(frozen=True)
class Trust:
    """How far the ranking of the runs can be trusted.

    Attributes
    ----------
    risks : tuple of Risk
        The verdict, one a risk, always the same five in the same order, and with a posterior
        "grades are uncertain".
    scores : Scores
        Under the qrels.
    unjudged : Unjudged
    leave_one_out : LeaveOneOut
    depths : polars.DataFrame
        See :func:`venire.reliability.depth_curve.compute_depth_curve`.
    substitutions : tuple of Substitution
        One an annotator; empty without judgments.
    audits : tuple of Audit
        One an annotator: does it favour a system.
    generalizability : Generalizability
    power : DiscriminativePower or None
        None where there is no topic that all runs have.
    uncertain : UncertainGrades or None
        What qrels drawn from a posterior do to the ranking; None without one.
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
    """Say how far the ranking of runs under qrels can be trusted.

    Parameters
    ----------
    qrels : Qrels
    runs : Runs
        At least two.
    measure : str or Measure
        What ranks the runs.
    judgments : Judgments, optional
        Grades by other annotators of pairs of the qrels, on the scale of the qrels. Without them
        two of the five risks are not checked.
    posterior : GradeProbabilities, optional
        Grade probabilities that the qrels were inferred from, as an aggregation writes them. Adds
        a sixth risk, by qrels drawn from them.
    draws : int
        How many qrels are drawn.
    depth : int
        Of the pool that the runs made.
    groups : mapping, optional
        Run to group, see :func:`venire.reliability.leave_one_out.leave_one_out`.
    topics, ties : str
        As in :func:`venire.evaluation.score.score_runs`.
    permutations : int
        Of each test; more for the judges where there are many.
    seed : int

    Raises
    ------
    BadSetting
        For fewer than two runs, or a setting that cannot be.
    DataError
        For grades that are not whole; ``NoOverlap`` where qrels and runs share no topic.

    Examples
    --------
    >>> import polars as pl
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}, "r": {"x": 1, "y": 0}})
    >>> good = Runs.from_dict({"q": {"a": 2, "b": 1}, "r": {"x": 2, "y": 1}}, run_id="good")
    >>> poor = Runs.from_dict({"q": {"b": 2, "a": 1}, "r": {"z": 2, "x": 1}}, run_id="poor")
    >>> found = assess_ranking(qrels, Runs(pl.concat([good.frame, poor.frame])))
    >>> found["outsiders underrated"].light, found["outsiders underrated"].number
    ('amber', 0.25)
    """
    if depth < 1 or permutations < 1:
        raise BadSetting("depth and permutations are at least 1")
    if runs.frame["run_id"].n_unique() < 2:
        raise BadSetting("a ranking to trust has at least two runs")
    table = rank(qrels, runs, ties=ties)
    grades = table.grades(qrels)
    scores = score(table, grades, [measure], topics=topics)
    shared = scores.counted.all(axis=0)
    left = leave_one_out(table, grades, measure, depth=depth, groups=groups, topics=topics)
    guessed = unjudged(table, grades)
    variance = generalizability(scores.values[0][:, shared])
    power = None
    if shared.any():
        power = discriminative_power(scores, permutations=permutations, seed=seed)
    others, notes = _grades_of(table, grades, judgments)
    swaps = tuple(
        substitute(table, grades, other, measure, assessor=name, topics=topics)
        for name, other in others
    )
    # Corrected for many judges, the least p must still be able to be small.
    flips = max(permutations, 200 * len(others))
    audits = tuple(
        Audit.of(name, table, grades, other, permutations=flips, seed=seed)
        for name, other in others
    )
    why = "no judgments by others were given"
    if judgments is not None:
        why = f"no annotator judged {LEAST_PAIRS} pairs of the qrels"
    drawn = None
    if posterior is not None:
        drawn = uncertain_grades(
            posterior, runs, measure, draws=draws, seed=seed, topics=topics, ties=ties
        )
    lists = Lists.of(runs, depth=max(2 * depth, DEPTH), ties=ties)
    risks = (
        pool_risk(left, len(table.runs), _missing(lists, qrels, 2 * depth)),
        outsiders_risk(guessed, _missing(lists, qrels, DEPTH)),
        assessors_risk(swaps, why),
        favour_risk(audits, why),
        topics_risk(variance, power),
        *(() if drawn is None else (grades_risk(drawn),)),
    )
    return Trust(
        risks=risks,
        scores=scores,
        unjudged=guessed,
        leave_one_out=left,
        depths=compute_depth_curve(table, grades, measure, topics=topics),
        substitutions=swaps,
        audits=audits,
        generalizability=variance,
        power=power,
        uncertain=drawn,
        notes=(*qrels.notes, *scores.notes, *left.notes, *notes),
        seed=seed,
        version=version("venire"),
    )


def _missing(lists: Lists, qrels: Qrels, depth: int) -> int:
    """Return how many pairs of the pool to a depth have no grade, in topics of the qrels."""
    judged = qrels.frame.filter(pl.col("relevance") >= 0)
    pool = DepthK(depth=depth).pool(lists).frame
    pool = pool.join(qrels.frame.select("query_id").unique(), on="query_id", how="semi")
    return pool.join(judged, on=PAIR, how="anti").height


def _grades_of(
    table: RankTable, grades: Longs, judgments: Judgments | None
) -> tuple[list[tuple[str, Longs]], list[str]]:
    """Return each annotator's grades of the table's pairs, those with most pairs first cut."""
    if judgments is None:
        return [], []
    labels = judgments.frame["label"]
    if not (labels == labels.round()).all():
        raise DataError("the judgments have grades that are not whole; the qrels have whole ones")
    frame = judgments.frame.select(*PAIR, "annotator_id", pl.col("label").cast(pl.Int64))
    last = frame.unique([*PAIR, "annotator_id"], keep="last", maintain_order=True)
    notes = list(judgments.notes)
    if last.height < frame.height:
        notes.append(
            f"{counted(frame.height - last.height, 'earlier judgment')} of a pair by the same "
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
            f"{counted(total - enough.height, 'annotator')} with fewer than {LEAST_PAIRS} pairs "
            "of the qrels: not checked"
        )
    if enough.height > MOST_JUDGES:
        notes.append(
            f"{counted(enough.height - MOST_JUDGES, 'annotator')} not checked: "
            f"only the {MOST_JUDGES} with most pairs are"
        )
    out = []
    for name in sorted(enough["annotator_id"].head(MOST_JUDGES)):
        mine = common.filter(pl.col("annotator_id") == name)
        out.append(
            (name, table.grades(Qrels(mine.select(*PAIR, pl.col("label").alias("relevance")))))
        )
    return out, notes
