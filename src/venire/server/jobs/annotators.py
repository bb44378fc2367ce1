"""The job ``annotators``: how many judgments per pair the study needs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypedDict

from sqlalchemy.orm import Session

from venire.progress import Event, Progress
from venire.report.annotators_needed import (
    advise_on_judgments,
    annotators_page,
    describe_judgments_needed,
)
from venire.server.jobs.kinds import JobKind
from venire.server.jobs.setting_rules import CAMPAIGN, RUNS, SEED, check_measures
from venire.server.jobs.setting_rules import MEASURES as MEASURES_RULE
from venire.server.jobs.work import Work
from venire.server.studies.files import read_runs
from venire.settings import setting
from venire.simulation.campaigns.annotators_needed import (
    MEASURES,
    AnnotatorsNeededSettings,
    annotators_needed,
)


class AnnotatorsNeededResult(TypedDict):
    """One row per measure and number of judgments; the verdict per measure."""

    rows: list[dict[str, Any]]
    verdicts: dict[str, dict[str, Any]]
    compared: dict[str, list[str]]
    advice: list[str]
    notes: list[str]
    settings: dict[str, Any]
    version: str


@dataclass(frozen=True, kw_only=True)
class AnnotatorsNeededJob(JobKind, AnnotatorsNeededSettings):
    """Estimate how far another crowd would order the runs alike, by judgments per pair."""

    campaign: str | None = setting(None, **CAMPAIGN)
    runs: list[str] | None = setting(None, **RUNS)
    measures: list[str] = setting(**MEASURES_RULE, default_factory=lambda: list(MEASURES))
    seed: int = setting(0, **SEED)

    def check(self, session: Session, study_id: str) -> None:
        """Refuse an unknown measure."""
        check_measures(self.measures)

    def run(self, work: Work, progress: Progress) -> AnnotatorsNeededResult:
        """Estimate from the judgments and runs; saves the report."""
        progress(Event("reading runs and judgments", 0, None))
        table = work.read_judgments(self.campaign)
        with work.store.reading() as session:
            runs = read_runs(session, work.study_id, self.runs)
        needed = annotators_needed(
            table,
            runs,
            self.measures,
            seed=self.seed,
            progress=progress,
            **{field.name: getattr(self, field.name) for field in fields(AnnotatorsNeededSettings)},
        )
        page = annotators_page(needed)
        work.save_page(page.render(f"Venire {needed.version}, seed {needed.seed}"))
        return {
            "rows": needed.rows,
            "verdicts": needed.verdicts,
            "compared": needed.compared,
            "advice": advise_on_judgments(needed),
            "notes": [*describe_judgments_needed(needed), *needed.notes],
            "settings": self.to_dict(),
            "version": needed.version,
        }
