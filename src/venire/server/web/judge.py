"""Routes of the judge page and of its script. No answer gives gold away.

The answers hold plain values already, so they are sent without a response model.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from venire.server.judging.events import record
from venire.server.judging.next_batch import open_next_batch
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
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/judge", include_in_schema=False)


@router.get("/{campaign_id}")
def show_judge_page(
    request: Request, campaign_id: str, user: CurrentUser, session: ReadSession
) -> HTMLResponse:
    """Show the page; its script asks for the batch."""
    campaign, study = check_access(session, campaign_id, user.id)
    return render_page("judge.html", request, user=user, campaign=campaign, study=study)


@router.post("/{campaign_id}/next")
def get_next_batch(campaign_id: str, user: CurrentUser, store: AppStore) -> JSONResponse:
    """Return the open batch or a new one, else when to ask again, or that nothing is left."""
    step = store.write(lambda session: open_next_batch(session, campaign_id, user.id, now()))
    with store.reading() as session:
        if step.batch_id is not None:
            batch = view_batch(session, step.batch_id, user.id)
            return JSONResponse({"state": "batch", "batch": batch})
        code = find_completion_code(session, campaign_id, user)
    retry = None if step.retry_at is None else (step.retry_at - now()).total_seconds()
    return JSONResponse({"state": step.state, "retry_seconds": retry, "code": code})


@router.get("/batches/{batch_id}")
def get_batch(batch_id: str, user: CurrentUser, session: ReadSession) -> JSONResponse:
    """Return a batch with the labels it has."""
    return JSONResponse(view_batch(session, batch_id, user.id))


@router.post("/batches/{batch_id}/events")
def post_events(
    batch_id: str,
    user: CurrentUser,
    store: AppStore,
    events: Annotated[list[dict[str, Any]], Body(embed=True)],
) -> JSONResponse:
    """Record events, and answer each; a repeated event gets its first answer."""
    received_at = now()
    answers = store.write(lambda session: record(session, batch_id, user.id, events, received_at))
    finished = any(event.get("kind") == "finish" for event in events)
    if not finished:
        return JSONResponse({"answers": answers})
    with store.reading() as session:
        code = find_completion_code(session, None, user, batch_id)
    return JSONResponse({"answers": answers, "code": code})


@router.get("/documents/{lease_id}")
def get_document(lease_id: str, user: CurrentUser, session: ReadSession) -> JSONResponse:
    """Return the document of a lease."""
    return JSONResponse(view_document(session, lease_id, user.id))


@router.get("/images/{lease_id}")
def get_image(request: Request, lease_id: str, user: CurrentUser, session: ReadSession) -> Response:
    """Return the image of a lease, or its thumbnail."""
    key = find_image(session, lease_id, user.id)
    small = request.query_params.get("size") == "small"
    return media_file(request, key, small=small)
