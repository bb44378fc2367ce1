"""Tables of campaigns, tasks, batches, leases, events and judgments."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from venire.server.store.base import Base, is_one_of, new_code, new_id, now
from venire.server.store.text import StoredText

FILLS = {
    "live": True,
    "judged": True,
    "cannot": True,
    "skipped": False,
    "expired": False,
    "returned": False,
    "rejected": False,
    "surplus": False,
}
"""States of a lease -> whether a lease in that state fills one of the k places of its document."""

AGAIN = ("expired", "returned")
"""States of a lease after which the same annotator may get the document again."""


class BatchReason(StrEnum):
    """Why a batch counts, does not count, or is held; ``Batch.reason`` says it for people."""

    NOT_REVIEWED = ""
    PRACTICE = "practice"
    QUALIFICATION = "qualification"
    GOLD_RIGHT = "gold-right"
    NO_GOLD = "no-gold"
    GOLD_WRONG = "gold-wrong"
    TOO_FAST = "too-fast"
    ONE_LABEL = "one-label"
    HELD = "held"
    OWNER = "owner"
    PLATFORM = "platform"


class NoLabel(StrEnum):
    """Values of ``Judgment.reason`` that are not a reason of the study why none can be given."""

    WITHDRAWN = "withdrawn"
    SKIPPED = "skipped"


class Campaign(Base):
    """One wave of judging, with its own overlap, batches and rules."""

    __tablename__ = "campaign"
    __table_args__ = (
        UniqueConstraint("study_id", "name"),
        CheckConstraint("state IN ('draft', 'open', 'closed')", name="state"),
    )
    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"))
    name: Mapped[str]
    wave: Mapped[int] = mapped_column(default=1)
    state: Mapped[str] = mapped_column(default="draft")
    settings: Mapped[dict[str, Any]]
    code_done: Mapped[str] = mapped_column(default=new_code)
    code_failed: Mapped[str] = mapped_column(default=new_code)
    created_at: Mapped[datetime] = mapped_column(default=now)
    opened_at: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]


class Task(Base):
    """A pair to be judged in a campaign: ``taken`` of its ``overlap`` places are filled.

    The CHECK constraint rules out, for every program, that ``taken`` exceeds ``overlap``.
    ``ring`` is a random position on a ring; each annotator starts at a random point.
    """

    __tablename__ = "task"
    __table_args__ = (
        UniqueConstraint("campaign_id", "pair_id"),
        CheckConstraint("taken >= 0 AND taken <= overlap", name="cap"),
        Index("ix_task_places", "campaign_id", "topic_id", "overlap", "taken"),
        Index(
            "ix_task_free_topic",
            "campaign_id",
            "topic_id",
            "ring",
            sqlite_where=text("taken < overlap"),
            postgresql_where=text("taken < overlap"),
        ),
        Index(
            "ix_task_free",
            "campaign_id",
            "ring",
            sqlite_where=text("taken < overlap"),
            postgresql_where=text("taken < overlap"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaign.id"))
    pair_id: Mapped[int] = mapped_column(ForeignKey("pair.id"), index=True)
    topic_id: Mapped[int]
    ring: Mapped[float]
    overlap: Mapped[int]
    taken: Mapped[int] = mapped_column(default=0)


class Batch(Base):
    """The documents that one annotator gets at once.

    ``valid`` says whether its judgments count (None: not decided); ``reason_code`` says why, as a
    :class:`BatchReason`, and ``reason`` in words. ``payment`` is independent of ``valid``: an owner
    may pay for work that does not count.
    """

    __tablename__ = "batch"
    __table_args__ = (
        CheckConstraint("kind IN ('work', 'practice', 'qualification')", name="kind"),
        CheckConstraint("state IN ('open', 'finished', 'expired', 'returned')", name="state"),
        CheckConstraint("payment IN ('open', 'approved', 'refused')", name="payment"),
        Index(
            "ix_batch_one_open",
            "campaign_id",
            "annotator_id",
            unique=True,
            sqlite_where=text("state = 'open'"),
            postgresql_where=text("state = 'open'"),
        ),
        Index("ix_batch_campaign_state", "campaign_id", "state", "expires_at"),
        Index("ix_batch_annotator", "annotator_id", "campaign_id", "opened_at"),
        Index(
            "ix_batch_before_work",
            "annotator_id",
            "campaign_id",
            sqlite_where=text("kind <> 'work'"),
            postgresql_where=text("kind <> 'work'"),
        ),
    )
    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaign.id"))
    annotator_id: Mapped[str] = mapped_column(ForeignKey("user.id"))
    kind: Mapped[str] = mapped_column(default="work")
    state: Mapped[str] = mapped_column(default="open")
    valid: Mapped[bool | None]
    payment: Mapped[str] = mapped_column(default="open")
    reason: Mapped[str] = mapped_column(StoredText, default="")
    reason_code: Mapped[str] = mapped_column(
        CheckConstraint(is_one_of("reason_code", BatchReason), name="reason_code"),
        default=BatchReason.NOT_REVIEWED,
        server_default=text("''"),
    )
    gold_asked: Mapped[int] = mapped_column(default=0)
    gold_right: Mapped[int] = mapped_column(default=0)
    outside: Mapped[dict[str, Any] | None]
    opened_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class Lease(Base):
    """One document of a batch. ``task_id`` is None for gold; the browser sees ``id`` only.

    ``cluster`` is the number of the document's group in a grouped batch; None: not in a group.
    """

    __tablename__ = "lease"
    __table_args__ = (
        UniqueConstraint("batch_id", "position"),
        CheckConstraint(is_one_of("state", FILLS), name="state"),
        Index(
            "ix_lease_once",
            "task_id",
            "annotator_id",
            unique=True,
            sqlite_where=text("state NOT IN ('expired', 'returned')"),
            postgresql_where=text("state NOT IN ('expired', 'returned')"),
        ),
        Index(
            "ix_lease_gold",
            "annotator_id",
            "pair_id",
            sqlite_where=text("gold_grade IS NOT NULL"),
            postgresql_where=text("gold_grade IS NOT NULL"),
        ),
    )
    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    batch_id: Mapped[str] = mapped_column(ForeignKey("batch.id"))
    annotator_id: Mapped[str] = mapped_column(ForeignKey("user.id"))
    task_id: Mapped[int | None] = mapped_column(ForeignKey("task.id"))
    pair_id: Mapped[int] = mapped_column(ForeignKey("pair.id"), index=True)
    position: Mapped[int]
    cluster: Mapped[int | None]
    state: Mapped[str] = mapped_column(default="live")
    gold_grade: Mapped[int | None]
    judgment_seq: Mapped[int | None]
    ended_at: Mapped[datetime | None]


class Event(Base):
    """An event as a browser sent it, append-only. ``outcome`` is the answer it got."""

    __tablename__ = "event"
    __table_args__ = (
        Index(
            "ix_event_comment",
            "lease_id",
            sqlite_where=text("kind = 'comment'"),
            postgresql_where=text("kind = 'comment'"),
        ),
    )
    seq: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(unique=True)
    batch_id: Mapped[str] = mapped_column(ForeignKey("batch.id"), index=True)
    lease_id: Mapped[str | None] = mapped_column(ForeignKey("lease.id"), index=True)
    annotator_id: Mapped[str] = mapped_column(ForeignKey("user.id"))
    kind: Mapped[str]
    payload: Mapped[dict[str, Any]]
    outcome: Mapped[dict[str, Any]]
    client_at: Mapped[datetime | None]
    received_at: Mapped[datetime] = mapped_column(default=now)


class Judgment(Base):
    """A label for a lease, or the reason why there is none. Append-only: the last one counts."""

    __tablename__ = "judgment"
    __table_args__ = (
        # Covering indexes for the pace of a campaign and the statistics of annotators.
        Index("ix_judgment_pace", "campaign_id", "judged_at", "active_ms"),
        Index("ix_judgment_work", "campaign_id", "annotator_id", "label", "active_ms"),
    )
    seq: Mapped[int] = mapped_column(primary_key=True)
    event_id: Mapped[str] = mapped_column(index=True)
    lease_id: Mapped[str] = mapped_column(ForeignKey("lease.id"), index=True)
    annotator_id: Mapped[str] = mapped_column(ForeignKey("user.id"))
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaign.id"))
    pair_id: Mapped[int] = mapped_column(ForeignKey("pair.id"), index=True)
    label: Mapped[int | None]
    reason: Mapped[str | None]
    active_ms: Mapped[int | None]
    idle_ms: Mapped[int | None]
    judged_at: Mapped[datetime] = mapped_column(default=now)
