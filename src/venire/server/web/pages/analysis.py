"""Agreement, Aggregate, Evaluate, Trust: queue a job, watch it, see its result."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Annotated, Any

import polars as pl
from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import FileResponse, HTMLResponse

from venire import plugins
from venire.aggregation.registry import DEFAULT
from venire.formats.parquet import read_parquet
from venire.report.annotators_needed import join_intervals
from venire.report.trust import describe_panel
from venire.server.jobs.kinds import find_rules
from venire.server.jobs.parts import list_parts, read_part
from venire.server.jobs.queue import list_jobs
from venire.server.store.work import Job
from venire.server.studies import campaigns, files, members
from venire.server.studies.studies import count_contents
from venire.server.web.deps import CurrentMember, Member, ReadSession
from venire.server.web.pages import charts
from venire.server.web.pages.common import study_page
from venire.server.web.route import Route
from venire.settings import rules

router = APIRouter(route_class=Route, include_in_schema=False)
JobId = Annotated[str, Query(max_length=100)]
MAX_ROWS = 200


@router.get("/static-plotly/plotly.min.js")
def plotly_script() -> FileResponse:
    """Send the script of the charts, from the installed package."""
    path = str(resources.files("plotly").joinpath("package_data/plotly.min.js"))
    headers = {"Cache-Control": "public, max-age=86400"}
    return FileResponse(path, media_type="text/javascript", headers=headers)


@router.get("/studies/{study_id}/agreement")
def agreement_page(
    request: Request, member: CurrentMember, session: ReadSession, job: JobId = ""
) -> HTMLResponse:
    """Show inter-annotator agreement: overall, and by topic, grade and annotator."""
    return _render_job_page(request, member, session, "agreement", job)


@router.get("/studies/{study_id}/aggregate")
def aggregate_page(
    request: Request, member: CurrentMember, session: ReadSession, job: JobId = ""
) -> HTMLResponse:
    """Show a fitted model: its grades, how certain they are, and the annotators."""
    return _render_job_page(
        request, member, session, "aggregate", job, models=_list_models(), default=DEFAULT
    )


@router.get("/studies/{study_id}/evaluate")
def evaluate_page(
    request: Request, member: CurrentMember, session: ReadSession, job: JobId = ""
) -> HTMLResponse:
    """Show the scores of the runs under a chosen source of grades."""
    sources = list_sources(session, member.study_id)
    return _render_job_page(request, member, session, "evaluate", job, **sources)


@router.get("/studies/{study_id}/trust")
def trust_page(
    request: Request, member: CurrentMember, session: ReadSession, job: JobId = ""
) -> HTMLResponse:
    """Show the risks to the ranking of the runs."""
    sources = list_sources(session, member.study_id)
    return _render_job_page(request, member, session, "trust", job, **sources)


def _render_job_page(
    request: Request,
    member: Member,
    session: Session,
    kind: str,
    job_id: str,
    **values: Any,
) -> HTMLResponse:
    """Render the page of a kind of job, with one job: that of the id, else the newest done one."""
    jobs = list_jobs(session, member.study_id, kind)
    done = [job for job in jobs if job.state == "done"]
    chosen = next((job for job in jobs if job.id == job_id), done[0] if done else None)
    names = read_names(session, member.study_id)
    tables = _READERS[kind](session, chosen) if chosen is not None and chosen.result else {}
    return study_page(
        f"{kind}.html",
        request,
        member,
        session,
        kind,
        charts=True,
        kind=kind,
        rules=find_rules(kind),
        jobs=jobs,
        job=chosen,
        result=show_names(chosen.result, names) if chosen is not None else None,
        parts_kept=[] if chosen is None else list_parts(session, chosen.id),
        campaigns=campaigns.list_campaigns(session, member.study_id),
        counts=count_contents(session, member.study_id),
        **{**_EMPTY[kind], **show_names(tables, names)},
        **values,
    )


def read_table(session: Session, job: Job | None, name: str) -> pl.DataFrame | None:
    """Return a table that a job has saved, or None."""
    if job is None or f"{name}.parquet" not in list_parts(session, job.id):
        return None
    return read_parquet(read_part(session, job.id, f"{name}.parquet"))


def read_rows(session: Session, job: Job | None, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table that a job has saved; none where it has not."""
    frame = read_table(session, job, name)
    return [] if frame is None else frame.to_dicts()


def read_names(session: Session, study_id: str) -> dict[str, str]:
    """Return the name of each member of a study, by their id."""
    return {row["user_id"]: row["name"] for row in members.list_members(session, study_id)}


def show_names(value: Any, names: Mapping[str, str]) -> Any:
    """Return a value with the names of annotators in place of their ids, in texts too."""
    if isinstance(value, str):
        if value in names:
            return names[value]
        for user_id, name in names.items():
            value = value.replace(user_id, name)
        return value
    if isinstance(value, list):
        return [show_names(item, names) for item in value]
    if isinstance(value, dict):
        return {key: show_names(item, names) for key, item in value.items()}
    return value


