"""What the pages of a study share: its tabs, its name, what the user may do."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import HTMLResponse

from venire.server.judging.settings import StudySettings
from venire.server.studies.studies import get_study
from venire.server.web.deps import Member, Reading, page

TABS = {
    "": "Overview",
    "data": "Data",
    "pool": "Pool",
    "simulation": "Simulation",
    "annotation": "Annotation",
    "annotators": "Annotators",
    "agreement": "Agreement",
    "adjudication": "Adjudication",
    "aggregate": "Aggregate",
    "evaluate": "Evaluate",
    "trust": "Trust",
    "crowd": "Crowd",
    "export": "Export",
}


def study_page(
    name: str, request: Request, one: Member, session: Reading, tab: str, **values: Any
) -> HTMLResponse:
    """Render a page of a study, with its tabs."""
    study = get_study(session, one.study_id)
    return page(
        name,
        request,
        user=one.user,
        study=study,
        settings=StudySettings.of(study.settings),
        role=one.role,
        may_change=one.role == "owner",
        tabs=TABS,
        tab=tab,
        api=f"/api/studies/{study.id}",
        here=f"/studies/{study.id}",
        **values,
    )
