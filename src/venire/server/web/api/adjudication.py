"""Disagreements, what is decided about them, and what happened to a topic or a document."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from venire.server.studies import adjudication, pairs
from venire.server.studies.history import read_history
from venire.server.web.api.forms import Settlement, example
from venire.server.web.api.studies import Limit, Offset
from venire.server.web.deps import AppStore, CurrentMember, CurrentOwner, ReadSession
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/api/studies/{study_id}", tags=["adjudication"])
Text = Annotated[str, Query(max_length=2000)]
_ROW = {"query_id": "1", "doc_id": "184", "labels": {"0": 2, "2": 1}, "settled": None}


@router.get("/adjudication", responses=example({"total": 31, "rows": [_ROW]}))
def list_disagreements(
    member: CurrentMember,
    session: ReadSession,
    job_id: Annotated[str | None, Query(max_length=100)] = None,
    settled: bool = False,
    offset: Offset = 0,
    limit: Limit = 50,
) -> dict[str, Any]:
    """List pairs with different labels, highest entropy first."""
    rows, total = adjudication.list_disagreements(
        session, member.study_id, job_id=job_id, settled=settled, offset=offset, limit=limit
    )
    return {"total": total, "rows": rows}


@router.post("/adjudication", responses=example({"pair_id": 77, "grade": 2}))
def settle(owner: CurrentOwner, store: AppStore, form: Settlement) -> dict[str, Any]:
    """Settle the grade of a pair, or withdraw what was settled; the judgments stay."""

    def work(session: Any) -> int:
        pair = pairs.find_pair(session, owner.study_id, form.query_id, form.doc_id)
        if form.grade is None:
            adjudication.unsettle(session, owner.study_id, pair, owner.user.id, form.reason)
        else:
            adjudication.settle(
                session, owner.study_id, pair, form.grade, owner.user.id, form.reason
            )
        return pair

    return {"pair_id": store.write(work), "grade": form.grade}


@router.get("/pair", responses=example({**_ROW, "judgments": [{"label": 0, "counts": True}]}))
def get_pair(
    member: CurrentMember, session: ReadSession, query_id: Text, doc_id: Text
) -> dict[str, Any]:
    """Return a pair with its labels, comments and decisions."""
    pair = pairs.find_pair(session, member.study_id, query_id, doc_id)
    return adjudication.read_details(session, member.study_id, pair)


@router.get(
    "/history", responses=example([{"at": "2026-01-05T09:30:00Z", "what": "judgment"}])
)  # fmt: skip
def get_history(
    member: CurrentMember, session: ReadSession, query_id: Text, doc_id: Text | None = None
) -> list[dict[str, Any]]:
    """List every event behind the grades of a topic, or of one of its documents."""
    return read_history(session, member.study_id, query_id, doc_id)
