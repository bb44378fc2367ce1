"""Annotators: how well, how fast, what is odd; their batches."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import HTMLResponse

from venire.server.jobs.queue import list_jobs
from venire.server.studies import batches, invitations, members
from venire.server.studies.annotators import list_annotators
from venire.server.web.deps import CurrentMember, ReadSession
from venire.server.web.pages.analysis import read_names, read_rows, show_names
from venire.server.web.pages.common import study_page
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/studies/{study_id}", include_in_schema=False)
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
        **_read_aggregation(session, member.study_id),
        states=STATES,
        annotator=annotator,
        state=state,
        offset=offset,
        step=50,
    )


def _read_aggregation(session: Session, study_id: str) -> dict[str, Any]:
    """Return what the newest aggregation says of the annotators; nothing without one.

    ``aggregation`` is the job, ``spamminess`` the estimate of each annotator by their ID, and
    ``agreeing`` the pairs who agree more than the grades predict.
    """
    done = [job for job in list_jobs(session, study_id, "aggregate") if job.state == "done"]
    job = done[0] if done else None
    rows = read_rows(session, job, "annotators")
    return {
        "aggregation": job,
        "spamminess": {row["annotator_id"]: row for row in rows if "exclude" in row},
        "agreeing": show_names(
            read_rows(session, job, "agreeing_pairs"), read_names(session, study_id)
        ),
    }
