"""The job ``repeatability``: the study's runs under its campaigns and under qrels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from venire.aggregation.registry import build
from venire.errors import BadSetting, DataError
from venire.measures import parse
from venire.progress import Event, Progress
from venire.reliability.repeatability import MEASURES, PAIRS, Group, compare_groups
from venire.report.repeatability import repeatability_page
from venire.server.jobs.inputs import checked, parquet, plain
from venire.server.jobs.queue import Work, keep
from venire.server.store.session import Store
from venire.server.studies.campaigns import find_campaign
from venire.server.studies.overview import rejections
from venire.server.studies.results import GRADES, grades, judgments
from venire.server.studies.studies import read_runs

SETTINGS: dict[str, Any] = {
    "groups": [],
    "measures": list(MEASURES),
    "runs": None,
    "model": "majority",
    "pairs": "shared",
    "relevant_from": 1,
    "permutations": 1000,
    "bootstrap": 1000,
    "seed": 0,
}


def check(session: Any, study_id: str, settings: Mapping[str, Any]) -> None:
    """Refuse an unknown campaign, measure or model before the job waits."""
    given = checked(settings, SETTINGS)
    if len(given["groups"]) < 2:
        raise BadSetting("name two groups or more: campaigns, or grades such as qrels:NAME")
    for name in given["groups"]:
        if name.partition(":")[0] not in _KINDS:
            find_campaign(session, study_id, name)
    for measure in given["measures"]:
        parse(measure)
    if given["pairs"] not in PAIRS:
        raise BadSetting(f"pairs is one of {', '.join(PAIRS)}, not {given['pairs']!r}")
    build(given["model"], {})


_KINDS = {one.partition(":")[0] for one in GRADES}


def run(
    store: Store, job: Work, progress: Progress, should_stop: Callable[[], bool]
) -> dict[str, Any]:
    """Compare ``groups``: campaigns by name or id, or grades (``settled``, ``qrels:NAME``).

    Keeps the page as HTML; ``scores``, ``strictness``, ``agreement`` and, where there are any,
    ``swaps`` as Parquet.
    """
    given = checked(job.settings, SETTINGS)
    progress(Event("reading runs and judgments", 0, 2))
    notes: list[str] = []
    with store.reading() as session:
        runs = read_runs(session, job.study_id, given["runs"])
        groups = {
            name: group_of(session, job.study_id, name, given["model"], notes)
            for name in given["groups"]
        }
    progress(Event("comparing the groups", 1, 2))
    found = compare_groups(
        groups,
        runs,
        given["measures"],
        pairs=given["pairs"],
        relevant_from=given["relevant_from"],
        permutations=given["permutations"],
        bootstrap=given["bootstrap"],
        seed=given["seed"],
    )
    page = repeatability_page(found).render(f"Venire {found.version}, seed {found.seed}")
    keep(store, job, "report.html", page.encode())
    keep(store, job, "scores.parquet", parquet(found.scores))
    for name, rows in (
        ("swaps", found.swaps),
        ("strictness", found.strictness),
        ("agreement", found.agreement),
    ):
        if rows:
            frame = pl.DataFrame(rows, infer_schema_length=None)
            keep(store, job, f"{name}.parquet", parquet(frame))
    return {
        "sentence": found.sentence,
        "rows": plain(found.orders),
        "rates": plain(found.rates),
        "notes": [*notes, *found.notes],
        "settings": given,
        "version": found.version,
    }


run.check = check  # type: ignore[attr-defined]


def group_of(session: Any, study_id: str, name: str, model: str, notes: list[str]) -> Group:
    """A campaign's judgments that count, settled by a model; or grades of the study.

    Raises
    ------
    DataError
        The campaign has no judgments that count.
    """
    if name.partition(":")[0] in _KINDS:
        return Group(grades(session, study_id, name))
    campaign = find_campaign(session, study_id, name)
    table = judgments(session, study_id, campaign.id)
    if not len(table):
        raise DataError(f"the campaign {campaign.name!r} has no judgments that count yet")
    posterior = build(model, {}).fit(table)
    notes += [f"{name}: {note}" for note in (*table.notes, *posterior.notes)]
    return Group(posterior.qrels(), table, rejections(session, study_id).get(campaign.id))
