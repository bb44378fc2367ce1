"""The job ``repeatability``: score the study's runs under several groups of annotators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import polars as pl
from sqlalchemy.orm import Session

from venire.aggregation.registry import build
from venire.errors import BadSetting, DataError
from venire.progress import Event, Progress
from venire.reliability.repeatability import MEASURES, PAIRS, Group, compare_groups
from venire.report.repeatability import repeatability_page
from venire.server.jobs.kinds import JobKind
from venire.server.jobs.setting_rules import (
    BOOTSTRAP,
    GRADE_KINDS,
    PERMUTATIONS,
    RUNS,
    SEED,
    check_measures,
)
from venire.server.jobs.setting_rules import MEASURES as MEASURES_RULE
from venire.server.jobs.work import Work
from venire.server.studies.batches import count_rejections
from venire.server.studies.campaigns import find_campaign
from venire.server.studies.files import read_runs
from venire.server.studies.grades import read_grades
from venire.server.studies.judgments import read_judgments
from venire.settings import setting


class RepeatabilityResult(TypedDict):
    """One row per measure and two groups; the rates of each group."""

    sentence: str
    rows: list[dict[str, Any]]
    rates: list[dict[str, Any]]
    notes: list[str]
    settings: dict[str, Any]
    version: str


@dataclass(frozen=True, kw_only=True)
class RepeatabilityJob(JobKind):
    """Compare the order of the runs under groups of annotators."""

    groups: list[str] = setting(
        words="Two or more groups: campaigns by name or ID, or sources of grades (qrels:NAME).",
        label="Groups",
        default_factory=list,
    )
    measures: list[str] = setting(**MEASURES_RULE, default_factory=lambda: list(MEASURES))
    runs: list[str] | None = setting(None, **RUNS)
    model: str = setting(
        "majority", words="Model that infers the grades of each campaign.", label="Model"
    )
    pairs: str = setting(
        "shared",
        words="Score on the pairs that all groups judged, or each group on its own pairs.",
        label="Pairs",
        choices=PAIRS,
    )
    relevant_from: int = setting(
        1, words="Smallest relevant grade, for agreement.", label="Relevant from"
    )
    permutations: int = setting(1000, **PERMUTATIONS)
    bootstrap: int = setting(1000, **BOOTSTRAP)
    seed: int = setting(0, **SEED)

    def check(self, session: Session, study_id: str) -> None:
        """Refuse an unknown campaign, measure or model, and fewer than two groups."""
        if len(self.groups) < 2:
            raise BadSetting(
                f"must name two or more groups (got {len(self.groups)}). Choose campaigns, or "
                "sources of grades such as qrels:NAME.",
                argument="groups",
                value=self.groups,
            )
        for name in self.groups:
            if not is_grade_source(name):
                find_campaign(session, study_id, name)
        check_measures(self.measures)
        build(self.model, {})

    def run(self, work: Work, progress: Progress) -> RepeatabilityResult:
        """Compare the groups.

        Saves the report, the table ``scores`` and, if they have rows, the tables ``swaps``,
        ``strictness`` and ``agreement``.
        """
        progress(Event("reading runs and judgments", 0, 2))
        notes: list[str] = []
        with work.store.reading() as session:
            runs = read_runs(session, work.study_id, self.runs)
            groups = {
                name: read_study_group(session, work.study_id, name, self.model, notes)
                for name in self.groups
            }
        progress(Event("comparing the groups", 1, 2))
        comparison = compare_groups(
            groups,
            runs,
            self.measures,
            pairs=self.pairs,
            relevant_from=self.relevant_from,
            permutations=self.permutations,
            bootstrap=self.bootstrap,
            seed=self.seed,
        )
        page = repeatability_page(comparison)
        work.save_page(page.render(f"Venire {comparison.version}, seed {comparison.seed}"))
        work.save_table("scores", comparison.scores)
        for name, rows in (
            ("swaps", comparison.swaps),
            ("strictness", comparison.strictness),
            ("agreement", comparison.agreement),
        ):
            if rows:
                work.save_table(name, pl.DataFrame(rows, infer_schema_length=None))
        return {
            "sentence": comparison.sentence,
            "rows": comparison.orders,
            "rates": comparison.rates,
            "notes": [*notes, *comparison.notes],
            "settings": self.to_dict(),
            "version": comparison.version,
        }


def is_grade_source(name: str) -> bool:
    """Tell whether a group is a source of grades, not a campaign."""
    return name.partition(":")[0] in GRADE_KINDS


def read_study_group(
    session: Session, study_id: str, name: str, model: str, notes: list[str]
) -> Group:
    """Return a group of annotators: the judgments of a campaign, or grades of the study.

    The grades of a campaign are inferred by ``model``; its notes are appended to ``notes``.

    Raises
    ------
    DataError
        No judgment of the campaign counts yet.
    """
    if is_grade_source(name):
        return Group(read_grades(session, study_id, name))
    campaign = find_campaign(session, study_id, name)
    table = read_judgments(session, study_id, campaign.id)
    if not len(table):
        raise DataError(f"No judgment of the campaign {campaign.name!r} counts yet.")
    posterior = build(model, {}).fit(table)
    notes += [f"{name}: {note}" for note in (*table.notes, *posterior.notes)]
    return Group(posterior.qrels(), table, count_rejections(session, study_id).get(campaign.id))
