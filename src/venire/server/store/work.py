"""Tables of decisions, exports and jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, text
from sqlalchemy.orm import Mapped, deferred, mapped_column

from venire.server.store.base import Base, is_one_of, new_id, now
from venire.server.store.text import StoredText

JOB_STATES = ("waiting", "running", "done", "failed", "stopped")


class Decision(Base):
    """A decision, who made it and why. Append-only: the last one about a subject counts.

    ``kind``: ``batch`` (verdict accepted, rejected or held), ``grade`` (a settled grade),
    ``payment``, ``annotator`` (paused, resumed), ``pool``, ``settings``, ``overlap``,
    ``forecast``.
    """

    __tablename__ = "decision"
    __table_args__ = (Index("ix_decision_subject", "kind", "subject"),)
    seq: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"), index=True)
    kind: Mapped[str]
    subject: Mapped[str]
    verdict: Mapped[str]
    reason: Mapped[str] = mapped_column(StoredText, default="")
    facts: Mapped[dict[str, Any]]
    decided_by: Mapped[str | None] = mapped_column(ForeignKey("user.id"))
    decided_at: Mapped[datetime] = mapped_column(default=now)


class Export(Base):
    """An export: its settings and the hash of every file."""

    __tablename__ = "export"
    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"), index=True)
    kind: Mapped[str]
    settings: Mapped[dict[str, Any]]
    manifest: Mapped[dict[str, Any]]
    made_by: Mapped[str | None] = mapped_column(ForeignKey("user.id"))
    made_at: Mapped[datetime] = mapped_column(default=now)


class Job(Base):
    """A background job: queued, running with progress and a heartbeat, stopped, or done.

    ``tries`` counts the workers that took the job, without those that shut down in order and
    returned it to the queue.
    """

    __tablename__ = "job"
    __table_args__ = (
        CheckConstraint(is_one_of("state", JOB_STATES), name="state"),
        Index("ix_job_state", "state", "heartbeat_at"),
    )
    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"), index=True)
    kind: Mapped[str]
    settings: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(default="waiting")
    done: Mapped[int] = mapped_column(default=0)
    total: Mapped[int] = mapped_column(default=0)
    message: Mapped[str] = mapped_column(StoredText, default="")
    stop: Mapped[bool] = mapped_column(default=False)
    tries: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    result: Mapped[dict[str, Any] | None]
    worker: Mapped[str | None]
    heartbeat_at: Mapped[datetime | None]
    created_by: Mapped[str | None] = mapped_column(ForeignKey("user.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class JobPart(Base):
    """A finished part of a job (a file, the result for one setting): a stopped job keeps it."""

    __tablename__ = "job_part"
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    content: Mapped[bytes] = deferred(mapped_column(LargeBinary))
    made_at: Mapped[datetime] = mapped_column(default=now)
