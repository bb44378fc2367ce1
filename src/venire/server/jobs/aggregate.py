"""The job ``aggregate``: a model on the judgments that count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from venire.aggregation.registry import DEFAULT, build
from venire.progress import Progress
from venire.report.folder import confusion_frame
from venire.server.jobs.inputs import checked, parquet, plain, table_of
from venire.server.jobs.queue import Work, keep
from venire.server.store.session import Store
from venire.server.studies.results import gold_grades

SETTINGS: dict[str, Any] = {
    "model": DEFAULT,
    "settings": {},
    "campaign": None,
    "use_gold": False,
    "seed": 0,
}


def check(_session: Any, _study_id: str, settings: Mapping[str, Any]) -> None:
    """Refuse an unknown model or setting before the job waits."""
    given = checked(settings, SETTINGS)
    build(given["model"], dict(given["settings"]))


def run(
    store: Store, job: Work, progress: Progress, should_stop: Callable[[], bool]
) -> dict[str, Any]:
    """Fit ``model`` with its ``settings`` on one ``campaign`` or all; ``use_gold`` clamps gold.

    Keeps ``items``, ``annotators``, ``bounds`` and, where the model has them, ``confusion`` and
    ``difficulty`` as Parquet.
    """
    given = checked(job.settings, SETTINGS)
    model = build(given["model"], dict(given["settings"]))
    table = table_of(store, job.study_id, given["campaign"], gold=given["use_gold"])
    known = None
    if given["use_gold"]:
        with store.reading() as session:
            known = gold_grades(session, job.study_id)
    posterior = model.fit(table, gold=known, seed=given["seed"], progress=progress)
    tables = {
        "items": posterior.frame,
        "annotators": posterior.annotators,
        "bounds": posterior.bounds,
    }
    if posterior.difficulty is not None:
        tables["difficulty"] = posterior.difficulty
    if posterior.confusion is not None:
        tables["confusion"] = confusion_frame(posterior)
    for name, frame in tables.items():
        keep(store, job, f"{name}.parquet", parquet(frame))
    return {
        "model": posterior.model,
        "settings": plain(dict(posterior.settings)),
        "seed": posterior.seed,
        "version": posterior.version,
        "converged": posterior.converged,
        "scale": {"values": posterior.scale.values, "names": posterior.scale.names},
        "rows": [
            {
                "judgments": len(table),
                "items": posterior.items.height,
                "annotators": posterior.annotators.height,
                "mean_sd": float(posterior.items["sd"].mean() or 0.0),
            }
        ],
        "notes": [*table.notes, *(n for n in posterior.notes if n not in table.notes)],
    }


run.check = check  # type: ignore[attr-defined]
