"""The job ``evaluate``: the study's runs under chosen grades."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

from venire.errors import BadSetting
from venire.evaluation.score import TOPICS, score_runs
from venire.measures import parse
from venire.progress import Event, Progress
from venire.server.jobs.inputs import checked, parquet, plain
from venire.server.jobs.queue import Work, keep
from venire.server.store.session import Store
from venire.server.studies.results import GRADES, grades
from venire.server.studies.studies import read_runs

SETTINGS: dict[str, Any] = {
    "grades": "adjudicated",
    "measures": ["AP", "nDCG@10", "P@10"],
    "runs": None,
    "topics": "qrels",
    "ties": "trec",
}


def check(_session: Any, _study_id: str, settings: Mapping[str, Any]) -> None:
    """Refuse an unknown measure or kind of grades before the job waits."""
    given = checked(settings, SETTINGS)
    check_grades(given["grades"])
    for measure in given["measures"]:
        parse(measure)
    if not given["measures"]:
        raise BadSetting("name at least one measure")
    if given["topics"] not in TOPICS:
        raise BadSetting(f"topics is one of {', '.join(TOPICS)}, not {given['topics']!r}")


def check_grades(source: str) -> None:
    """Refuse a source of grades that is none."""
    kind, _, name = source.partition(":")
    if source not in GRADES[:3] and not (kind in ("job", "qrels") and name):
        raise BadSetting(f"grades come from {', '.join(GRADES)}, not {source!r}")


def run(
    store: Store, job: Work, progress: Progress, should_stop: Callable[[], bool]
) -> dict[str, Any]:
    """Score the runs by ``measures`` under ``grades``; keeps the scores and those by topic."""
    given = checked(job.settings, SETTINGS)
    progress(Event("reading runs and grades", 0, 2))
    with store.reading() as session:
        qrels = grades(session, job.study_id, given["grades"])
        runs = read_runs(session, job.study_id, given["runs"])
    progress(Event("scoring", 1, 2))
    scores = score_runs(qrels, runs, given["measures"], topics=given["topics"], ties=given["ties"])
    keep(store, job, "scores.parquet", parquet(scores.frame))
    keep(store, job, "by_topic.parquet", parquet(scores.by_topic))
    return {
        "rows": plain(scores.frame.to_dicts()),
        "notes": [*qrels.notes, *scores.notes],
        "settings": {**given, "measures": [str(one) for one in scores.measures]},
        "version": version("venire"),
    }


run.check = check  # type: ignore[attr-defined]
