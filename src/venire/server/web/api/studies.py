"""Routes of studies, and of their topics, documents, files and gold."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from venire.errors import NotAllowed
from venire.server.content.instructions import show_instructions
from venire.server.store.studies import Study
from venire.server.studies import documents, files, gold, studies, topics
from venire.server.studies.overview import read_overview
from venire.server.web.api.forms import (
    GoldChange,
    Markdown,
    NewStudy,
    StudyChange,
    example,
    read_form,
)
from venire.server.web.deps import AppStore, CurrentMember, CurrentOwner, CurrentUser, ReadSession
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/api", tags=["studies"])
Search = Annotated[str, Query(max_length=200)]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1)]
Limit = Annotated[int, Query(ge=1, le=1000)]
_STUDY = {
    "study_id": "4nTz0mQ2",
    "name": "Aeronautics",
    "instructions": "# What to do",
    "settings": {"relevant_from": 1, "grades": [{"value": 0, "name": "Not relevant"}]},
}


def _view(study: Study) -> dict[str, Any]:
    return {
        "study_id": study.id,
        "name": study.name,
        "instructions": study.instructions,
        "settings": study.settings,
        "created_at": study.created_at,
    }


@router.get("/studies", responses=example([{"study_id": "4nTz0mQ2", "name": "Aeronautics"}]))
def list_studies(user: CurrentUser, session: ReadSession) -> list[dict[str, Any]]:
    """Return the studies that you own or may view."""
    return studies.list_user_studies(session, user.id)


@router.post("/studies", responses=example({**_STUDY, "next": "/studies/4nTz0mQ2/data"}))
def create_study(user: CurrentUser, store: AppStore, form: NewStudy) -> dict[str, Any]:
    """Create a study. You become its owner."""
    if not user.may_create:
        raise NotAllowed(
            "Your account cannot create studies. Ask the owner of this server.",
            code="may-not-create",
        )
    study = store.write(
        lambda session: studies.create_study(
            session,
            form.name,
            settings=read_form(form.settings),
            instructions=form.instructions,
            owner_id=user.id,
        )
    )
    return {**_view(study), "next": f"/studies/{study.id}/data"}


@router.get("/studies/{study_id}", responses=example(_STUDY))
def get_study(member: CurrentMember, session: ReadSession) -> dict[str, Any]:
    """Return a study with its settings, its instructions, and how much it holds."""
    study = _view(studies.get_study(session, member.study_id))
    return {
        **study,
        "role": member.role,
        "counts": studies.count_contents(session, member.study_id),
    }


@router.patch("/studies/{study_id}", responses=example(_STUDY))
def change_study(owner: CurrentOwner, store: AppStore, form: StudyChange) -> dict[str, Any]:
    """Change name, settings or instructions. What is not named stays."""
    return _view(
        store.write(
            lambda session: studies.change_study(
                session, owner.study_id, owner.user.id, **read_form(form)
            )
        )
    )


@router.get(
    "/studies/{study_id}/overview",
    responses=example({"campaigns": [{"campaign": "Wave 1", "asked": 300, "filled": 120}]}),
)
def get_overview(member: CurrentMember, session: ReadSession) -> dict[str, Any]:
    """Return coverage, pace, time left and alarms."""
    return read_overview(session, member.study_id)


@router.get("/studies/{study_id}/topics", responses=example([{"query_id": "1", "pool": 40}]))
def list_topics(
    member: CurrentMember,
    session: ReadSession,
    search: Search = "",
    offset: Offset = 0,
    limit: Limit = 100,
) -> list[dict[str, Any]]:
    """Return topics in their order."""
    return topics.list_topics(session, member.study_id, search, offset, limit)


@router.get("/studies/{study_id}/documents", responses=example([{"doc_id": "184"}]))
def list_documents(
    member: CurrentMember,
    session: ReadSession,
    search: Search = "",
    offset: Offset = 0,
    limit: Limit = 100,
) -> list[dict[str, Any]]:
    """Return documents in their order, without their text."""
    return documents.list_documents(session, member.study_id, search, offset, limit)


@router.get("/studies/{study_id}/files", responses=example([{"kind": "run", "name": "bm25"}]))
def list_files(member: CurrentMember, session: ReadSession) -> list[dict[str, Any]]:
    """Return runs, qrels and vectors of a study."""
    return files.list_files(session, member.study_id)


@router.get("/studies/{study_id}/gold", responses=example([{"gold_id": 7, "grade": 2}]))
def list_gold(
    member: CurrentMember, session: ReadSession, offset: Offset = 0, limit: Limit = 100
) -> list[dict[str, Any]]:
    """Return gold, the pairs with a known grade. Annotators never see this list."""
    return gold.list_gold(session, member.study_id, offset, limit)


@router.patch("/studies/{study_id}/gold/{gold_id}", responses=example({"active": False}))
def change_gold(
    owner: CurrentOwner, store: AppStore, gold_id: int, form: GoldChange
) -> dict[str, Any]:
    """Set whether a gold document is used in batches."""
    store.write(
        lambda s: gold.set_gold_active(s, owner.study_id, gold_id, form.active, owner.user.id)
    )
    return {"gold_id": gold_id, "active": form.active}


@router.post("/instructions", responses=example({"html": "<p>Be <strong>fair</strong>.</p>"}))
def preview_instructions(user: CurrentUser, form: Markdown) -> dict[str, str]:
    """Return Markdown as annotators will see it: sanitised HTML."""
    return {"html": show_instructions(form.markdown)}
