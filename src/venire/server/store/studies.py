"""Tables of studies: topics, documents, files, pairs, gold."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, LargeBinary, UniqueConstraint, false
from sqlalchemy.orm import Mapped, deferred, mapped_column

from venire.server.store.base import Base, is_one_of, new_id, now
from venire.server.store.text import StoredText

DOCUMENT_KINDS = ("text", "html", "entity", "image")
FILE_KINDS = ("run", "qrels", "vectors")


class Study(Base):
    """A judging project. ``settings`` holds the fields of ``StudySettings``."""

    __tablename__ = "study"
    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    settings: Mapped[dict[str, Any]]
    instructions: Mapped[str] = mapped_column(StoredText, default="")
    created_by: Mapped[str | None] = mapped_column(ForeignKey("user.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)


class Topic(Base):
    """A topic (information need). ``query_id`` is opaque, case-sensitive text."""

    __tablename__ = "topic"
    __table_args__ = (UniqueConstraint("study_id", "query_id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"))
    query_id: Mapped[str] = mapped_column(StoredText)
    title: Mapped[str] = mapped_column(StoredText, default="")
    description: Mapped[str] = mapped_column(StoredText, default="")
    narrative: Mapped[str] = mapped_column(StoredText, default="")
    position: Mapped[int] = mapped_column(default=0)


class Document(Base):
    """A document to judge. ``body`` is text, HTML or N-Triples; ``media`` is the image's key."""

    __tablename__ = "document"
    __table_args__ = (
        UniqueConstraint("study_id", "doc_id"),
        CheckConstraint(is_one_of("kind", DOCUMENT_KINDS), name="kind"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"))
    doc_id: Mapped[str] = mapped_column(StoredText)
    kind: Mapped[str]
    title: Mapped[str] = mapped_column(StoredText, default="")
    body: Mapped[str | None] = deferred(mapped_column(StoredText))
    media: Mapped[str | None] = mapped_column(StoredText)


class StudyFile(Base):
    """A run, qrels or vectors of a study, stored as Parquet."""

    __tablename__ = "study_file"
    __table_args__ = (
        UniqueConstraint("study_id", "kind", "name"),
        CheckConstraint(is_one_of("kind", FILE_KINDS), name="kind"),
    )
    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"))
    kind: Mapped[str]
    name: Mapped[str] = mapped_column(StoredText)
    content: Mapped[bytes] = deferred(mapped_column(LargeBinary))
    rows: Mapped[int]
    sha256: Mapped[str]
    notes: Mapped[list[Any]]
    added_at: Mapped[datetime] = mapped_column(default=now)


class Pair(Base):
    """A (topic, document) pair. ``pooled``: it is in the current pool. Pairs are never deleted."""

    __tablename__ = "pair"
    __table_args__ = (UniqueConstraint("topic_id", "document_id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"), index=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"))
    rank: Mapped[int] = mapped_column(default=0)
    pooled: Mapped[bool] = mapped_column(default=False)
    cluster: Mapped[int | None]


class Gold(Base):
    """A pair with a known grade: hidden in batches, never handed out as a task.

    ``practice`` gold is shown with its grade in practice batches, and is in no other batch.
    """

    __tablename__ = "gold"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"))
    pair_id: Mapped[int] = mapped_column(ForeignKey("pair.id"), unique=True)
    grade: Mapped[int]
    note: Mapped[str] = mapped_column(StoredText, default="")
    active: Mapped[bool] = mapped_column(default=True)
    practice: Mapped[bool] = mapped_column(default=False, server_default=false())
