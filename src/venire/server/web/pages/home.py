"""The list of studies, and one's own account."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from venire.server.studies import accounts, studies
from venire.server.web.deps import CurrentUser, ReadSession
from venire.server.web.rendering import render_page
from venire.server.web.route import Route

router = APIRouter(route_class=Route, include_in_schema=False)


@router.get("/studies")
def studies_page(request: Request, user: CurrentUser, session: ReadSession) -> HTMLResponse:
    """Show the studies of the current user, and a form for a new study."""
    return render_page(
        "studies.html", request, user=user, rows=studies.list_user_studies(session, user.id)
    )  # fmt: skip


@router.get("/account")
def account_page(request: Request, user: CurrentUser, session: ReadSession) -> HTMLResponse:
    """Show password and API tokens."""
    return render_page(
        "account.html",
        request,
        user=user,
        tokens=accounts.list_tokens(session, user.id),
        token_days=accounts.TOKEN_DAYS,
        least=accounts.MIN_PASSWORD_LENGTH,
    )
