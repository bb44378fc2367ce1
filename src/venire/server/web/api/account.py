"""API: password and tokens of the current user."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from venire.server.studies import accounts
from venire.server.web.api.forms import NewToken, PasswordChange, example
from venire.server.web.deps import AppStore, CurrentUser, ReadSession, set_cookie
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/api", tags=["account"])


@router.get("/tokens", responses=example([{"token_id": "t1", "name": "nightly"}]))
def list_tokens(user: CurrentUser, session: ReadSession) -> list[dict[str, Any]]:
    """List your tokens that are not revoked; their secrets are not stored."""
    return [
        {
            "token_id": token.id,
            "name": token.name,
            "scope": token.scope,
            "created_at": token.created_at,
            "expires_at": token.expires_at,
        }
        for token in accounts.list_tokens(session, user.id)
    ]


@router.post("/tokens", responses=example({"token_id": "t1", "secret": "venire_..."}))
def create_token(user: CurrentUser, store: AppStore, form: NewToken) -> dict[str, str]:
    """Create a token; its secret is shown only once."""
    token, secret = store.write(
        lambda session: accounts.create_token(
            session, user.id, form.name, scope=form.scope, days=form.days
        )
    )
    return {"token_id": token.id, "name": token.name, "secret": secret}


@router.delete("/tokens/{token_id}", responses=example({"revoked": True}))
def revoke_token(user: CurrentUser, store: AppStore, token_id: str) -> dict[str, bool]:
    """Revoke a token."""
    store.write(lambda session: accounts.revoke_token(session, user.id, token_id))
    return {"revoked": True}


@router.post("/account/password", responses=example({"changed": True}))
def change_password(
    request: Request, user: CurrentUser, store: AppStore, form: PasswordChange
) -> Response:
    """Change your password; your other browsers are signed out, and your tokens revoked."""
    with request.app.state.tries.count_try(request, user.id):
        store.write(lambda session: accounts.change_password(session, user.id, form.old, form.new))
    response = JSONResponse({"changed": True})
    set_cookie(response, request, store.write(lambda s: accounts.sign_in(s, user.id)))
    return response
