"""Build what the judge page gets: the batch and its documents, without any hint of gold."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, func, select
from sqlalchemy.orm import Session, undefer

from venire.errors import NotAllowed, NotFound
from venire.formats.study_settings import CampaignSettings, StudySettings
from venire.server.content.entity import show_entity
from venire.server.content.instructions import show_instructions
from venire.server.content.page import show_html
from venire.server.content.text import show_text
from venire.server.judging.pausing import check_member
from venire.server.store.judging import Batch, Campaign, Judgment, Lease
from venire.server.store.people import Membership, User
from venire.server.store.studies import Document, Pair, Study, Topic


def check_access(session: Session, campaign_id: str, user_id: str) -> tuple[Campaign, Study]:
    """Return the campaign and its study, if the user may judge in it.

    Raises
    ------
    NotFound
        No such campaign, or the user is not in its study.
    NotAllowed
        The user is a viewer (code ``viewer``).
    """
    campaign = session.get(Campaign, campaign_id)
    member = session.get(Membership, (campaign.study_id, user_id)) if campaign else None
    if campaign is None or member is None:
        raise NotFound("campaign", campaign_id)
    if member.role == "viewer":
        raise NotAllowed(
            "Viewers cannot judge. Ask an owner of the study to make you an annotator.",
            code="viewer",
        )
    return campaign, session.get_one(Study, campaign.study_id)


def view_batch(session: Session, batch_id: str, annotator_id: str) -> dict[str, Any]:
    """Return a batch as its annotator sees it: grades, topics, documents in order, own labels.

    Gold and real documents have the same fields. Runs, ranks, scores and the labels of others are
    left out.
    """
    execute = session.connection().execute
    batch = execute(_BATCH, {"batch": batch_id}).first()
    if batch is None or batch.annotator_id != annotator_id:
        raise NotFound("batch", batch_id)
    check_member(batch.role, batch.paused_at, NotFound("batch", batch_id))
    settings = StudySettings.of(batch.study_settings)
    rows = execute(_ITEMS, {"batch": batch_id}).all()
    topics: dict[int, Any] = {}
    for row in rows:
        topics.setdefault(row.topic_id, row)
    numbers = {topic_id: number for number, topic_id in enumerate(topics)}
    return {
        "batch": batch_id,
        "kind": "practice" if batch.kind == "practice" else "work",
        "state": batch.state,
        "minutes": CampaignSettings.of(batch.settings).minutes,
        "grouped": any(row.cluster is not None for row in rows),
        "relevant_from": settings.relevant_from,
        "study": batch.name,
        "instructions": _render_instructions(batch.instructions),
        "grades": add_keys(settings),
        "reasons": settings.cannot_judge,
        "topics": [
            {
                "title": topic.title or topic.query_id,
                "description": topic.description,
                "narrative": topic.narrative,
            }
            for topic in topics.values()
        ],
        "items": [
            {
                "lease": row.id,
                "group": row.cluster,
                "kind": row.kind,
                "topic": numbers[row.topic_id],
                "state": _hide_review(row.state),
                "label": row.label,
                "reason": row.reason,
            }
            for row in rows
        ],
    }


def _is_member_of(study_id: Any, user_id: Any) -> ColumnElement[bool]:
    return and_(Membership.study_id == study_id, Membership.user_id == user_id)


# Statements are built once: building one takes longer than running it.
_BATCH = (
    select(
        Batch.annotator_id,
        Batch.kind,
        Batch.state,
        Campaign.settings,
        Study.settings.label("study_settings"),
        Study.name,
        Study.instructions,
        Membership.role,
        Membership.paused_at,
    )
    .join(Campaign, Campaign.id == Batch.campaign_id)
    .join(Study, Study.id == Campaign.study_id)
    .outerjoin(Membership, _is_member_of(Study.id, Batch.annotator_id))
    .where(Batch.id == bindparam("batch"))
)
_ITEMS = (
    select(
        Lease.id,
        Lease.cluster,
        Lease.state,
        Pair.topic_id,
        Judgment.label,
        Judgment.reason,
        Document.kind,
        Topic.query_id,
        Topic.title,
        Topic.description,
        Topic.narrative,
    )
    .join(Pair, Pair.id == Lease.pair_id)
    .join(Document, Document.id == Pair.document_id)
    .join(Topic, Topic.id == Pair.topic_id)
    .outerjoin(Judgment, Judgment.seq == Lease.judgment_seq)
    .where(Lease.batch_id == bindparam("batch"))
    .order_by(Lease.position)
)
# The same instructions are shown with every batch.
_render_instructions = lru_cache(maxsize=32)(show_instructions)


def _hide_review(state: str) -> str:
    """Return the state of a lease without what the review of its batch made of it."""
    return "judged" if state in ("rejected", "surplus") else state


def add_keys(settings: StudySettings) -> list[dict[str, Any]]:
    """Return the grades with their keys: the value if all are digits, else the position from 1."""
    values = settings.values
    digits = all(0 <= value <= 9 for value in values)
    return [
        {**grade, "key": str(grade["value"] if digits else position % 10)}
        for position, grade in enumerate(settings.grades, 1)
    ]


def view_document(session: Session, lease_id: str, annotator_id: str) -> dict[str, Any]:
    """Return the document of a lease, ready to be shown to the annotator of the lease."""
    row = session.execute(_DOCUMENT, {"lease": lease_id}).first()
    if row is None or row.annotator_id != annotator_id:
        raise NotFound("document", lease_id)
    check_member(row.role, row.paused_at, NotFound("document", lease_id))
    return {
        "lease": lease_id,
        **view_content(row.Document, row.title, StudySettings.of(row.settings)),
    }


_DOCUMENT = (
    select(
        Lease.annotator_id,
        Document,
        Topic.title,
        Study.settings,
        Membership.role,
        Membership.paused_at,
    )
    .join(Pair, Pair.id == Lease.pair_id)
    .join(Document, Document.id == Pair.document_id)
    .join(Topic, Topic.id == Pair.topic_id)
    .join(Study, Study.id == Document.study_id)
    .outerjoin(Membership, _is_member_of(Study.id, Lease.annotator_id))
    .where(Lease.id == bindparam("lease"))
    .options(undefer(Document.body))
)


def view_content(document: Document, query: str, settings: StudySettings) -> dict[str, Any]:
    """Return a document of any kind as plain data, which the browser shows as text.

    The exception is HTML, which is sanitised and shown in a frame without scripts.
    """
    if document.kind == "image":
        return {"kind": "image", "title": document.title, "missing": document.media is None}
    if document.body is None:
        return {"kind": "none", "title": document.title or document.doc_id}
    if document.kind == "entity":
        entity = show_entity(document.body, document.doc_id, languages=tuple(settings.languages))
        return {"kind": "entity", "links": settings.show_links, **asdict(entity)}
    if document.kind == "html":
        return {"kind": "html", "title": document.title, "html": show_html(document.body)}
    return {"kind": "text", **asdict(show_text(document.title, document.body, query))}


def find_image(session: Session, lease_id: str, annotator_id: str) -> str:
    """Return the media key of the image of a lease, for the annotator of the lease."""
    row = session.connection().execute(_IMAGE, {"lease": lease_id}).first()
    if row is None or row.annotator_id != annotator_id:
        raise NotFound("document", lease_id)
    check_member(row.role, row.paused_at, NotFound("document", lease_id))
    if row.media is None:
        raise NotFound("image", lease_id)
    key: str = row.media
    return key


_IMAGE = (
    select(Lease.annotator_id, Document.media, Membership.role, Membership.paused_at)
    .join(Pair, Pair.id == Lease.pair_id)
    .join(Document, Document.id == Pair.document_id)
    .outerjoin(Membership, _is_member_of(Document.study_id, Lease.annotator_id))
    .where(Lease.id == bindparam("lease"))
)


def find_completion_code(
    session: Session, campaign_id: str | None, user: User, batch_id: str | None = None
) -> str | None:
    """Return the completion code for a worker of a crowd platform; None for everybody else.

    It is the code of the batch, or of the worker's last batch: ``code_done`` where the batch
    counts, else ``code_failed``.
    """
    if user.worker is None:
        return None
    query = select(Batch).where(Batch.annotator_id == user.id, Batch.kind == "work")
    query = query.where(Batch.id == batch_id) if batch_id else query
    query = query.where(Batch.campaign_id == campaign_id) if campaign_id else query
    batch = session.scalar(
        query.where(Batch.state != "open").order_by(Batch.finished_at.desc()).limit(1)
    )
    if batch is None:
        return None
    campaign = session.get_one(Campaign, batch.campaign_id)
    return campaign.code_done if batch.valid else campaign.code_failed


def list_completion_codes(session: Session, user: User) -> list[dict[str, Any]]:
    """Return the completion codes of a worker's reviewed batches, the latest first.

    ``campaign, batch`` (its number among the worker's batches in the campaign), ``documents``
    (answered), ``finished_at, code``; empty for users who are not workers of a platform.
    """
    if user.worker is None:
        return []
    answered = func.count(Lease.judgment_seq)
    rows = session.execute(
        select(Batch.valid, Batch.finished_at, Campaign, answered)
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .outerjoin(Lease, Lease.batch_id == Batch.id)
        .where(Batch.annotator_id == user.id, Batch.kind == "work", Batch.valid.is_not(None))
        .group_by(Batch.id, Campaign.id)
        .order_by(Batch.opened_at, Batch.id)
    ).all()
    numbers: Counter[str] = Counter()
    out = []
    for valid, finished_at, campaign, documents in rows:
        numbers[campaign.id] += 1
        out.append(
            {
                "campaign": campaign.name,
                "batch": numbers[campaign.id],
                "documents": documents,
                "finished_at": finished_at,
                "code": campaign.code_done if valid else campaign.code_failed,
            }
        )
    return out[::-1]
