"""The job ``agreement``: how far the annotators agree, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from venire.agreement.summary import measure_agreement
from venire.progress import Event, Progress
from venire.server.jobs.inputs import checked, parquet, plain, table_of
from venire.server.jobs.queue import Work, keep
from venire.server.store.session import Store

SETTINGS: dict[str, Any] = {"campaign": None, "bootstrap": 1000, "seed": 0}


def check(_session: Any, _study_id: str, settings: Mapping[str, Any]) -> None:
    """Refuse unknown settings before the job waits."""
    checked(settings, SETTINGS)


def run(
    store: Store, job: Work, progress: Progress, should_stop: Callable[[], bool]
) -> dict[str, Any]:
    """All figures of agreement, on one ``campaign`` or all; keeps tables by topic and grade."""
    given = checked(job.settings, SETTINGS)
    progress(Event("reading judgments", 0, 2))
    table = table_of(store, job.study_id, given["campaign"], gold=False)
    progress(Event("computing agreement", 1, 2))
    found = measure_agreement(table, bootstrap=given["bootstrap"], seed=given["seed"])
    for name in ("topics", "grades", "annotators"):
        keep(store, job, f"{name}.parquet", parquet(getattr(found, name)))
    return {
        "rows": plain(found.rows),
        "sentence": found.sentence,
        "warnings": list(found.warnings),
        "notes": list(found.notes),
        "bootstrap": found.bootstrap,
        "seed": found.seed,
        "version": found.version,
    }


run.check = check  # type: ignore[attr-defined]
