"""Jobs: queue, watch, stop and resume them; download their tables."""

from __future__ import annotations

import csv
import io
import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from sqlalchemy.orm import Session
from starlette.responses import Response

from venire.formats.formulas import escape_formulas
from venire.formats.parquet import read_parquet
from venire.server.jobs import queue
from venire.server.jobs.parts import list_parts, read_part
from venire.server.store.work import Job
from venire.server.web.api.forms import example
from venire.server.web.api.job_forms import NewJob
from venire.server.web.deps import AppStore, CurrentMember, CurrentOwner, ReadSession
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/api/studies/{study_id}/jobs", tags=["jobs"])
_JOB = {"job_id": "j1", "kind": "aggregate", "state": "running", "done": 120, "total": 1000}


def describe_job(job: Job) -> dict[str, Any]:
    """Return a job as plain values, with its result if it has one."""
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


@router.get("", responses=example([_JOB]))
def list_jobs(
    member: CurrentMember,
    session: ReadSession,
    kind: Annotated[str | None, Query(max_length=100)] = None,
) -> list[dict[str, Any]]:
    """List the jobs of the study, newest first."""
    return [describe_job(job) for job in queue.list_jobs(session, member.study_id, kind)]


@router.post("", responses=example({"job_id": "j1"}))
def submit_job(owner: CurrentOwner, store: AppStore, form: NewJob) -> dict[str, str]:
    """Queue a job, such as aggregate or simulate; a job that cannot be done is refused at once."""
    job_id = store.write(
        lambda session: queue.submit_job(
            session, owner.study_id, form.kind, form.list_values(), owner.user.id
        )
    )
    return {"job_id": job_id}


@router.get("/{job_id}", responses=example(_JOB))
def get_job(member: CurrentMember, session: ReadSession, job_id: str) -> dict[str, Any]:
    """Return a job: its progress, and its result when it is done."""
    job = queue.get_job(session, job_id, member.study_id)
    return {**describe_job(job), "parts": list_parts(session, job_id)}


@router.post("/{job_id}/stop", responses=example({"stopping": True}))
def stop_job(owner: CurrentOwner, store: AppStore, job_id: str) -> dict[str, bool]:
    """Stop a job; a running job ends at its next progress report."""

    def stop(session: Session) -> None:
        queue.get_job(session, job_id, owner.study_id)
        queue.stop_job(session, job_id)

    store.write(stop)
    return {"stopping": True}


@router.post("/{job_id}/resume", responses=example({"waiting": True}))
def resume_job(owner: CurrentOwner, store: AppStore, job_id: str) -> dict[str, bool]:
    """Resume a stopped or failed job; it continues with the parts it has saved."""

    def resume(session: Session) -> None:
        queue.get_job(session, job_id, owner.study_id)
        queue.resume_job(session, job_id)

    store.write(resume)
    return {"waiting": True}


@router.get("/{job_id}/parts/{name}", response_class=Response)
def download_part(
    member: CurrentMember,
    session: ReadSession,
    job_id: str,
    name: str,
    file_format: Annotated[Literal["parquet", "csv", "json"], Query(alias="format")] = "parquet",
) -> Response:
    """Download a table of a job as Parquet, CSV or JSON, or its report as HTML."""
    queue.get_job(session, job_id, member.study_id)
    content = read_part(session, job_id, name)
    if not name.endswith(".parquet") or file_format == "parquet":
        return _download(content, name, "application/octet-stream")
    frame = read_parquet(content)
    if file_format == "csv":
        frame = escape_formulas(frame)
    if file_format == "json":
        return Response(json.dumps(frame.to_dicts(), default=str), media_type="application/json")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(frame.columns)
    writer.writerows(frame.iter_rows())
    return _download(out.getvalue().encode(), name.replace(".parquet", ".csv"), "text/csv")


def _download(content: bytes, name: str, media_type: str) -> Response:
    # As an attachment, so that scripts of a report never run under this origin.
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)
