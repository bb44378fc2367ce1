"""What owners look through: their studies, topics, documents, files, gold, batches, members."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Integer, case, func, or_, select
from sqlalchemy.orm import Session

from venire.errors import NotFound
from venire.server.store.judging import Batch, Campaign, Judgment, Task
from venire.server.store.people import Membership, User
from venire.server.store.studies import Document, Gold, Pair, Study, StudyFile, Topic
from venire.server.store.work import Decision
from venire.server.studies.campaigns import sync_study

Row = dict[str, Any]
PAGE = 100
"""Rows of one page of a long list."""


def studies_of(session: Session, user_id: str) -> list[Row]:
    """The studies of an owner or viewer, the newest first, with how far each is."""
    places = (
        select(Campaign.study_id, func.sum(Task.overlap), func.sum(Task.taken))
        .join(Task, Task.campaign_id == Campaign.id)
        .group_by(Campaign.study_id)
    )
    asked = {study: (int(a or 0), int(t or 0)) for study, a, t in session.execute(places)}
    open_ones = select(Campaign.study_id, func.count()).where(Campaign.state == "open")
    opened = dict(session.execute(open_ones.group_by(Campaign.study_id)).all())
    rows = session.execute(
        select(Study.id, Study.name, Study.created_at, Membership.role)
        .join(Membership, Membership.study_id == Study.id)
        .where(Membership.user_id == user_id, Membership.role != "annotator")
        .order_by(Study.created_at.desc(), Study.name)
    )
    return [
        {
            "study_id": study_id,
            "name": name,
            "role": role,
            "created_at": created,
            "open_campaigns": opened.get(study_id, 0),
            "asked": asked.get(study_id, (0, 0))[0],
            "taken": asked.get(study_id, (0, 0))[1],
        }
        for study_id, name, created, role in rows
    ]


def topics(
    session: Session, study_id: str, search: str = "", offset: int = 0, limit: int = PAGE
) -> list[Row]:
    """Topics in their order, with how many pairs of each are in the pool and how many judged."""
    pooled = select(func.count()).where(Pair.topic_id == Topic.id, Pair.pooled).scalar_subquery()
    judged = (
        select(func.count())
        .select_from(Judgment)
        .join(Pair, Pair.id == Judgment.pair_id)
        .where(Pair.topic_id == Topic.id, Judgment.label.is_not(None))
        .scalar_subquery()
    )
    query = select(Topic.query_id, Topic.title, Topic.description, pooled, judged).where(
        Topic.study_id == study_id
    )
    if search:
        query = query.where(
            or_(_holds(Topic.query_id, search), _holds(Topic.title, search))
        )  # fmt: skip
    names = ("query_id", "title", "description", "pool", "judgments")
    found = session.execute(query.order_by(Topic.position).offset(offset).limit(limit))
    return [dict(zip(names, row, strict=True)) for row in found]


def documents(
    session: Session, study_id: str, search: str = "", offset: int = 0, limit: int = PAGE
) -> list[Row]:
    """Documents in their order; their text is not among the columns."""
    query = select(
        Document.doc_id,
        Document.kind,
        Document.title,
        (Document.body.is_not(None) | Document.media.is_not(None)),
    ).where(Document.study_id == study_id)
    if search:
        query = query.where(or_(_holds(Document.doc_id, search), _holds(Document.title, search)))
    names = ("doc_id", "kind", "title", "content")
    found = session.execute(query.order_by(Document.id).offset(offset).limit(limit))
    return [dict(zip(names, row, strict=True)) for row in found]


def _holds(column: Any, text: str) -> Any:
    return column.icontains(text, autoescape=True)


def find_topic(session: Session, study_id: str, query_id: str) -> Topic:
    """The topic of that id in a study."""
    query = select(Topic).where(Topic.study_id == study_id, Topic.query_id == query_id)
    found = session.scalar(query)
    if found is None:
        raise NotFound("topic", query_id)
    return found


def find_document(session: Session, study_id: str, doc_id: str) -> Document:
    """The document of that id in a study, with its text."""
    from sqlalchemy.orm import undefer

    query = select(Document).where(Document.study_id == study_id, Document.doc_id == doc_id)
    found = session.scalar(query.options(undefer(Document.body)))
    if found is None:
        raise NotFound("document", doc_id)
    return found


def pairs_of(
    session: Session, study_id: str, *, query_id: str | None = None, doc_id: str | None = None
) -> list[Row]:
    """Pairs of a topic, or of a document: in the pool or judged, with how often by label given."""
    given = (
        select(Judgment.pair_id, func.count().label("n"))
        .where(Judgment.label.is_not(None))
        .group_by(Judgment.pair_id)
        .subquery()
    )
    query = (
        select(
            Topic.query_id, Topic.title, Document.doc_id, Document.title, Pair.pooled, Pair.rank,
            func.coalesce(given.c.n, 0), Gold.grade,
        )
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Document, Document.id == Pair.document_id)
        .outerjoin(given, given.c.pair_id == Pair.id)
        .outerjoin(Gold, (Gold.pair_id == Pair.id) & Gold.active)
        .where(Pair.study_id == study_id)
    )  # fmt: skip
    if query_id is not None:
        query = query.where(Topic.query_id == query_id)
    if doc_id is not None:
        query = query.where(Document.doc_id == doc_id)
    names = ("query_id", "topic", "doc_id", "document", "pooled", "rank", "judgments", "gold")
    found = session.execute(query.order_by(Pair.pooled.desc(), Pair.rank, Pair.id).limit(1000))
    return [dict(zip(names, row, strict=True)) for row in found]


def files(session: Session, study_id: str) -> list[Row]:
    """Runs, qrels and vectors of a study."""
    names = ("kind", "name", "rows", "sha256", "notes", "added_at")
    columns = [getattr(StudyFile, name) for name in names]
    query = select(*columns).where(StudyFile.study_id == study_id)
    found = session.execute(query.order_by(StudyFile.kind.desc(), StudyFile.name))
    return [dict(zip(names, row, strict=True)) for row in found]


def gold(session: Session, study_id: str, offset: int = 0, limit: int = PAGE) -> list[Row]:
    """Gold with its grade, and whether it is given out."""
    query = (
        select(
            Gold.id, Topic.query_id, Topic.title, Document.doc_id, Document.title,
            Gold.grade, Gold.note, Gold.active,
        )
        .join(Pair, Pair.id == Gold.pair_id)
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Document, Document.id == Pair.document_id)
        .where(Gold.study_id == study_id)
        .order_by(Topic.position, Gold.id)
        .offset(offset)
        .limit(limit)
    )  # fmt: skip
    names = ("gold_id", "query_id", "topic", "doc_id", "document", "grade", "note", "active")
    return [dict(zip(names, row, strict=True)) for row in session.execute(query)]


def set_gold(session: Session, study_id: str, gold_id: int, active: bool, by: str | None) -> None:
    """Give a gold document out no more, or again; campaigns that are open follow at once."""
    one = session.get(Gold, gold_id)
    if one is None or one.study_id != study_id:
        raise NotFound("gold", str(gold_id))
    one.active = active
    session.add(
        Decision(
            study_id=study_id,
            kind="gold",
            subject=str(gold_id),
            verdict="active" if active else "resting",
            facts={},
            decided_by=by,
        )
    )
    session.flush()
    sync_study(session, study_id)


def campaigns(session: Session, study_id: str) -> list[Row]:
    """Campaigns of a study in the order of their waves."""
    places = (
        select(
            Task.campaign_id,
            func.count().label("documents"),
            func.sum(Task.overlap).label("asked"),
            func.sum(Task.taken).label("taken"),
        )
        .where(Task.overlap > 0)
        .group_by(Task.campaign_id)
        .subquery()
    )
    query = (
        select(Campaign, places.c.documents, places.c.asked, places.c.taken)
        .outerjoin(places, places.c.campaign_id == Campaign.id)
        .where(Campaign.study_id == study_id)
        .order_by(Campaign.wave)
    )
    return [
        {
            "campaign_id": one.id,
            "name": one.name,
            "wave": one.wave,
            "state": one.state,
            "settings": one.settings,
            "code_done": one.code_done,
            "code_failed": one.code_failed,
            "created_at": one.created_at,
            "opened_at": one.opened_at,
            "closed_at": one.closed_at,
            "documents": n or 0,
            "asked": int(asked or 0),
            "taken": int(taken or 0),
        }
        for one, n, asked, taken in session.execute(query)
    ]


def batches(
    session: Session,
    study_id: str,
    *,
    annotator_id: str | None = None,
    state: str | None = None,
    offset: int = 0,
    limit: int = PAGE,
) -> list[Row]:
    """Batches, the newest first; ``state`` is open, accepted, rejected, or undecided."""
    query = (
        select(Batch, Campaign.name, User.name)
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .join(User, User.id == Batch.annotator_id)
        .where(Campaign.study_id == study_id)
    )
    if annotator_id:
        query = query.where(Batch.annotator_id == annotator_id)
    if state == "open":
        query = query.where(Batch.state == "open")
    elif state == "undecided":
        query = query.where(Batch.state != "open", Batch.valid.is_(None))
    elif state in ("accepted", "rejected"):
        query = query.where(Batch.valid.is_(state == "accepted"), Batch.kind != "practice")
    query = query.order_by(Batch.opened_at.desc(), Batch.id).offset(offset).limit(limit)
    return [
        {
            "batch_id": one.id,
            "campaign": campaign,
            "annotator_id": one.annotator_id,
            "annotator": name,
            "kind": one.kind,
            "state": one.state,
            "valid": one.valid,
            "reason": one.reason,
            "payment": one.payment,
            "gold_right": one.gold_right,
            "gold_asked": one.gold_asked,
            "opened_at": one.opened_at,
            "finished_at": one.finished_at,
        }
        for one, campaign, name in session.execute(query)
    ]


def batch_totals(session: Session, study_id: str) -> Row:
    """How many batches are open, accepted, rejected, and not paid or refused yet."""
    ended = Batch.state != "open"
    work = Batch.kind != "practice"

    def count(*where: Any) -> Any:
        rule = where[0]
        for more in where[1:]:
            rule = rule & more
        return func.coalesce(func.sum(case((rule, 1), else_=0), type_=Integer), 0)

    row = session.execute(
        select(
            count(~ended),
            count(ended, work, Batch.valid.is_(True)),
            count(ended, work, Batch.valid.is_(False)),
            count(ended, work, Batch.payment == "open"),
        )
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .where(Campaign.study_id == study_id)
    ).one()
    return dict(zip(("open", "accepted", "rejected", "unpaid"), map(int, row), strict=True))


def check_batch(session: Session, study_id: str, batch_id: str) -> None:
    """Refuse a batch that is not of the study."""
    query = (
        select(Batch.id)
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .where(Batch.id == batch_id, Campaign.study_id == study_id)
    )
    if session.scalar(query) is None:
        raise NotFound("batch", batch_id)


def members(session: Session, study_id: str) -> list[Row]:
    """Everybody in a study, with their role."""
    query = (
        select(User.id, User.name, User.login, Membership.role, Membership.joined_at)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.study_id == study_id)
        .order_by(Membership.role, User.name)
    )
    names = ("user_id", "name", "login", "role", "joined_at")
    return [dict(zip(names, row, strict=True)) for row in session.execute(query)]
