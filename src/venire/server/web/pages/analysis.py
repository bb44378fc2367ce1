"""Agreement, Aggregate, Evaluate, Trust: jobs asked for, watched, and what they found."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from importlib.resources import files
from typing import Annotated, Any

import polars as pl
from fastapi import APIRouter, Query, Request
from starlette.responses import FileResponse, HTMLResponse

from venire import plugins
from venire.aggregation.registry import DEFAULT
from venire.server.jobs import queue as jobs
from venire.server.store.work import Job
from venire.server.studies import lists, pools
from venire.server.studies.studies import counts
from venire.server.web.deps import CurrentMember, Member, ReadSession
from venire.server.web.pages import charts
from venire.server.web.pages.common import study_page

router = APIRouter(include_in_schema=False)
JobId = Annotated[str, Query(max_length=100)]
SHOWN = 200


@router.get("/static-plotly/plotly.min.js")
def plotly_script() -> FileResponse:
    """The script of the charts, from the installed package."""
    path = str(files("plotly").joinpath("package_data/plotly.min.js"))
    headers = {"Cache-Control": "public, max-age=86400"}
    return FileResponse(path, media_type="text/javascript", headers=headers)


def kept_table(session: ReadSession, job: Job | None, name: str) -> pl.DataFrame | None:
    """A table that a job has kept, or None."""
    if job is None or f"{name}.parquet" not in jobs.parts(session, job.id):
        return None
    return pl.read_parquet(io.BytesIO(jobs.part(session, job.id, f"{name}.parquet")))


def _page(
    request: Request,
    member: Member,
    session: ReadSession,
    kind: str,
    tab: str,
    job_id: str,
    **values: Any,
) -> HTMLResponse:
    known = jobs.list_jobs(session, member.study_id, kind)
    done = [job for job in known if job.state == "done"]
    chosen = next((job for job in known if job.id == job_id), done[0] if done else None)
    names = {row["user_id"]: row["name"] for row in lists.members(session, member.study_id)}
    more = _FOUND[kind](session, chosen) if chosen is not None and chosen.result else {}
    more = {key: named(value, names) for key, value in more.items()}
    return study_page(
        f"{tab}.html",
        request,
        member,
        session,
        tab,
        charts=True,
        kind=kind,
        jobs=known,
        job=chosen,
        result=named(chosen.result, names) if chosen is not None else None,
        parts_kept=[] if chosen is None else jobs.parts(session, chosen.id),
        campaigns=lists.campaigns(session, member.study_id),
        counts=counts(session, member.study_id),
        **{**_EMPTY[kind], **more},
        **values,
    )


def named(value: Any, names: Mapping[str, str]) -> Any:
    """The same, with the names of annotators where their ids stand: owners know people by name."""
    if isinstance(value, str):
        if value in names:
            return names[value]
        for who in re.findall(r"[\w-]{22}", value):
            value = value.replace(who, names.get(who, who))
        return value
    if isinstance(value, list):
        return [named(one, names) for one in value]
    if isinstance(value, dict):
        return {key: named(one, names) for key, one in value.items()}
    return value


@router.get("/studies/{study_id}/agreement")
def agreement_page(
    request: Request, member: CurrentMember, session: ReadSession, job: JobId = ""
) -> HTMLResponse:
    """How far the annotators agree, over all and by topic, grade and annotator."""
    return _page(request, member, session, "agreement", "agreement", job)


@router.get("/studies/{study_id}/aggregate")
def aggregate_page(
    request: Request, member: CurrentMember, session: ReadSession, job: JobId = ""
) -> HTMLResponse:
    """Fit a model to the judgments, and look through what it believes."""
    return _page(
        request, member, session, "aggregate", "aggregate", job, models=_models(), default=DEFAULT
    )


@router.get("/studies/{study_id}/evaluate")
def evaluate_page(
    request: Request, member: CurrentMember, session: ReadSession, job: JobId = ""
) -> HTMLResponse:
    """Scores of the runs under chosen grades."""
    more = sources(session, member.study_id)
    return _page(request, member, session, "evaluate", "evaluate", job, **more)


@router.get("/studies/{study_id}/trust")
def trust_page(
    request: Request, member: CurrentMember, session: ReadSession, job: JobId = ""
) -> HTMLResponse:
    """How far the ranking of the runs can be trusted."""
    return _page(
        request, member, session, "trust", "trust", job, **sources(session, member.study_id)
    )


def sources(session: ReadSession, study_id: str) -> dict[str, Any]:
    """Where grades can come from, and the runs."""
    found = [
        ("adjudicated", "Adjudicated, else the majority"),
        ("majority", "Majority of the judgments"),
        ("settled", "Only what was adjudicated"),
    ]
    for job in jobs.list_jobs(session, study_id, "aggregate"):
        if job.state == "done":
            model = (job.result or {}).get("model", "model")
            found.append((f"job:{job.id}", f"{model}, {job.finished_at:%Y-%m-%d %H:%M} UTC"))
    files_there = lists.files(session, study_id)
    names = [row["name"] for row in files_there if row["kind"] == "qrels"]
    found += [(f"qrels:{name}", f"Qrels {name}") for name in names]
    return {"sources": found, "runs": pools.run_names(session, study_id)}


def _models() -> list[dict[str, Any]]:
    """Models with their settings, as a form asks for them."""
    found = []
    for name in plugins.names("aggregator"):
        kind = plugins.load("aggregator", name)
        settings = [
            {"name": one.name, "default": one.default}
            for one in fields(kind)
            if one.default is not MISSING and isinstance(one.default, bool | int | float | str)
        ]
        found.append({"name": name, "settings": settings})
    return found


def _agreement(session: ReadSession, job: Job) -> Mapping[str, Any]:
    tables = {name: kept_table(session, job, name) for name in ("topics", "grades", "annotators")}
    topics = tables["topics"]
    return {
        "chart": None if topics is None else charts.by_topic(topics, "alpha_ordinal", "alpha"),
        **{name: [] if frame is None else frame.to_dicts() for name, frame in tables.items()},
    }


def _aggregate(session: ReadSession, job: Job) -> Mapping[str, Any]:
    items, people = kept_table(session, job, "items"), kept_table(session, job, "annotators")
    bounds = kept_table(session, job, "bounds")
    if items is None:
        return {}
    uncertain = items.sort("sd", descending=True, nulls_last=True) if "sd" in items else items
    return {
        "items": uncertain.head(SHOWN).to_dicts(),
        "total": items.height,
        "people": [] if people is None else people.to_dicts(),
        "bounds": [] if bounds is None else bounds.tail(SHOWN).to_dicts(),
        "chart": charts.spread(items["sd"].drop_nulls().to_list()) if "sd" in items else None,
    }


def _evaluate(session: ReadSession, job: Job) -> Mapping[str, Any]:
    rows = (job.result or {}).get("rows", [])
    return {"chart": charts.scores(rows), "scores": rows}


def _trust(session: ReadSession, job: Job) -> Mapping[str, Any]:
    left = kept_table(session, job, "leave_one_out")
    if left is None:
        return {}
    return {"left": left.to_dicts(), "chart": charts.moves(left)}


_FOUND = {
    "agreement": _agreement,
    "aggregate": _aggregate,
    "evaluate": _evaluate,
    "trust": _trust,
}
_EMPTY: dict[str, dict[str, Any]] = {
    "agreement": {"chart": None, "topics": [], "grades": [], "annotators": []},
    "aggregate": {"chart": None, "items": [], "total": 0, "people": [], "bounds": []},
    "evaluate": {"chart": None, "scores": []},
    "trust": {"chart": None, "left": []},
}
