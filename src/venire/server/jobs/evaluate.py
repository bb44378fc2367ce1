"""The job ``evaluate``: score the study's runs under a chosen source of grades."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, TypedDict

from sqlalchemy.orm import Session

from venire.evaluation.score import TOPICS, score_runs
from venire.progress import Event, Progress
from venire.server.jobs.kinds import JobKind
from venire.server.jobs.setting_rules import (
    GRADES_SOURCE,
    MEASURES,
    RUNS,
    check_grades,
    check_measures,
)
from venire.server.jobs.work import Work
from venire.server.studies.files import read_runs
from venire.server.studies.grades import read_grades
from venire.settings import setting
from venire.tables.runs import TIES


class EvaluateResult(TypedDict):
    """One row per run, with its score under each measure."""

    rows: list[dict[str, Any]]
    notes: list[str]
    settings: dict[str, Any]
    version: str


@dataclass(frozen=True, kw_only=True)
class EvaluateJob(JobKind):
    """Score the runs."""

    grades: str = setting("adjudicated", **GRADES_SOURCE)
    measures: list[str] = setting(**MEASURES, default_factory=lambda: ["AP", "nDCG@10", "P@10"])
    runs: list[str] | None = setting(None, **RUNS)
    topics: str = setting(
        "qrels",
        words="Average over the topics of the grades, or over those that the run has too.",
        label="Average over",
        choices=TOPICS,
    )
    ties: str = setting(
        "trec", words="Order of documents with equal scores.", label="Ties", choices=TIES
    )

    def check(self, session: Session, study_id: str) -> None:
        """Refuse an unknown measure or source of grades."""
        check_grades(self.grades)
        check_measures(self.measures)

    def run(self, work: Work, progress: Progress) -> EvaluateResult:
        """Score the runs; saves the tables ``scores`` and ``by_topic``."""
        progress(Event("reading runs and grades", 0, 2))
        with work.store.reading() as session:
            qrels = read_grades(session, work.study_id, self.grades)
            runs = read_runs(session, work.study_id, self.runs)
        progress(Event("scoring", 1, 2))
        scores = score_runs(qrels, runs, self.measures, topics=self.topics, ties=self.ties)
        work.save_table("scores", scores.frame)
        work.save_table("by_topic", scores.by_topic)
        return {
            "rows": scores.frame.to_dicts(),
            "notes": [*qrels.notes, *scores.notes],
            "settings": {
                **self.to_dict(),
                "measures": [str(measure) for measure in scores.measures],
            },
            "version": version("venire"),
        }
