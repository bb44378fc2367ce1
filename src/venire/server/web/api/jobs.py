"""Long work: asked for, looked at, stopped; its tables downloaded."""

from __future__ import annotations

import csv
import io
import json
from typing import Annotated, Any, Literal

import polars as pl
from fastapi import APIRouter, Query
from starlette.responses import Response

from venire.errors import NotFound
from venire.server.jobs import queue as jobs
from venire.server.store.work import Job
from venire.server.web.api.forms import JobSettings, NewJob, example, read_form
from venire.server.web.deps import AppStore, CurrentMember, CurrentOwner, ReadSession

router = APIRouter(prefix="/api/studies/{study_id}/jobs", tags=["jobs"])
_JOB = {"job_id": "j1", "kind": "aggregate", "state": "running", "done": 120, "total": 1000}


def job_view(job: Job) -> dict[str, Any]:
    """A job as plain values, with its result where it has one."""
    return {
        "job_id": job.id,
        "kind": job.kind,
        "settings": job.settings,
        "state": job.state,
        "done": job.done,
        "total": job.total,
        "message": job.message,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "result": job.result,
    }


def job_settings(form: JobSettings) -> dict[str, Any]:
    """What was chosen; nothing chosen means the default."""
    return {name: value for name, value in read_form(form).items() if value not in (None, "")}


@router.get("", responses=example([_JOB]))
def list_jobs(
    member: CurrentMember,
    session: ReadSession,
    kind: Annotated[str | None, Query(max_length=100)] = None,
) -> list[dict[str, Any]]:
    """Jobs of the study, the newest first."""
    return [job_view(job) for job in jobs.list_jobs(session, member.study_id, kind)]


@router.post("", responses=example({"job_id": "j1"}))
def submit_job(owner: CurrentOwner, store: AppStore, form: NewJob) -> dict[str, str]:
    """Ask for a job, such as aggregate or simulate. What cannot be is refused at once."""
    settings = job_settings(form.settings)
    job_id = store.write(
        lambda session: jobs.submit(session, owner.study_id, form.kind, settings, owner.user.id)
    )
    return {"job_id": job_id}


@router.get("/{job_id}", responses=example(_JOB))
def get_job(member: CurrentMember, session: ReadSession, job_id: str) -> dict[str, Any]:
    """A job: how far it is, and its result when it is done."""
    job = jobs.get_job(session, job_id, member.study_id)
    return {**job_view(job), "parts": jobs.parts(session, job_id)}


@router.post("/{job_id}/stop", responses=example({"stopping": True}))
def stop_job(owner: CurrentOwner, store: AppStore, job_id: str) -> dict[str, bool]:
    """Stop a job; one that runs ends as soon as it looks."""

    def work(session: Any) -> None:
        jobs.get_job(session, job_id, owner.study_id)
        jobs.stop(session, job_id)

    store.write(work)
    return {"stopping": True}


@router.post("/{job_id}/go-on", responses=example({"waiting": True}))
def go_on(owner: CurrentOwner, store: AppStore, job_id: str) -> dict[str, bool]:
    """Let a job that was stopped or failed go on where it was."""

    def work(session: Any) -> None:
        jobs.get_job(session, job_id, owner.study_id)
        jobs.go_on(session, job_id)

    store.write(work)
    return {"waiting": True}


@router.get("/{job_id}/parts/{name}", response_class=Response)
def download_part(
    member: CurrentMember,
    session: ReadSession,
    job_id: str,
    name: str,
    form: Annotated[Literal["parquet", "csv", "json"], Query(alias="format")] = "parquet",
) -> Response:
    """A table that a job has kept, as Parquet, CSV or JSON; or its page."""
    jobs.get_job(session, job_id, member.study_id)
    if name not in jobs.parts(session, job_id):
        raise NotFound("part of this job", name)
    content = jobs.part(session, job_id, name)
    if not name.endswith(".parquet") or form == "parquet":
        return _download(content, name, "application/octet-stream")
    frame = pl.read_parquet(io.BytesIO(content))
    if form == "json":
        return Response(json.dumps(frame.to_dicts(), default=str), media_type="application/json")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(frame.columns)
    writer.writerows(frame.iter_rows())
    return _download(out.getvalue().encode(), name.replace(".parquet", ".csv"), "text/csv")


def _download(content: bytes, name: str, kind: str) -> Response:
    # A page that was kept is handed over as a file: nothing of it runs under this address.
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)
