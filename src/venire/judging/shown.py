"""What a browser is sent: the batch and its documents, and nothing that tells gold from real."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session, undefer

from venire.content.entity import show_entity
from venire.content.instructions import show_instructions
from venire.content.page import show_html
from venire.content.text import show_text
from venire.errors import NotAllowed, NotFound
from venire.judging.settings import CampaignSettings, StudySettings
from venire.store.judging import Batch, Campaign, Judgment, Lease
from venire.store.people import Membership, User
from venire.store.studies import Document, Pair, Study, Topic


def may_enter(session: Session, campaign_id: str, user_id: str) -> tuple[Campaign, Study]:
    """The campaign and its study, for those who may judge in it."""
    campaign = session.get(Campaign, campaign_id)
    member = session.get(Membership, (campaign.study_id, user_id)) if campaign else None
    if campaign is None or member is None:
        raise NotFound("campaign", campaign_id)
    if member.role == "viewer":
        raise NotAllowed("viewers do not judge; ask an owner of the study to make you an annotator")
    return campaign, session.get_one(Study, campaign.study_id)


def batch_view(session: Session, batch_id: str, annotator_id: str) -> dict[str, Any]:
    """A batch as its annotator sees it: grades, topics, documents in order, their own labels.

    Gold and real documents have the same fields; neither runs, ranks, scores nor the labels of
    others are in it.
    """
    batch = session.get(Batch, batch_id)
    if batch is None or batch.annotator_id != annotator_id:
        raise NotFound("batch", batch_id)
    campaign = session.get_one(Campaign, batch.campaign_id)
    study = session.get_one(Study, campaign.study_id)
    settings = StudySettings.of(study.settings)
    rows = session.execute(
        select(Lease, Pair.topic_id, Judgment.label, Judgment.reason, Document.kind)
        .join(Pair, Pair.id == Lease.pair_id)
        .join(Document, Document.id == Pair.document_id)
        .outerjoin(Judgment, Judgment.seq == Lease.judgment_seq)
        .where(Lease.batch_id == batch_id)
        .order_by(Lease.position)
    ).all()
    topics = list(dict.fromkeys(topic for _, topic, *_ in rows))
    needs = {
        topic.id: topic for topic in session.scalars(select(Topic).where(Topic.id.in_(topics)))
    }
    return {
        "batch": batch.id,
        "kind": "practice" if batch.kind == "practice" else "work",
        "state": batch.state,
        "minutes": CampaignSettings.of(campaign.settings).minutes,
        "grouped": any(lease.cluster is not None for lease, *_ in rows),
        "relevant_from": settings.relevant_from,
        "study": study.name,
        "instructions": show_instructions(study.instructions),
        "grades": with_keys(settings),
        "reasons": settings.cannot_judge,
        "topics": [
            {
                "title": needs[topic].title or needs[topic].query_id,
                "description": needs[topic].description,
                "narrative": needs[topic].narrative,
            }
            for topic in topics
        ],
        "items": [
            {
                "lease": lease.id,
                "group": lease.cluster,
                "kind": kind,
                "topic": topics.index(topic),
                "state": _own(lease.state),
                "label": label,
                "reason": reason,
            }
            for lease, topic, label, reason, kind in rows
        ],
    }


def _own(state: str) -> str:
    """The state as the annotator knows it: that a batch was rejected is not told by document."""
    return "judged" if state in ("rejected", "surplus") else state


def with_keys(settings: StudySettings) -> list[dict[str, Any]]:
    """Each grade with its key: its own value where all are digits, else its place from 1."""
    values = settings.values
    digits = all(0 <= value <= 9 for value in values)
    return [
        {**grade, "key": str(grade["value"] if digits else place % 10)}
        for place, grade in enumerate(settings.grades, 1)
    ]


def _lease(session: Session, lease_id: str, annotator_id: str) -> Lease:
    lease = session.get(Lease, lease_id)
    if lease is None or lease.annotator_id != annotator_id:
        raise NotFound("document", lease_id)
    return lease


def document_view(session: Session, lease_id: str, annotator_id: str) -> dict[str, Any]:
    """The document of a lease, ready to be shown; only to whom it was given."""
    lease = _lease(session, lease_id, annotator_id)
    row = session.execute(
        select(Document, Topic, Study)
        .join(Pair, Pair.document_id == Document.id)
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Study, Study.id == Document.study_id)
        .where(Pair.id == lease.pair_id)
        .options(undefer(Document.body))
    ).one()
    document, topic, study = row
    return {"lease": lease.id, **content(document, topic.title, StudySettings.of(study.settings))}


def content(document: Document, query: str, settings: StudySettings) -> dict[str, Any]:
    """A document of any kind as plain data; the browser makes text of it, never HTML.

    The one exception is HTML itself, which is cleaned and shown in a frame without scripts.
    """
    if document.kind == "image":
        return {"kind": "image", "title": document.title, "missing": document.media is None}
    if document.body is None:
        return {"kind": "none", "title": document.title or document.doc_id}
    if document.kind == "entity":
        shown = show_entity(document.body, document.doc_id, languages=tuple(settings.languages))
        return {"kind": "entity", "links": settings.show_links, **asdict(shown)}
    if document.kind == "html":
        return {"kind": "html", "title": document.title, "html": show_html(document.body)}
    return {"kind": "text", **asdict(show_text(document.title, document.body, query))}


def image_of(session: Session, lease_id: str, annotator_id: str) -> str:
    """The media key of a lease's image."""
    lease = _lease(session, lease_id, annotator_id)
    key = session.scalar(
        select(Document.media)
        .join(Pair, Pair.document_id == Document.id)
        .where(Pair.id == lease.pair_id)
    )
    if key is None:
        raise NotFound("image", lease_id)
    return key


def completion(
    session: Session, campaign_id: str | None, user: User, batch_id: str | None = None
) -> str | None:
    """The code that a platform's worker takes back; None for everybody else.

    It is that of the batch, or of the worker's last one: the code of work done where it counts,
    the other one where it does not.
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


def codes(session: Session, user: User) -> list[dict[str, Any]]:
    """The codes of a platform's worker, of every batch that was handed in, the last one first.

    ``campaign, batch`` (its number among the worker's in that campaign), ``documents`` (answered),
    ``finished_at, code``; nothing for everybody else.
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
