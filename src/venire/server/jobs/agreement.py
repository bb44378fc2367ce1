"""The job ``agreement``: inter-annotator agreement, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

from venire.agreement.summary import measure_agreement
from venire.progress import Event, Progress
from venire.server.jobs.kinds import JobKind
from venire.server.jobs.setting_rules import BOOTSTRAP, CAMPAIGN, SEED
from venire.server.jobs.work import Work
from venire.settings import setting


class AgreementResult(TypedDict):
    """One row per statistic, and what they mean."""

    rows: list[dict[str, Any]]
    sentence: str
    warnings: list[str]
    notes: list[str]
    bootstrap: int
    seed: int
    version: str


@dataclass(frozen=True, kw_only=True)
class AgreementJob(JobKind):
    """Measure inter-annotator agreement."""

    campaign: str | None = setting(None, **CAMPAIGN)
    bootstrap: int = setting(1000, **BOOTSTRAP)
    seed: int = setting(0, **SEED)

    def run(self, work: Work, progress: Progress) -> AgreementResult:
        """Compute all statistics; saves the tables ``topics``, ``grades`` and ``annotators``."""
        progress(Event("reading judgments", 0, 2))
        table = work.read_judgments(self.campaign)
        progress(Event("computing agreement", 1, 2))
        summary = measure_agreement(table, bootstrap=self.bootstrap, seed=self.seed)
        for name in ("topics", "grades", "annotators"):
            work.save_table(name, getattr(summary, name))
        return {
            "rows": summary.rows,
            "sentence": summary.sentence,
            "warnings": list(summary.warnings),
            "notes": list(summary.notes),
            "bootstrap": summary.bootstrap,
            "seed": summary.seed,
            "version": summary.version,
        }
