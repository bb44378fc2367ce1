"""The list of studies, and one's own account."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from venire.server.studies import accounts as people
from venire.server.studies import lists
from venire.server.web.deps import CurrentUser, Reading, page

router = APIRouter(include_in_schema=False)


@router.get("/studies")
def studies(request: Request, user: CurrentUser, session: Reading) -> HTMLResponse:
    """The studies one owns or may look at; a new one."""
    return page(
        "studies.html", request, user=user, rows=lists.studies_of(session, user.id)
    )  # fmt: skip


@router.get("/account")
def account(request: Request, user: CurrentUser, session: Reading) -> HTMLResponse:
    """Password and API tokens."""
    return page(
        "account.html",
        request,
        user=user,
        tokens=people.tokens(session, user.id),
        least=people.LEAST_PASSWORD,
    )
