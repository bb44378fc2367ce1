"""Parts of jobs: tables, pages and finished steps, saved while a job runs."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from venire.errors import NotFound
from venire.server.jobs.claims import Claim, record_heartbeat
from venire.server.store.base import now
from venire.server.store.session import Store
from venire.server.store.work import JobPart


def save_part(store: Store, claim: Claim, name: str, content: bytes) -> None:
    """Save a part of a claimed job; it replaces a part of the same name."""

    def write(session: Session) -> None:
        record_heartbeat(session, claim)
        part = session.get(JobPart, (claim.id, name))
        if part is None:
            session.add(JobPart(job_id=claim.id, name=name, content=content))
        else:
            part.content, part.made_at = content, now()

    store.write(write)


def delete_parts(store: Store, claim: Claim, names: Sequence[str]) -> None:
    """Delete parts of a claimed job: its intermediate results."""

    def write(session: Session) -> None:
        record_heartbeat(session, claim)
        session.execute(
            delete(JobPart).where(JobPart.job_id == claim.id, JobPart.name.in_(list(names)))
        )

    store.write(write)


def list_parts(session: Session, job_id: str) -> list[str]:
    """Return the names of the parts of a job, in alphabetical order."""
    return list(
        session.scalars(select(JobPart.name).where(JobPart.job_id == job_id).order_by(JobPart.name))
    )


def read_part(session: Session, job_id: str, name: str) -> bytes:
    """Return the content of one part of a job.

    Raises
    ------
    NotFound
        The job has no such part.
    """
    part = session.get(JobPart, (job_id, name))
    if part is None:
        raise NotFound("part of this job", name)
    return part.content
