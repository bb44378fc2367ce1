"""The job ``trust``: how far the ranking of the study's runs can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from venire.measures import parse
from venire.progress import Event, Progress
from venire.reliability.summary import assess_ranking
from venire.report.trust import trust_page
from venire.server.jobs.evaluate import check_grades
from venire.server.jobs.inputs import checked, parquet, plain
from venire.server.jobs.queue import Work, keep
from venire.server.store.session import Store
from venire.server.studies.results import grades, judgments
from venire.server.studies.studies import read_runs

SETTINGS: dict[str, Any] = {
    "grades": "adjudicated",
    "measure": "AP",
    "runs": None,
    "judges": True,
    "depth": 10,
    "permutations": 1000,
    "seed": 0,
}


def check(_session: Any, _study_id: str, settings: Mapping[str, Any]) -> None:
    """Refuse an unknown measure or kind of grades before the job waits."""
    given = checked(settings, SETTINGS)
    check_grades(given["grades"])
    parse(given["measure"])


def run(
    store: Store, job: Work, progress: Progress, should_stop: Callable[[], bool]
) -> dict[str, Any]:
    """The five risks; ``judges`` also compares each annotator.

    Keeps the page as HTML, and what each run loses when it is left out.
    """
    given = checked(job.settings, SETTINGS)
    progress(Event("reading runs, grades and judgments", 0, 2))
    with store.reading() as session:
        qrels = grades(session, job.study_id, given["grades"])
        runs = read_runs(session, job.study_id, given["runs"])
        table = judgments(session, job.study_id) if given["judges"] else None
    progress(Event("checking the ranking", 1, 2))
    found = assess_ranking(
        qrels,
        runs,
        given["measure"],
        judgments=table if table is not None and len(table) else None,
        depth=given["depth"],
        permutations=given["permutations"],
        seed=given["seed"],
    )
    keep(store, job, "leave_one_out.parquet", parquet(found.leave_one_out.frame))
    page = trust_page(found).render(f"Venire {found.version}, seed {found.seed}")
    keep(store, job, "report.html", page.encode())
    return {
        "rows": plain(found.rows),
        "notes": list(found.notes),
        "settings": given,
        "version": found.version,
    }


run.check = check  # type: ignore[attr-defined]
