"""The job ``next-best``: choose the pairs for which one more judgment helps most."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, TypedDict

from venire.progress import Progress
from venire.server.jobs.kinds import JobKind
from venire.server.jobs.setting_rules import CAMPAIGN, RUNS
from venire.server.jobs.work import Work
from venire.server.studies.files import read_runs
from venire.settings import setting
from venire.simulation.campaigns.next_best import BY, next_best

FIRST_PAIRS = 100
"""Number of pairs in the result; all of them are the part pairs.parquet."""


class NextBestResult(TypedDict):
    """The first pairs, largest gain first."""

    rows: list[dict[str, Any]]
    notes: list[str]
    settings: dict[str, Any]
    version: str


@dataclass(frozen=True, kw_only=True)
class NextBestJob(JobKind):
    """Choose up to ``budget`` pairs to judge once more."""

    campaign: str | None = setting(None, **CAMPAIGN)
    budget: int = setting(100, words="Number of judgments to request.", label="Budget", least=1)
    by: str = setting(
        "ranking",
        words="What a judgment should improve: the order of the runs, or the grades.",
        label="Improve",
        choices=BY,
    )
    runs: list[str] | None = setting(None, **RUNS)

    def run(self, work: Work, progress: Progress) -> NextBestResult:
        """Choose pairs; saves them as the table ``pairs``.

        :func:`venire.server.studies.extra_judgments.raise_overlap` requests the judgments.
        """
        table = work.read_judgments(self.campaign)
        runs = None
        if self.by == "ranking":
            with work.store.reading() as session:
                runs = read_runs(session, work.study_id, self.runs)
        choice = next_best(table, self.budget, by=self.by, runs=runs)
        work.save_table("pairs", choice.frame)
        return {
            "rows": choice.frame.head(FIRST_PAIRS).to_dicts(),
            "notes": list(choice.notes),
            "settings": self.to_dict(),
            "version": version("venire"),
        }
