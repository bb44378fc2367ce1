"""The judge page and what its script asks for. Nothing here says what is gold.

What is sent is plain already: answers are made here, not checked once more by a model.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from venire.server.judging.events import record
from venire.server.judging.next_batch import next_batch
from venire.server.judging.payload import (
    check_access,
    find_completion_code,
    find_image,
    view_batch,
    view_document,
)
from venire.server.store.base import now
from venire.server.web.deps import AppStore, CurrentUser, ReadSession
from venire.server.web.media import media_file
from venire.server.web.rendering import render_page

router = APIRouter(prefix="/judge", include_in_schema=False)


@router.get("/{campaign_id}")
def judge_page(
    request: Request, campaign_id: str, user: CurrentUser, session: ReadSession
) -> HTMLResponse:
    """The page; its script asks for the batch."""
    campaign, study = check_access(session, campaign_id, user.id)
    return render_page("judge.html", request, user=user, campaign=campaign, study=study)


@router.post("/{campaign_id}/next")
def next_one(campaign_id: str, user: CurrentUser, store: AppStore) -> JSONResponse:
    """The open batch, a new one, or what there is instead."""
    found = store.write(lambda session: next_batch(session, campaign_id, user.id, now()))
    with store.reading() as session:
        if found.batch_id is not None:
            batch = view_batch(session, found.batch_id, user.id)
            return JSONResponse({"state": "batch", "batch": batch})
        code = find_completion_code(session, campaign_id, user)
    retry = None if found.retry_at is None else (found.retry_at - now()).total_seconds()
    return JSONResponse({"state": found.state, "retry_seconds": retry, "code": code})


@router.get("/batches/{batch_id}")
def batch(batch_id: str, user: CurrentUser, session: ReadSession) -> JSONResponse:
    """A batch as it stands."""
    return JSONResponse(view_batch(session, batch_id, user.id))


@router.post("/batches/{batch_id}/events")
def events(
    batch_id: str,
    user: CurrentUser,
    store: AppStore,
    events: Annotated[list[dict[str, Any]], Body(embed=True)],
) -> JSONResponse:
    """Take events; each is answered, a repeat as it was the first time."""
    at = now()
    answers = store.write(lambda session: record(session, batch_id, user.id, events, at))
    finished = any(event.get("kind") == "finish" for event in events)
    if not finished:
        return JSONResponse({"answers": answers})
    with store.reading() as session:
        code = find_completion_code(session, None, user, batch_id)
    return JSONResponse({"answers": answers, "code": code})


@router.get("/documents/{lease_id}")
def document(lease_id: str, user: CurrentUser, session: ReadSession) -> JSONResponse:
    """The document of a lease."""
    return JSONResponse(view_document(session, lease_id, user.id))


@router.get("/images/{lease_id}")
def image(request: Request, lease_id: str, user: CurrentUser, session: ReadSession) -> Response:
    """The image of a lease, or its thumbnail."""
    key = find_image(session, lease_id, user.id)
    small = request.query_params.get("size") == "small"
    return media_file(request, key, small=small)
