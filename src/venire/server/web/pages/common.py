"""Render a page of a study with its tabs."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import HTMLResponse

from venire.formats.study_settings import StudySettings
from venire.server.studies.studies import get_study
from venire.server.web.deps import Member, ReadSession
from venire.server.web.rendering import render_page

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
    name: str, request: Request, member: Member, session: ReadSession, tab: str, **values: Any
) -> HTMLResponse:
    """Render a page of a study, with its tabs."""
    study = get_study(session, member.study_id)
    return render_page(
        name,
        request,
        user=member.user,
        study=study,
        settings=StudySettings.of(study.settings),
        role=member.role,
        may_change=member.role == "owner",
        tabs=TABS,
        tab=tab,
        api=f"/api/studies/{study.id}",
        here=f"/studies/{study.id}",
        **values,
    )
