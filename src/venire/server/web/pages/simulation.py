"""Simulation: the six steps from labels to a grouping."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse

from venire import plugins
from venire.formats.study_settings import StudySettings
from venire.grouping.settings import ONE
from venire.report.grouping_words import explained, named, short
from venire.server.jobs import queue as jobs
from venire.server.jobs import simulation_inputs as simulation
from venire.server.studies.studies import counts, get_study
from venire.server.web.deps import CurrentMember, ReadSession
from venire.server.web.pages import charts
from venire.server.web.pages.common import study_page
from venire.simulation.grouping.annotators import (
    BOUNDS,
    TYPES,
    annotator,
    numbers,
    references,
    times_table,
    types_table,
)

router = APIRouter(prefix="/studies/{study_id}", include_in_schema=False)
STEPS = (
    "Ground truth",
    "Simulated annotators",
    "Grouping methods",
    "Summary",
    "Results",
    "Choose a setting",
)
CAPS = ("8", "16", "24", "none")
_METHODS = {
    "near-duplicate": "Near-duplicates: perceptual hashes that differ in at most so many bits",
    "leader": "Leader: an image joins the nearest leader of at least this cosine",
    "average-linkage": "Average linkage: clusters up to this mean cosine distance",
    "complete-linkage": "Complete linkage: clusters up to this greatest cosine distance",
    "k-means": "k-means: about so many images a group",
    "hdbscan": "HDBSCAN: groups where images lie dense, of at least so many",
}
Row = dict[str, Any]


@router.get("/simulation")
def simulation_page(
    request: Request,
    member: CurrentMember,
    session: ReadSession,
    job: Annotated[str, Query(max_length=100)] = "",
) -> HTMLResponse:
    """Six numbered steps; what was chosen stays in the browser, what was found in the study."""
    known = jobs.list_jobs(session, member.study_id, "simulate")
    done = [row for row in known if row.state == "done"]
    chosen = next((row for row in known if row.id == job), done[0] if done else None)
    result = chosen.result if chosen is not None and chosen.state == "done" else None
    there = simulation.encoders(session, member.study_id)
    truths = simulation.truths(session, member.study_id)
    current = StudySettings.of(get_study(session, member.study_id).settings).grouping
    found = None if chosen is None or not result else _found(result, chosen.settings, truths)
    return study_page(
        "simulation.html",
        request,
        member,
        session,
        "simulation",
        charts=True,
        steps=STEPS,
        counts=counts(session, member.study_id),
        truths=truths,
        encoding=jobs.list_jobs(session, member.study_id, "encode"),
        running=known,
        job=chosen,
        result=result,
        found=found,
        parts_kept=[] if chosen is None else jobs.parts(session, chosen.id),
        times=times_table(),
        values=types_table(),
        references=references(),
        caps=CAPS,
        current=current,
        current_words=named(current.get("setting", ONE)),
        **there,
        data={
            "study": member.study_id,
            "api": f"/api/studies/{member.study_id}",
            "here": f"/studies/{member.study_id}",
            "owner": member.role == "owner",
            "truths": truths,
            "vectors": [row["name"] for row in there["vectors"]],
            "hashes": there["hashes"],
            "types": _types(),
            "fields": _fields(),
            "methods": _methods(),
            "current": current,
            "job": None if chosen is None else {"id": chosen.id, "state": chosen.state},
            "found": found,
        },
    )


def _types() -> list[Row]:
    """The types of the manual and the two bounds, with their values."""
    return [
        {"values": annotator(name).settings, "bound": name in BOUNDS} for name in (*TYPES, *BOUNDS)
    ]


def _fields() -> dict[str, list[Row]]:
    """The values of a card with their words, and the times."""
    data = numbers()
    return {
        kind: [{"key": row["key"], "words": row["words"]} for row in data[kind]]
        for kind in ("values", "times")
    }


def _methods() -> list[Row]:
    """The methods with the values that are worth trying; those of plug-ins too."""
    found = []
    for name in plugins.names("grouper"):
        kind = plugins.load("grouper", name)
        if name == ONE:
            continue
        known = [field.name for field in fields(kind)]
        parameter = next(iter(kind.grid), known[0] if known else "")
        found.append(
            {
                "name": name,
                "words": _METHODS.get(name, name),
                "parameter": parameter,
                "values": [float(value) for value in kind.grid.get(parameter, ())],
                "limits": _limits(kind, parameter),
                "whole": isinstance(getattr(kind(), parameter, 0.0), int),
                "needs": kind.needs,
            }
        )
    return found


def _limits(kind: Any, parameter: str) -> list[float | None]:
    """The least and the greatest value of a parameter; None is no limit."""
    ends = getattr(kind, "limits", {}).get(parameter, (-math.inf, math.inf))
    return [float(end) if math.isfinite(end) else None for end in ends]


def _found(result: Row, settings: Row, truths: Sequence[Row]) -> Row:
    """What a finished simulation says, with its charts for each type."""
    words = {row["setting"]: named(row["setting"]) for row in result["rows"]}
    by_setting: dict[str, list[Row]] = {}
    types: dict[str, list[Row]] = {}
    for row in result["types"]:
        full = {**row, "words": words[row["setting"]], "short": short(row["setting"])}
        by_setting.setdefault(row["setting"], []).append(full)
        types.setdefault(row["annotator"], []).append(full)
    best = result["setting"]
    drawn = {}
    for name, rows in types.items():
        first = next(row for row in rows if row["setting"] == ONE)
        others = [row for row in rows if row["setting"] != ONE]
        drawn[name] = {
            "scatter": charts.time_and_recall(others, first, best, result["points"]),
            "bars": charts.time_saved(others, best),
        }
    return {
        "verdict": result["verdict"],
        "doubts": result["doubts"],
        "setting": best,
        "encoder": result["encoder"],
        "truth": settings["truth"],
        "labels": next(
            (row["words"] for row in truths if row["value"] == settings["truth"]),
            settings["truth"].partition(":")[2] or settings["truth"],
        ),
        "points": result["points"],
        "chosen": result["chosen"],
        "order": [*result["chosen"], *(name for name in types if name not in result["chosen"])],
        "words": words,
        "types": by_setting,
        "tables": {
            name: sorted(rows, key=lambda row: (row["seconds_per_image"], row["setting"]))
            for name, rows in types.items()
        },
        "charts": drawn,
        "sentences": {name: explained(rows, by_setting[ONE]) for name, rows in by_setting.items()},
    }
