"""Annotators: how well, how fast, what is odd; their batches."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse

from venire.server.studies import accounts as people
from venire.server.studies import lists
from venire.server.studies.annotators import annotators
from venire.server.web.deps import AMember, Reading
from venire.server.web.pages.common import study_page

router = APIRouter(prefix="/studies/{study_id}", include_in_schema=False)
STATES = ("open", "accepted", "rejected", "undecided")


@router.get("/annotators")
def annotators_page(
    request: Request,
    one: AMember,
    session: Reading,
    annotator: Annotated[str, Query(max_length=100)] = "",
    state: Annotated[str, Query(max_length=20)] = "",
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> HTMLResponse:
    """Everybody's work, and the batches of all or of one."""
    state = state if state in STATES else ""
    return study_page(
        "annotators.html",
        request,
        one,
        session,
        "annotators",
        rows=annotators(session, one.study_id),
        totals=lists.batch_totals(session, one.study_id),
        batches=lists.batches(
            session,
            one.study_id,
            annotator_id=annotator or None,
            state=state or None,
            offset=offset,
            limit=50,
        ),
        members=[row for row in lists.members(session, one.study_id) if row["role"] != "annotator"],
        invitations=people.invitations(session, one.study_id) if one.role == "owner" else [],
        states=STATES,
        annotator=annotator,
        state=state,
        offset=offset,
        step=50,
    )
