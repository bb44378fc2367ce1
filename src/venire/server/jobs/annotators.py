"""The job ``annotators``: how many judgments a pair of the study needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from venire.errors import BadSetting
from venire.measures import parse
from venire.progress import Event, Progress
from venire.report.annotators_needed import annotators_page, in_words
from venire.server.jobs.inputs import checked, plain, table_of
from venire.server.jobs.queue import Work, keep
from venire.server.store.session import Store
from venire.server.studies.studies import read_runs
from venire.simulation.campaigns.annotators_needed import (
    MEASURES,
    RULES,
    SOURCES,
    annotators_needed,
)

SETTINGS: dict[str, Any] = {
    "campaign": None,
    "runs": None,
    "measures": list(MEASURES),
    "most": 5,
    "source": "posterior",
    "rule": "mean",
    "draws": 100,
    "target_tau": 0.9,
    "target_sd": None,
    "price": None,
    "seed": 0,
}


def check(_session: Any, _study_id: str, settings: Mapping[str, Any]) -> None:
    """Refuse an unknown measure or rule before the job waits."""
    given = checked(settings, SETTINGS)
    for measure in given["measures"]:
        parse(measure)
    for name, known in (("source", SOURCES), ("rule", RULES)):
        if given[name] not in known:
            raise BadSetting(f"{name} is one of {', '.join(known)}, not {given[name]!r}")


def run(
    store: Store, job: Work, progress: Progress, should_stop: Callable[[], bool]
) -> dict[str, Any]:
    """Draw judgments and score the runs, for 1 to ``most`` judgments a pair. Keeps the page."""
    given = checked(job.settings, SETTINGS)
    progress(Event("reading runs and judgments", 0, 2))
    table = table_of(store, job.study_id, given["campaign"], gold=False)
    with store.reading() as session:
        runs = read_runs(session, job.study_id, given["runs"])
    progress(Event("drawing judgments", 1, 2))
    chosen = {name: given[name] for name in given if name not in ("campaign", "runs", "measures")}
    found = annotators_needed(table, runs, given["measures"], **chosen)
    page = annotators_page(found).render(f"Venire {found.version}, seed {found.seed}")
    keep(store, job, "report.html", page.encode())
    return {
        "rows": plain(found.rows),
        "recommended": found.recommended,
        "notes": [*in_words(found), *found.notes],
        "settings": given,
        "version": found.version,
    }


run.check = check  # type: ignore[attr-defined]
