"""Sign in and out, accept invitations, and admit workers of crowd platforms."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Request
from sqlalchemy import select
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from venire.errors import Conflict, NotAllowed
from venire.server.judging.next_batch import has_open_batch
from venire.server.judging.payload import list_completion_codes
from venire.server.platforms.worker_link import find_assignment, find_worker, is_preview
from venire.server.store.judging import Campaign
from venire.server.store.people import Membership, User
from venire.server.store.studies import Study
from venire.server.studies import accounts, invitations
from venire.server.studies.workers import Visit, admit_worker
from venire.server.web.deps import (
    BROWSER_COOKIE,
    BROWSER_SECONDS,
    COOKIE,
    AppStore,
    CurrentUser,
    OptionalUser,
    ReadSession,
    set_cookie,
)
from venire.server.web.rendering import render_page
from venire.server.web.route import Route

router = APIRouter(route_class=Route)


@router.get("/sign-in", include_in_schema=False)
def sign_in_page(request: Request, user: OptionalUser) -> Response:
    """Show the sign-in page; redirect a signed-in user home."""
    if user is not None:
        return RedirectResponse("/", 303)
    return render_page(
        "sign_in.html", request, user=None, onward=_local(request.query_params.get("next"))
    )


@router.post("/sign-in", include_in_schema=False)
def sign_in(
    request: Request,
    store: AppStore,
    login: Annotated[str, Body()],
    password: Annotated[str, Body()],
) -> Response:
    """Sign in, and set a new session cookie."""
    with request.app.state.tries.count_try(request, login), store.reading() as session:
        user = accounts.check_password(session, login, password)
    return _start_session(request, store, user.id, user.name)


@router.post("/sign-out", include_in_schema=False)
def sign_out(request: Request, store: AppStore) -> Response:
    """Sign out this browser."""
    secret = request.cookies.get(COOKIE)
    if secret:
        store.write(lambda session: accounts.sign_out(session, secret))
    response = JSONResponse({"next": "/sign-in"})
    response.delete_cookie(COOKIE, path="/")
    return response


@router.get("/first/{secret}", include_in_schema=False)
@router.get("/invite/{secret}", include_in_schema=False)
def invited_page(
    request: Request, secret: str, user: OptionalUser, session: ReadSession
) -> HTMLResponse:
    """Show an invitation."""
    invitation = invitations.find_invitation(session, secret)
    study = session.get(Study, invitation.study_id) if invitation.study_id else None
    return render_page(
        "invitation.html",
        request,
        user=user,
        invitation=invitation,
        study=study,
        secret=secret,
        least=accounts.MIN_PASSWORD_LENGTH,
    )


@router.post("/invite/{secret}", include_in_schema=False)
def accept(
    request: Request,
    store: AppStore,
    secret: str,
    name: Annotated[str, Body()],
    login: Annotated[str, Body()],
    password: Annotated[str, Body()],
) -> Response:
    """Create an account by an invitation, and sign in."""
    user = store.write(
        lambda session: invitations.accept_invitation(session, secret, name, login, password)
    )
    return _start_session(request, store, user.id, user.name)


@router.post("/invite/{secret}/join", include_in_schema=False)
def join(store: AppStore, secret: str, user: CurrentUser) -> Response:
    """Join a study with an existing account."""
    store.write(lambda session: invitations.join_study(session, secret, user.id))
    return JSONResponse({"next": "/"})


@router.get("/reset/{secret}", include_in_schema=False)
def reset_page(
    request: Request, secret: str, user: OptionalUser, session: ReadSession
) -> HTMLResponse:
    """Show the form of a link that sets a new password."""
    reset = accounts.find_password_reset(session, secret)
    account = session.get_one(User, reset.user_id)
    return render_page(
        "reset.html",
        request,
        user=user,
        account=account,
        secret=secret,
        least=accounts.MIN_PASSWORD_LENGTH,
    )


@router.post("/reset/{secret}", include_in_schema=False)
def reset_password(
    request: Request, store: AppStore, secret: str, password: Annotated[str, Body(embed=True)]
) -> Response:
    """Set a new password by a link, and sign in."""
    user = store.write(lambda session: accounts.reset_password(session, secret, password))
    return _start_session(request, store, user.id, user.name)


@router.get("/c/{secret}", include_in_schema=False)
def from_platform(request: Request, store: AppStore, secret: str, user: OptionalUser) -> Response:
    """Sign in a worker of a crowd platform by the worker ID in the address.

    A worker who has finished a batch and has none open sees their completion codes first. The
    session of an account with a password is never replaced: any site can hold such a link.
    """
    parameters = request.query_params
    if is_preview(parameters):
        return render_page("preview.html", request, user=None)
    if user is not None and user.login is not None:
        raise Conflict(
            f"You are signed in as {user.name}. This link is for workers of a crowd platform. To "
            "try it, sign out or open it in a private window.",
            code="signed-in",
        )
    if request.headers.get("sec-fetch-dest", "document") != "document":
        raise NotAllowed("Open this link as a page.", code="not-a-page")
    visit = Visit(
        worker=find_worker(parameters),
        assignment=find_assignment(parameters),
        signature=parameters.get("signature", ""),
        browser=request.cookies.get(BROWSER_COOKIE),
        address=request.client.host if request.client else "",
    )
    admission = store.write(lambda session: admit_worker(session, secret, visit))
    worker, campaign_id = admission.user, admission.campaign_id
    with store.reading() as session:
        done = bool(list_completion_codes(session, worker)) and not has_open_batch(
            session, campaign_id, worker.id
        )
    response = RedirectResponse("/work" if done else f"/judge/{campaign_id}", 303)
    set_cookie(response, request, store.write(lambda s: accounts.sign_in(s, worker.id)))
    set_cookie(response, request, admission.browser, BROWSER_COOKIE, BROWSER_SECONDS)
    return response


@router.get("/", include_in_schema=False)
def home(user: OptionalUser, session: ReadSession) -> Response:
    """Redirect owners and viewers to their studies, and annotators to their work."""
    if user is None:
        return RedirectResponse("/sign-in", 303)
    looks = select(Membership.role).where(
        Membership.user_id == user.id, Membership.role != "annotator"
    )
    to_studies = user.may_create or session.scalar(looks.limit(1)) is not None
    return RedirectResponse("/studies" if to_studies else "/work", 303)


@router.get("/work", include_in_schema=False)
def work(request: Request, user: CurrentUser, session: ReadSession) -> HTMLResponse:
    """Show the open campaigns of an annotator, and the completion codes of a worker."""
    rows = session.execute(
        select(Campaign.id, Campaign.name, Study.name, Membership.paused_at)
        .join(Study, Study.id == Campaign.study_id)
        .join(Membership, Membership.study_id == Study.id)
        .where(Membership.user_id == user.id, Membership.role != "viewer", Campaign.state == "open")
        .order_by(Study.name, Campaign.wave)
    ).all()
    codes = list_completion_codes(session, user)
    return render_page("work.html", request, user=user, rows=rows, codes=codes)


def _start_session(request: Request, store: AppStore, user_id: str, name: str) -> Response:
    secret = store.write(lambda session: accounts.sign_in(session, user_id))
    response = JSONResponse({"name": name, "next": "/"})
    set_cookie(response, request, secret)
    return response


def _local(path: str | None) -> str:
    """Return a path on this server; any other address becomes the home page."""
    # Browsers leave out tabs and line ends, and read a backslash as a slash.
    if path and path.isprintable() and path.startswith("/") and not path.startswith(("//", "/\\")):
        return path
    return "/"
