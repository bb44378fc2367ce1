"""Data: topics, documents, runs, qrels, gold."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse

from venire.server.studies import documents, files, gold, listing, topics
from venire.server.studies.studies import count_contents
from venire.server.web.deps import CurrentMember, ReadSession
from venire.server.web.pages.common import study_page
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/studies/{study_id}", include_in_schema=False)
PARTS = ("topics", "documents", "files", "gold")


@router.get("/data")
def data_page(
    request: Request,
    member: CurrentMember,
    session: ReadSession,
    part: Annotated[str, Query(max_length=20)] = "topics",
    search: Annotated[str, Query(max_length=200)] = "",
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> HTMLResponse:
    """Show topics, documents, files or gold of a study, with upload forms."""
    part = part if part in PARTS else "topics"
    rows = {
        "topics": lambda: topics.list_topics(session, member.study_id, search, offset),
        "documents": lambda: documents.list_documents(session, member.study_id, search, offset),
        "files": lambda: files.list_files(session, member.study_id),
        "gold": lambda: gold.list_gold(session, member.study_id, offset),
    }[part]()
    return study_page(
        "data.html",
        request,
        member,
        session,
        "data",
        counts=count_contents(session, member.study_id),
        part=part,
        rows=rows,
        search=search,
        offset=offset,
        step=listing.PAGE_ROWS,
    )
