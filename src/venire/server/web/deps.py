"""What a route may depend on: the store, a session, the current user and their role."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from venire.errors import Conflict, NotAllowed, NotFound
from venire.server.store.people import User
from venire.server.store.session import Store
from venire.server.studies import accounts, members

COOKIE = "venire_session"
BROWSER_COOKIE = "venire_browser"
"""Cookie of the browser that holds a worker ID."""
BROWSER_SECONDS = 365 * 24 * 3600


# Dependencies that never block are ``async``: FastAPI runs all others in a thread.
async def get_store(request: Request) -> Store:
    """Return the database of the application."""
    return request.app.state.store  # type: ignore[no-any-return]


AppStore = Annotated[Store, Depends(get_store)]


def open_session(store: AppStore) -> Iterator[Session]:
    """Open a read-only transaction for the length of a request."""
    with store.reading() as session:
        yield session


ReadSession = Annotated[Session, Depends(open_session)]


def get_optional_user(request: Request, session: ReadSession) -> User | None:
    """Return the current user (by API token, else by cookie), or None if anonymous."""
    user: User | None
    authorization = request.headers.get("authorization", "")
    if authorization.lower().startswith("bearer "):
        found_token = accounts.find_user_by_token(session, authorization[7:].strip())
        if found_token is None:
            raise NotAllowed("This API token is unknown, has expired or was revoked.", sign_in=True)
        user, scope = found_token
        _check_scope(request, scope)
    else:
        secret = request.cookies.get(COOKIE)
        user = accounts.find_user_by_cookie(session, secret) if secret else None
    # Return the connection to the pool: requests that wait for a thread must not hold one.
    session.commit()
    return user


def _check_scope(request: Request, scope: str) -> None:
    """Refuse what a token may not do; no token makes tokens or changes the password."""
    path, is_read = request.url.path, request.method in ("GET", "HEAD", "OPTIONS")
    if is_read:
        return
    if path.startswith(("/api/tokens", "/api/account")):
        raise NotAllowed(
            "A token cannot change the account. Sign in with your password.", code="token-scope"
        )
    if scope == "own" or (scope == "judge" and path.startswith("/judge/")):
        return
    may = "read and judge" if scope == "judge" else "read"
    raise NotAllowed(
        f"This token may only {may}. Create one with another scope.", code="token-scope"
    )


OptionalUser = Annotated[User | None, Depends(get_optional_user)]


async def get_current_user(user: OptionalUser) -> User:
    """Return the current user; refuse an anonymous request."""
    if user is None:
        raise NotAllowed("Sign in to continue.", sign_in=True)
    return user


CurrentUser = Annotated[User, Depends(get_current_user)]


@dataclass(frozen=True)
class Member:
    """A user with their role in a study."""

    user: User
    study_id: str
    role: str


def get_member(study_id: str, user: CurrentUser, session: ReadSession) -> Member:
    """Return the current user as owner or viewer of a study; for others it does not exist."""
    role = members.find_access(session, study_id, user.id)
    session.commit()
    if role not in ("owner", "viewer"):
        raise NotFound("study", study_id)
    return Member(user, study_id, role)


CurrentMember = Annotated[Member, Depends(get_member)]


async def get_owner(member: CurrentMember) -> Member:
    """Return the current user as owner of a study; refuse viewers."""
    if member.role != "owner":
        raise NotAllowed("Viewers cannot change a study. Ask an owner of the study.")
    return member


CurrentOwner = Annotated[Member, Depends(get_owner)]


def set_cookie(
    response: Response,
    request: Request,
    secret: str,
    name: str = COOKIE,
    seconds: int = int(accounts.SIGN_IN_TIME.total_seconds()),
) -> None:
    """Set the session cookie (or another): not readable by scripts, not sent by other sites."""
    response.set_cookie(
        name,
        secret,
        max_age=seconds,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
        path="/",
    )


LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


def build_link(request: Request, path: str) -> str:
    """Return the absolute URL of a path of this server.

    The address is the one the server was started with. Without one, the host that a request names
    is taken on this machine only: elsewhere a forged one would send people to another server.

    Raises
    ------
    Conflict
        The address is not known (code ``unknown-address``).
    """
    address: str | None = request.app.state.address
    if address is None:
        if request.url.hostname not in LOCAL_HOSTS:
            raise Conflict(
                "The server does not know its own address, so it makes no links. Start it with "
                "--url and the address that people open.",
                code="unknown-address",
            )
        address = str(request.base_url)
    return address.rstrip("/") + path
