"""Annotators: how well, how fast, what is odd; their batches."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse

from venire.server.studies import batches, invitations, members
from venire.server.studies.annotators import list_annotators
from venire.server.web.deps import CurrentMember, ReadSession
from venire.server.web.pages.common import study_page

router = APIRouter(prefix="/studies/{study_id}", include_in_schema=False)
STATES = ("open", "accepted", "rejected", "undecided")


@router.get("/annotators")
def annotators_page(
    request: Request,
    member: CurrentMember,
    session: ReadSession,
    annotator: Annotated[str, Query(max_length=100)] = "",
    state: Annotated[str, Query(max_length=20)] = "",
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> HTMLResponse:
    """Show the work of all annotators, and the batches of all or of one."""
    state = state if state in STATES else ""
    return study_page(
        "annotators.html",
        request,
        member,
        session,
        "annotators",
        rows=list_annotators(session, member.study_id),
        totals=batches.count_batches(session, member.study_id),
        batches=batches.list_batches(
            session,
            member.study_id,
            annotator_id=annotator or None,
            state=state or None,
            offset=offset,
            limit=50,
        ),
        members=[
            row
            for row in members.list_members(session, member.study_id)
            if row["role"] != "annotator" or row["login"] is not None
        ],
        invitations=invitations.list_invitations(session, member.study_id)
        if member.role == "owner"
        else [],
        states=STATES,
        annotator=annotator,
        state=state,
        offset=offset,
        step=50,
    )
