"""The jobs ``forecast`` and ``next-best``: what a campaign would cost, and what to ask next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

from venire.errors import BadSetting
from venire.measures import parse
from venire.progress import Progress
from venire.report.forecast import forecast_page
from venire.server.jobs.evaluate import check_grades
from venire.server.jobs.inputs import checked, parquet, plain, table_of
from venire.server.jobs.queue import Work, keep
from venire.server.store.session import Store
from venire.server.studies.results import grades, judgments
from venire.server.studies.studies import read_runs
from venire.simulation.campaigns.designs import Crowd, crowd_of_pilot, forecast, grid
from venire.simulation.campaigns.next_best import BY, next_best

FORECAST: dict[str, Any] = {
    "grades": "adjudicated",
    "designs": {"overlap": [1, 3, 5]},
    "crowd": {},
    "pilot": None,
    "runs": None,
    "measure": "AP",
    "replays": 20,
    "seed": 0,
}
NEXT: dict[str, Any] = {"campaign": None, "budget": 100, "by": "ranking", "runs": None}


def check_forecast(_session: Any, _study_id: str, settings: Mapping[str, Any]) -> None:
    """Refuse designs, a crowd or grades that cannot be."""
    given = checked(settings, FORECAST)
    check_grades(given["grades"])
    parse(given["measure"])
    _designs(given["designs"])
    _crowd(given["crowd"])


def _designs(choices: Mapping[str, Any]) -> list[Any]:
    words = (
        "designs are lists of whole numbers for depth, overlap, batch_size, gold_size, gold_errors"
    )
    try:
        found = grid(**choices)
    except TypeError:
        raise BadSetting(words) from None
    if not found or any(type(value) is not int for one in found for value in vars(one).values()):
        raise BadSetting(words)
    return found


def _crowd(expected: Mapping[str, Any]) -> Crowd:
    try:
        return Crowd(**_said(expected))
    except TypeError:
        raise BadSetting(
            "a crowd has spam, accuracy, seconds, price, fee and pay_rejected"
        ) from None


def _said(expected: Mapping[str, Any]) -> dict[str, Any]:
    """What a form says of a crowd; what it leaves open has its default, or that of the pilot."""
    return {name: value for name, value in expected.items() if value is not None}


def run_forecast(
    store: Store, job: Work, progress: Progress, should_stop: Callable[[], bool]
) -> dict[str, Any]:
    """Play ``designs`` on known ``grades``; a ``pilot`` campaign shows how people judge.

    Keeps the page; :func:`venire.server.studies.campaigns.keep_forecast` keeps a row with a
    campaign.
    """
    given = checked(job.settings, FORECAST)
    with store.reading() as session:
        truth = grades(session, job.study_id, given["grades"])
        runs = read_runs(session, job.study_id, given["runs"])
        pilot = None
        if given["pilot"] is not None:
            pilot = judgments(session, job.study_id, given["pilot"])
    crowd = _crowd(given["crowd"])
    if pilot is not None:
        crowd = crowd_of_pilot(pilot, truth, **_said(given["crowd"]))
    found = forecast(
        truth,
        runs,
        _designs(given["designs"]),
        crowd,
        measure=given["measure"],
        replays=given["replays"],
        seed=given["seed"],
        progress=progress,
    )
    page = forecast_page(found).render(f"Venire {found.version}, seed {found.seed}")
    keep(store, job, "report.html", page.encode())
    return {
        "rows": plain(found.rows),
        "notes": list(found.notes),
        "settings": given,
        "crowd": plain([found.settings["crowd"]])[0],
        "version": found.version,
    }


run_forecast.check = check_forecast  # type: ignore[attr-defined]


def check_next(_session: Any, _study_id: str, settings: Mapping[str, Any]) -> None:
    """Refuse an unknown rule or no budget."""
    given = checked(settings, NEXT)
    if given["by"] not in BY:
        raise BadSetting(f"by is one of {', '.join(BY)}, not {given['by']!r}")
    if given["budget"] < 1:
        raise BadSetting("a budget is at least one judgment")


def run_next(
    store: Store, job: Work, progress: Progress, should_stop: Callable[[], bool]
) -> dict[str, Any]:
    """Choose ``budget`` pairs; :func:`venire.server.studies.campaigns.raise_overlap` asks for them.

    Keeps ``pairs`` as Parquet.
    """
    given = checked(job.settings, NEXT)
    table = table_of(store, job.study_id, given["campaign"], gold=False)
    runs = None
    if given["by"] == "ranking":
        with store.reading() as session:
            runs = read_runs(session, job.study_id, given["runs"])
    found = next_best(table, given["budget"], by=given["by"], runs=runs)
    keep(store, job, "pairs.parquet", parquet(found.frame))
    return {
        "rows": plain(found.frame.head(100).to_dicts()),
        "notes": list(found.notes),
        "settings": given,
        "version": version("venire"),
    }


run_next.check = check_next  # type: ignore[attr-defined]
