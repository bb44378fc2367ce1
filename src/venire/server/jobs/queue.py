"""The queue of jobs: long work is submitted, listed, stopped and resumed here.

A job has a kind (:mod:`venire.server.jobs.kinds`) and the settings of that kind. A worker
(:mod:`venire.server.jobs.worker`) claims it, runs it and stores the result. When a worker dies,
another one claims the job again and continues with the parts it has saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import Conflict, NotFound
from venire.server.jobs.kinds import find_kind
from venire.server.store.base import now
from venire.server.store.work import Job
from venire.server.studies.studies import get_study


def submit_job(
    session: Session, study_id: str, kind: str, settings: Mapping[str, Any], by: str | None = None
) -> str:
    """Queue a job and return its id.

    Raises
    ------
    UnknownName
        No such kind of job, or no such setting.
    BadSetting
        A setting is outside its range.
    VenireError
        The check of the kind refuses the job.
    """
    get_study(session, study_id)
    find_kind(kind).of(settings).check(session, study_id)
    job = Job(study_id=study_id, kind=kind, settings=dict(settings), created_by=by)
    session.add(job)
    session.flush()
    return job.id


def get_job(session: Session, job_id: str, study_id: str | None = None) -> Job:
    """Return a job by its id; with ``study_id``, only a job of that study."""
    job = session.get(Job, job_id)
    if job is None or (study_id is not None and job.study_id != study_id):
        raise NotFound("job", job_id)
    return job


def list_jobs(session: Session, study_id: str, kind: str | None = None) -> list[Job]:
    """Return the jobs of a study, newest first."""
    query = select(Job).where(Job.study_id == study_id)
    if kind is not None:
        query = query.where(Job.kind == kind)
    return list(session.scalars(query.order_by(Job.created_at.desc(), Job.id)))


def stop_job(session: Session, job_id: str) -> None:
    """Stop a job: a queued one at once, a running one at its next progress report.

    Raises
    ------
    Conflict
        The job has ended.
    """
    job = _lock_job(session, job_id)
    if job.state not in ("waiting", "running"):
        raise Conflict(f"The job is already {job.state}.")
    job.stop = True
    if job.state == "waiting":
        job.state, job.finished_at = "stopped", now()
    session.flush()


def resume_job(session: Session, job_id: str) -> None:
    """Queue a stopped or failed job again; it continues with the parts it has saved.

    Raises
    ------
    Conflict
        The job is queued, running or done.
    """
    job = _lock_job(session, job_id)
    if job.state not in ("stopped", "failed"):
        raise Conflict(f"The job is {job.state}. Only a stopped or failed job can be resumed.")
    job.state, job.stop, job.finished_at, job.message = "waiting", False, None, ""
    job.worker, job.heartbeat_at, job.tries = None, None, 0
    session.flush()


def _lock_job(session: Session, job_id: str) -> Job:
    job = session.scalar(select(Job).where(Job.id == job_id).with_for_update())
    if job is None:
        raise NotFound("job", job_id)
    return job
