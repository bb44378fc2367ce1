"""Claims of workers on jobs: taken, kept alive by heartbeats, lost when a heartbeat is late."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from venire.server.store.base import now
from venire.server.store.session import Store
from venire.server.store.work import Job

HEARTBEAT_TIMEOUT = timedelta(seconds=60)
"""A worker without a heartbeat for this long counts as dead, and its job can be claimed again."""
MAX_TRIES = 3
"""A job fails after its worker has died this many times."""
_WORKERS_DIED = (
    f"The server died {MAX_TRIES} times while this job ran; it may have run out of memory. Check "
    "the logs of the server and of the machine. Make the job smaller, or resume it: finished parts "
    "are kept."
)


class ClaimLost(Exception):
    """Raised inside a job that another worker has claimed; the job writes nothing more."""


class JobStopped(Exception):
    """Raised inside a job to end it: its owner stopped it, or the server shuts down."""


@dataclass(frozen=True)
class Claim:
    """A job that a worker has claimed."""

    id: str
    study_id: str
    kind: str
    settings: Mapping[str, Any]
    worker: str


def claim_job(session: Session, worker: str, moment: datetime | None = None) -> Claim | None:
    """Claim the oldest job that is queued or whose worker has died; None if there is no such job.

    Rows are locked and locked rows are skipped, so that two workers never claim the same job. A
    job whose worker has died three times is not claimed again: it fails with a message.
    """
    moment = moment or now()
    # A heartbeat far ahead is from before the clock went back.
    dead = (Job.state == "running") & or_(
        Job.heartbeat_at.is_(None),
        Job.heartbeat_at < moment - HEARTBEAT_TIMEOUT,
        Job.heartbeat_at > moment + HEARTBEAT_TIMEOUT,
    )
    job = session.scalar(
        select(Job)
        .where((Job.state == "waiting") | dead)
        .order_by(Job.created_at, Job.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    if job is None:
        return None
    if job.stop or job.tries >= MAX_TRIES:
        job.state, job.finished_at = "stopped" if job.stop else "failed", moment
        job.message = job.message if job.stop else _WORKERS_DIED
        session.flush()
        return claim_job(session, worker, moment)
    job.state, job.worker, job.heartbeat_at = "running", worker, moment
    job.tries += 1
    job.started_at = job.started_at or moment
    session.flush()
    return Claim(job.id, job.study_id, job.kind, dict(job.settings), worker)


def record_heartbeat(
    session: Session, claim: Claim, moment: datetime | None = None, **values: Any
) -> bool:
    """Record that a job is alive, with its progress; return whether it should stop.

    Raises
    ------
    ClaimLost
        Another worker has claimed the job.
    """
    row = session.execute(
        update(Job)
        .where(Job.id == claim.id, Job.worker == claim.worker, Job.state == "running")
        .values(heartbeat_at=moment or now(), **values)
        .returning(Job.stop)
        .execution_options(synchronize_session=False)
    ).first()
    if row is None:
        raise ClaimLost(claim.id)
    return bool(row.stop)


def end_claim(store: Store, claim: Claim, state: str, **values: Any) -> str:
    """Put a job into its next state; return that state, or "lost" if the claim was lost."""
    finished = {} if state == "waiting" else {"finished_at": now()}

    def write(session: Session) -> bool:
        changed = session.execute(
            update(Job)
            .where(Job.id == claim.id, Job.worker == claim.worker, Job.state == "running")
            .values(state=state, **finished, **values)
            .returning(Job.id)
            .execution_options(synchronize_session=False)
        ).first()
        return changed is not None

    return state if store.write(write) else "lost"
