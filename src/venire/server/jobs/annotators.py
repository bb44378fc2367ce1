"""The job ``annotators``: how many judgments per pair the study needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

from sqlalchemy.orm import Session

from venire.progress import Event, Progress
from venire.report.annotators_needed import annotators_page, describe_judgments_needed
from venire.server.jobs.kinds import JobKind
from venire.server.jobs.setting_rules import CAMPAIGN, RUNS, SEED, check_measures
from venire.server.jobs.setting_rules import MEASURES as MEASURES_RULE
from venire.server.jobs.work import Work
from venire.server.studies.files import read_runs
from venire.settings import setting
from venire.simulation.campaigns.annotators_needed import (
    MEASURES,
    RULES,
    SOURCES,
    annotators_needed,
)


class AnnotatorsNeededResult(TypedDict):
    """One row per measure and number of judgments; the recommended number per measure."""

    rows: list[dict[str, Any]]
    recommended: dict[str, int | None]
    notes: list[str]
    settings: dict[str, Any]
    version: str


@dataclass(frozen=True, kw_only=True)
class AnnotatorsNeededJob(JobKind):
    """Draw 1 to ``most`` judgments per pair, score the runs, and compare the scores."""

    campaign: str | None = setting(None, **CAMPAIGN)
    runs: list[str] | None = setting(None, **RUNS)
    measures: list[str] = setting(**MEASURES_RULE, default_factory=lambda: list(MEASURES))
    most: int = setting(
        5, words="Largest number of judgments per pair.", label="Judgments per pair", least=2
    )
    source: str = setting(
        "posterior",
        words="Draw from the judgments themselves, or from new annotators by the posterior.",
        label="Draw from",
        choices=SOURCES,
    )
    rule: str = setting(
        "mean", words="How labels become a grade.", label="Aggregate by", choices=RULES
    )
    draws: int = setting(100, words="Number of draws.", label="Draws", least=2)
    target_tau: float = setting(
        0.9,
        words="Mean Kendall's tau with the reference order that is enough.",
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
    seed: int = setting(0, **SEED)

    def check(self, session: Session, study_id: str) -> None:
        """Refuse an unknown measure."""
        check_measures(self.measures)

    def run(self, work: Work, progress: Progress) -> AnnotatorsNeededResult:
        """Draw judgments and score the runs; saves the report."""
        progress(Event("reading runs and judgments", 0, 2))
        table = work.read_judgments(self.campaign)
        with work.store.reading() as session:
            runs = read_runs(session, work.study_id, self.runs)
        progress(Event("drawing judgments", 1, 2))
        needed = annotators_needed(
            table,
            runs,
            self.measures,
            most=self.most,
            source=self.source,
            rule=self.rule,
            draws=self.draws,
            target_tau=self.target_tau,
            target_sd=self.target_sd,
            price=self.price,
            seed=self.seed,
        )
        page = annotators_page(needed)
        work.save_page(page.render(f"Venire {needed.version}, seed {needed.seed}"))
        return {
            "rows": needed.rows,
            "recommended": needed.recommended,
            "notes": [*describe_judgments_needed(needed), *needed.notes],
            "settings": self.to_dict(),
            "version": needed.version,
        }
