"""Simulation: six steps from labels to a grouping setting."""

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
from venire.server.jobs.kinds import find_rules
from venire.server.jobs.parts import list_parts
from venire.server.jobs.queue import list_jobs
from venire.server.jobs.simulation_labels import QRELS, list_truths
from venire.server.jobs.simulation_start import list_encoders
from venire.server.studies.studies import count_contents, get_study
from venire.server.web.deps import CurrentMember, ReadSession
from venire.server.web.pages.common import study_page
from venire.server.web.pages.grouping_charts import draw_time_and_recall, draw_time_saved
from venire.server.web.route import Route
from venire.simulation.grouping.annotators import (
    BOUNDS,
    TYPES,
    annotator,
    numbers,
    references,
    times_table,
    types_table,
)
from venire.simulation.grouping.explanations import explain_types, short, spell_setting

router = APIRouter(route_class=Route, prefix="/studies/{study_id}", include_in_schema=False)
STEPS = (
    "Ground truth",
    "Simulated annotators",
    "Grouping methods",
    "Summary",
    "Results",
    "Choose a setting",
)
CAPS = ("8", "16", "24", "none")
METHOD_LABELS = {
    "near-duplicate": "Near-duplicate: largest number of differing bits of perceptual hashes",
    "leader": "Leader: smallest cosine with the leader of a group",
    "average-linkage": "Average linkage: largest mean cosine distance within a group",
    "complete-linkage": "Complete linkage: largest cosine distance within a group",
    "k-means": "k-means: mean number of images per group",
    "hdbscan": "HDBSCAN: smallest number of images per group",
}
Row = dict[str, Any]


@router.get("/simulation")
def simulation_page(
    request: Request,
    member: CurrentMember,
    session: ReadSession,
    job: Annotated[str, Query(max_length=100)] = "",
) -> HTMLResponse:
    """Show the six steps; the choices stay in the browser, the results in the study."""
    jobs = list_jobs(session, member.study_id, "simulate")
    done = [row for row in jobs if row.state == "done"]
    chosen = next((row for row in jobs if row.id == job), done[0] if done else None)
    result = chosen.result if chosen is not None and chosen.state == "done" else None
    encoders = list_encoders(session, member.study_id)
    truths = list_truths(session, member.study_id)
    current = StudySettings.of(get_study(session, member.study_id).settings).grouping
    report = None if chosen is None or not result else _read_result(result, chosen.settings, truths)
    return study_page(
        "simulation.html",
        request,
        member,
        session,
        "simulation",
        charts=True,
        steps=STEPS,
        counts=count_contents(session, member.study_id),
        truths=truths,
        encoding=list_jobs(session, member.study_id, "encode"),
        running=jobs,
        job=chosen,
        result=result,
        found=report,
        parts_kept=[] if chosen is None else list_parts(session, chosen.id),
        times=times_table(),
        values=types_table(),
        references=references(),
        caps=CAPS,
        rules=find_rules("simulate"),
        current=current,
        current_words=spell_setting(current.get("setting", ONE)),
        **encoders,
        data={
            "study": member.study_id,
            "api": f"/api/studies/{member.study_id}",
            "here": f"/studies/{member.study_id}",
            "owner": member.role == "owner",
            "truths": truths,
            "vectors": [row["name"] for row in encoders["vectors"]],
            "hashes": encoders["hashes"],
            "types": _list_types(),
            "fields": _list_fields(),
            "methods": _list_methods(),
            "current": current,
            "job": None if chosen is None else {"id": chosen.id, "state": chosen.state},
            "found": report,
        },
    )


def _list_types() -> list[Row]:
    """Return the annotator types and the two bounds, with their values."""
    return [
        {"values": annotator(name).settings, "bound": name in BOUNDS} for name in (*TYPES, *BOUNDS)
    ]


def _list_fields() -> dict[str, list[Row]]:
    """Return the values and the times of an annotator type, each with its label."""
    data = numbers()
    return {
        kind: [{"key": row["key"], "words": row["words"]} for row in data[kind]]
        for kind in ("values", "times")
    }


def _list_methods() -> list[Row]:
    """Return the grouping methods, those of plug-ins too, with the values worth trying."""
    methods = []
    for name in plugins.names("grouper"):
        if name == ONE:
            continue
        kind = plugins.load("grouper", name)
        names = [field.name for field in fields(kind)]
        parameter = next(iter(kind.grid), names[0] if names else "")
        methods.append(
            {
                "name": name,
                "words": METHOD_LABELS.get(name, name),
                "parameter": parameter,
                "values": [float(value) for value in kind.grid.get(parameter, ())],
                "limits": _read_limits(kind, parameter),
                "whole": isinstance(getattr(kind(), parameter, 0.0), int),
                "needs": kind.needs,
            }
        )
    return methods


def _read_limits(kind: Any, parameter: str) -> list[float | None]:
    """Return the smallest and the largest value of a parameter; None means no limit."""
    ends = getattr(kind, "limits", {}).get(parameter, (-math.inf, math.inf))
    return [float(end) if math.isfinite(end) else None for end in ends]


def _read_result(result: Row, settings: Row, truths: Sequence[Row]) -> Row:
    """Return the result of a simulation as the page shows it, with the charts of each type."""
    words = {row["setting"]: spell_setting(row["setting"]) for row in result["rows"]}
    by_setting: dict[str, list[Row]] = {}
    by_type: dict[str, list[Row]] = {}
    for row in result["types"]:
        labelled = {**row, "words": words[row["setting"]], "short": short(row["setting"])}
        by_setting.setdefault(row["setting"], []).append(labelled)
        by_type.setdefault(row["annotator"], []).append(labelled)
    best, points, chosen = result["setting"], result["points"], result["chosen"]
    return {
        "verdict": result["verdict"],
        "doubts": result["doubts"],
        "setting": best,
        "encoder": result["encoder"],
        "truth": settings["truth"],
        "labels": _label_truth(settings["truth"], truths),
        "points": points,
        "chosen": chosen,
        "order": [*chosen, *(name for name in by_type if name not in chosen)],
        "words": words,
        "types": by_setting,
        "tables": {
            name: sorted(rows, key=lambda row: (row["seconds_per_image"], row["setting"]))
            for name, rows in by_type.items()
        },
        "charts": {name: _draw_type(rows, best, points) for name, rows in by_type.items()},
        "sentences": {
            name: explain_types(rows, by_setting[ONE]) for name, rows in by_setting.items()
        },
    }


def _label_truth(truth: str, truths: Sequence[Row]) -> str:
    """Return the label of the source of labels; its name if it was removed from the study."""
    for row in truths:
        if row["value"] == truth:
            return str(row["words"])
    return truth.removeprefix(QRELS)


def _draw_type(rows: list[Row], best: str, points: float) -> Row:
    """Draw the charts of one annotator type."""
    baseline = next(row for row in rows if row["setting"] == ONE)
    others = [row for row in rows if row["setting"] != ONE]
    return {
        "scatter": draw_time_and_recall(others, baseline, best, points),
        "bars": draw_time_saved(others, best),
    }