def list_sources(session: Session, study_id: str) -> dict[str, Any]:
    """Return the ``sources`` of grades, as (value, label), and the names of the ``runs``."""
    sources = [
        ("adjudicated", "Adjudicated or majority vote"),
        ("majority", "Majority vote"),
        ("settled", "Adjudicated only"),
    ]
    for job in list_jobs(session, study_id, "aggregate"):
        if job.state == "done":
            model = (job.result or {}).get("model", "model")
            sources.append((f"job:{job.id}", f"{model}, {job.finished_at:%Y-%m-%d %H:%M} UTC"))
    sources += [
        (f"qrels:{row['name']}", f"Qrels {row['name']}")
        for row in files.list_files(session, study_id)
        if row["kind"] == "qrels"
    ]
    return {"sources": sources, "runs": files.list_run_names(session, study_id)}


def _list_models() -> list[dict[str, Any]]:
    """Return the models, each with the rules of the settings that a form can show."""
    return [
        {
            "name": name,
            "settings": [
                rule
                for rule in rules(plugins.load("aggregator", name))
                if isinstance(rule.default, bool | int | float | str)
            ],
        }
        for name in plugins.names("aggregator")
    ]


def _read_agreement(session: Session, job: Job) -> dict[str, Any]:
    tables = {name: read_table(session, job, name) for name in ("topics", "grades", "annotators")}
    topics = tables["topics"]
    return {
        "chart": None if topics is None else charts.draw_topics(topics, "alpha_ordinal", "alpha"),
        **{name: [] if frame is None else frame.to_dicts() for name, frame in tables.items()},
    }


def _read_aggregate(session: Session, job: Job) -> dict[str, Any]:
    items = read_table(session, job, "items")
    people = read_table(session, job, "annotators")
    bounds = read_table(session, job, "bounds")
    if items is None:
        return {}
    first = ["query_id", "doc_id", "judgments", "mode"]
    uncertain = items.sort("sd", descending=True, nulls_last=True) if "sd" in items else items
    return {
        "excluded": list_excluded(people),
        "agreeing": read_rows(session, job, "agreeing_pairs"),
        "to_judge": read_rows(session, job, "pairs_to_judge"),
        "items": uncertain.select(*first, pl.exclude(first)).head(MAX_ROWS).to_dicts(),
        "total": items.height,
        "people": [] if people is None else _shorten_annotators(people),
        "bounds": [] if bounds is None else bounds.tail(MAX_ROWS).to_dicts(),
        "chart": charts.draw_uncertainty(items["sd"].drop_nulls().to_list())
        if "sd" in items
        else None,
    }


def _shorten_annotators(annotators: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the estimates of each annotator, an interval in one column with its estimate.

    The standard deviations of the other estimates are in the table to download.
    """
    names = [name for name in annotators.columns if not name.endswith("_sd")]
    return join_intervals(annotators.select(names).to_dicts())


def list_excluded(annotators: pl.DataFrame | None) -> list[dict[str, Any]]:
    """Return the annotators that a model excludes, with the interval of their spamminess."""
    if annotators is None or "exclude" not in annotators.columns:
        return []
    columns = ["annotator_id", "judgments", "spamminess", "spamminess_low", "spamminess_high"]
    excluded = annotators.filter("exclude").sort("spamminess_low", descending=True)
    return excluded.select(columns).to_dicts()


def _read_evaluate(session: Session, job: Job) -> dict[str, Any]:
    rows = (job.result or {}).get("rows", [])
    return {"chart": charts.draw_scores(rows), "scores": rows}


def _read_trust(session: Session, job: Job) -> dict[str, Any]:
    left_out = read_table(session, job, "leave_one_out")
    if left_out is None:
        return {}
    panels = read_rows(session, job, "panels")
    return {
        "order": read_rows(session, job, "order"),
        "panels": [describe_panel(row) for row in panels],
        "to_judge": read_rows(session, job, "pairs_to_judge"),
        "left": left_out.to_dicts(),
        "chart": charts.draw_left_out_runs(left_out),
    }


_READERS = {
    "agreement": _read_agreement,
    "aggregate": _read_aggregate,
    "evaluate": _read_evaluate,
    "trust": _read_trust,
}
_EMPTY: dict[str, dict[str, Any]] = {
    "agreement": {"chart": None, "topics": [], "grades": [], "annotators": []},
    "aggregate": {
        "chart": None,
        "items": [],
        "total": 0,
        "people": [],
        "bounds": [],
        "excluded": [],
        "agreeing": [],
        "to_judge": [],
    },
    "evaluate": {"chart": None, "scores": []},
    "trust": {"chart": None, "left": [], "order": [], "panels": [], "to_judge": []},
}
