"""The job ``trust``: check whether the ranking of the study's runs can be trusted."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, TypedDict

import polars as pl
from sqlalchemy.orm import Session

from venire.measures import parse
from venire.progress import Event, Progress
from venire.reliability.summary import assess_ranking
from venire.report.trust import describe_order, trust_page
from venire.server.jobs.kinds import JobKind
from venire.server.jobs.setting_rules import (
    GRADES_SOURCE,
    MEASURE,
    PERMUTATIONS,
    RUNS,
    SEED,
    check_grades,
)
from venire.server.jobs.work import Work
from venire.server.studies.files import read_runs
from venire.server.studies.grades import read_grades
from venire.server.studies.judgments import read_judgments
from venire.settings import setting


class TrustResult(TypedDict):
    """The decision, and one row per risk."""

    decision: dict[str, Any]
    rows: list[dict[str, Any]]
    notes: list[str]
    settings: dict[str, Any]
    version: str


@dataclass(frozen=True, kw_only=True)
class TrustJob(JobKind):
    """Check five risks to the ranking of the runs."""

    grades: str = setting("adjudicated", **GRADES_SOURCE)
    measure: str = setting("AP", **MEASURE)
    runs: list[str] | None = setting(None, **RUNS)
    judges: bool = setting(
        True, words="Also compare the ranking under each annotator.", label="Compare annotators"
    )
    depth: int = setting(
        10, words="Depth of the pool.", label="Depth of the pool", least=1, most=10_000
    )
    permutations: int = setting(1000, **PERMUTATIONS)
    seed: int = setting(0, **SEED)

    def check(self, session: Session, study_id: str) -> None:
        """Refuse an unknown measure or source of grades."""
        check_grades(self.grades)
        parse(self.measure)

    def run(self, work: Work, progress: Progress) -> TrustResult:
        """Check the risks.

        Saves the report, the tables ``order``, ``leave_one_out`` and ``pairs_to_judge`` and, if
        annotators are compared, ``panels``.
        """
        progress(Event("reading runs, grades and judgments", 0, 2))
        with work.store.reading() as session:
            qrels = read_grades(session, work.study_id, self.grades)
            runs = read_runs(session, work.study_id, self.runs)
            table = read_judgments(session, work.study_id) if self.judges else None
        progress(Event("checking the ranking", 1, 2))
        summary = assess_ranking(
            qrels,
            runs,
            self.measure,
            judgments=table if table is not None and len(table) else None,
            depth=self.depth,
            permutations=self.permutations,
            seed=self.seed,
        )
        work.save_table("order", pl.DataFrame(describe_order(summary), infer_schema_length=None))
        work.save_table("leave_one_out", summary.leave_one_out.frame)
        work.save_table("pairs_to_judge", summary.to_judge)
        if summary.panels:
            panels = [comparison.row for comparison in summary.panels]
            work.save_table("panels", pl.DataFrame(panels, infer_schema_length=None))
        page = trust_page(summary)
        work.save_page(page.render(f"Venire {summary.version}, seed {summary.seed}"))
        return {
            "decision": asdict(summary.decision),
            "rows": summary.rows,
            "notes": list(summary.notes),
            "settings": self.to_dict(),
            "version": summary.version,
        }
