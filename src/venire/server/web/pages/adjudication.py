"""Adjudication, and the pages of a topic and of a document with all that happened to them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, Response

from venire.errors import NotFound
from venire.formats.study_settings import StudySettings
from venire.server.judging.payload import view_content
from venire.server.studies import adjudication, documents, pairs, topics
from venire.server.studies.history import read_history
from venire.server.studies.studies import get_study
from venire.server.web.deps import CurrentMember, ReadSession
from venire.server.web.media import media_file
from venire.server.web.pages.common import study_page
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/studies/{study_id}", include_in_schema=False)
Text = Annotated[str, Query(max_length=2000)]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1)]
QUEUE = 50


def view_document(session: ReadSession, study_id: str, doc_id: str, query: str) -> dict[str, Any]:
    """Return the content of a document as annotators see it, for the page's script."""
    settings = StudySettings.of(get_study(session, study_id).settings)
    document = documents.find_document(session, study_id, doc_id)
    return view_content(document, query, settings)


@router.get("/adjudication")
def adjudication_page(
    request: Request,
    member: CurrentMember,
    session: ReadSession,
    pair: Annotated[int | None, Query(ge=0, le=2**62)] = None,
    settled: bool = False,
    offset: Offset = 0,
) -> HTMLResponse:
    """Show disagreements, and the selected one with its document and labels."""
    rows, total = adjudication.list_disagreements(
        session, member.study_id, settled=settled, limit=QUEUE, offset=offset
    )
    chosen = pair if pair is not None else rows[0]["pair_id"] if rows else None
    detail = document = topic = None
    if chosen is not None:
        detail = adjudication.read_details(session, member.study_id, chosen)
        document = view_document(session, member.study_id, detail["doc_id"], detail["topic"])
        topic = topics.find_topic(session, member.study_id, detail["query_id"])
    ids = [row["pair_id"] for row in rows]
    after = ids[ids.index(chosen) + 1 :] if chosen in ids else ids
    return study_page(
        "adjudication.html",
        request,
        member,
        session,
        "adjudication",
        rows=rows,
        total=total,
        detail=detail,
        document=document,
        topic=topic,
        after=after[0] if after else None,
        settled=settled,
        offset=offset,
        step=QUEUE,
    )


@router.get("/topic")
def topic_page(
    request: Request, member: CurrentMember, session: ReadSession, query_id: Text
) -> HTMLResponse:
    """Show a topic: its documents, and every event behind their grades."""
    return study_page(
        "topic.html",
        request,
        member,
        session,
        "data",
        topic=topics.find_topic(session, member.study_id, query_id),
        pairs=pairs.list_pairs(session, member.study_id, query_id=query_id),
        events=read_history(session, member.study_id, query_id),
    )


@router.get("/document")
def document_page(
    request: Request, member: CurrentMember, session: ReadSession, doc_id: Text, query_id: Text = ""
) -> HTMLResponse:
    """Show a document: its content, its topics, and every event behind a grade."""
    document_row = documents.find_document(session, member.study_id, doc_id)
    topic_pairs = pairs.list_pairs(session, member.study_id, doc_id=doc_id)
    topic = topics.find_topic(session, member.study_id, query_id) if query_id else None
    query = topic.title if topic is not None else ""
    return study_page(
        "document.html",
        request,
        member,
        session,
        "data",
        found=document_row,
        document=view_document(session, member.study_id, doc_id, query),
        pairs=topic_pairs,
        topic=topic,
        events=read_history(session, member.study_id, query_id, doc_id) if query_id else [],
    )


@router.get("/image")
def image(request: Request, member: CurrentMember, session: ReadSession, doc_id: Text) -> Response:
    """Return the image of a document."""
    document = documents.find_document(session, member.study_id, doc_id)
    if document.media is None:
        raise NotFound("image", doc_id)
    return media_file(request, document.media)
