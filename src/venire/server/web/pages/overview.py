"""Overview: coverage, pace, time left, alarms."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from venire.server.studies.overview import read_overview
from venire.server.web.deps import CurrentMember, ReadSession
from venire.server.web.pages.common import study_page
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/studies/{study_id}", include_in_schema=False)


@router.get("")
def overview_page(request: Request, member: CurrentMember, session: ReadSession) -> HTMLResponse:
    """Show the state of the study; the page refreshes it every 10 seconds."""
    state = read_overview(session, member.study_id)
    return study_page("overview.html", request, member, session, "", found=state)
