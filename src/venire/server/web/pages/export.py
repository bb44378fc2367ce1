"""Export: what can be taken out, how, and what was taken out before."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from venire.server.studies import campaigns, exports
from venire.server.studies.studies import count_contents
from venire.server.web.deps import CurrentMember, ReadSession
from venire.server.web.pages.analysis import list_sources
from venire.server.web.pages.common import study_page
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/studies/{study_id}", include_in_schema=False)


@router.get("/export")
def export_page(request: Request, member: CurrentMember, session: ReadSession) -> HTMLResponse:
    """Show export formats, and earlier exports."""
    folder = request.app.state.exports
    made = exports.list_exports(session, member.study_id)
    return study_page(
        "export.html",
        request,
        member,
        session,
        "export",
        kinds=exports.EXPORT_KINDS,
        made=[(row, (folder / f"{row.id}.zip").is_file()) for row in made],
        campaigns=campaigns.list_campaigns(session, member.study_id),
        counts=count_contents(session, member.study_id),
        sources=list_sources(session, member.study_id)["sources"],
    )
