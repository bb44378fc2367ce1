"""What routes ask for: the store, the user, their role, templates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy.orm import Session
from starlette.responses import HTMLResponse, Response

from venire.errors import NotAllowed, NotFound
from venire.server.store.people import User
from venire.server.store.session import Store
from venire.server.studies import accounts as people
from venire.server.web.guard import CHART_POLICY

#: Templates, scripts and style sheets lie with the application.
HERE = Path(__file__).parent
COOKIE = "venire_session"


# What waits for nothing is ``async``: each of the others is handed to a thread and back.
async def get_store(request: Request) -> Store:
    """The application's database."""
    return request.app.state.store  # type: ignore[no-any-return]


TheStore = Annotated[Store, Depends(get_store)]


def reading(store: TheStore) -> Iterator[Session]:
    """A transaction that only reads, for the length of a request."""
    with store.reading() as session:
        yield session


Reading = Annotated[Session, Depends(reading)]


def maybe_user(request: Request, session: Reading) -> User | None:
    """Who asks: by API token, else by cookie; None where nobody is signed in."""
    authorization = request.headers.get("authorization", "")
    if authorization.lower().startswith("bearer "):
        user = people.user_of_token(session, authorization[7:].strip())
        if user is None:
            raise NotAllowed("this API token is not known or was revoked", sign_in=True)
    else:
        secret = request.cookies.get(COOKIE)
        user = people.user_of_cookie(session, secret) if secret else None
    # The connection goes back: requests that wait for a thread must not hold one each.
    session.commit()
    return user


MaybeUser = Annotated[User | None, Depends(maybe_user)]


async def signed_in(user: MaybeUser) -> User:
    """Who asks; nobody is asked to sign in."""
    if user is None:
        raise NotAllowed("sign in to go on", sign_in=True)
    return user


CurrentUser = Annotated[User, Depends(signed_in)]


@dataclass(frozen=True)
class Member:
    """A user in a study."""

    user: User
    study_id: str
    role: str


def member(study_id: str, user: CurrentUser, session: Reading) -> Member:
    """The user as owner or viewer of the study; to all others it does not exist."""
    role = people.role_in(session, study_id, user.id)
    session.commit()
    if role not in ("owner", "viewer"):
        raise NotFound("study", study_id)
    return Member(user, study_id, role)


async def owner(one: Annotated[Member, Depends(member)]) -> Member:
    """The user as owner of the study."""
    if one.role != "owner":
        raise NotAllowed("viewers can look and not change; ask an owner of the study")
    return one


AMember = Annotated[Member, Depends(member)]
AnOwner = Annotated[Member, Depends(owner)]


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": _number,
        "percent": _percent,
        "time": _time,
        "hours": _hours,
        "cell": cell,
        "words": _words,
        "figures": _figures,
    }
    environment.globals["named"] = _named
    environment.tests["figure"] = _is_figure
    return environment


def page(
    name: str, request: Request, *, status: int = 200, charts: bool = False, **values: Any
) -> HTMLResponse:
    """Render a template; a page with charts may write styles into its elements."""
    html = _templates().get_template(name).render(request=request, **values)
    headers = {"Content-Security-Policy": CHART_POLICY} if charts else {}
    return HTMLResponse(html, status, headers)


def set_cookie(response: Response, request: Request, secret: str) -> None:
    """Give a browser its cookie; a script cannot read it, another site cannot send it."""
    response.set_cookie(
        COOKIE,
        secret,
        max_age=int(people.SIGNED_IN.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
        path="/",
    )


def link(request: Request, path: str) -> str:
    """A link to this server that can be sent to somebody."""
    return str(request.base_url).rstrip("/") + path


def _number(value: float | None, digits: int = 0) -> str:
    """A number as people read it; a dash where there is none."""
    return "–" if value is None else f"{value:,.{digits}f}"


def _percent(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value * 100:.{digits}f}%"


def _hours(value: float | None) -> str:
    """A length of time in the unit that people would say it in."""
    if value is None:
        return "–"
    if value < 1:
        return f"{value * 60:.0f} min"
    return f"{value:.1f} h" if value < 48 else f"{value / 24:.1f} days"


def _is_figure(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def cell(value: Any, digits: int = 3) -> str:
    """A value as a table shows it: the words of the terminal, undefined where there is none."""
    if value is None:
        return "undefined"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.{digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, datetime):
        return _time(value)
    if isinstance(value, list | tuple):
        return ", ".join(cell(one, digits) for one in value) or "none"
    return str(value)


def _figures(rows: list[dict[str, Any]]) -> set[str]:
    """Columns that hold numbers."""
    return {name for name in rows[0] if any(_is_figure(row[name]) for row in rows)}


def _named(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Names of campaigns by id."""
    return {row["campaign_id"]: row["campaign"] for row in rows}


def _words(name: str) -> str:
    """The name of a column as words."""
    return str(name).replace("_", " ")


def _time(value: Any) -> str:
    """A UTC time, to the minute."""
    return "–" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"
