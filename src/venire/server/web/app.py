"""The web application: its routes, its worker, and its error responses."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from venire.errors import Conflict, DataError, NotAllowed, NotFound, Stale, StoreError, VenireError
from venire.formats.source import folder_at
from venire.server.jobs.worker import Worker
from venire.server.store.schema import upgrade
from venire.server.store.session import UNAVAILABLE, Store
from venire.server.studies.accounts import BUSY
from venire.server.studies.invitations import create_first_link
from venire.server.web import api, judge, pages, sign_in
from venire.server.web.guard import Guard
from venire.server.web.rendering import WEB_FOLDER, render_page
from venire.server.web.serving import PARENT, end_with_parent
from venire.server.web.sign_in_limit import Tries

_STATUS: tuple[tuple[type[VenireError], int], ...] = (
    (NotFound, 404),
    (Conflict, 409),
    (Stale, 409),
    (StoreError, 503),
    (DataError, 422),
)

_log = logging.getLogger("venire.web")
_TRY_AGAIN = (
    "The server cannot save or read anything at the moment. Nothing was saved. What the page keeps "
    "is sent again. Try again in a moment."
)

# What to do about an error of an uploaded file, where the error's own hint is for Python.
_HINTS = {
    "missing-columns": "Rename the columns in the file.",
    "unknown-label": "Correct the label in the file, or change the scale of the study.",
}

_TITLES = {403: "No access", 404: "Page not found"}
_NO_STUDY = (
    "This study does not exist, or you have no access to it. Ask an owner of the study for an "
    "invitation link."
)


def create_app(
    store: Store,
    *,
    media: Path,
    exports: Path | None = None,
    first: bool = True,
    address: str | None = None,
) -> FastAPI:
    """Create the web application on a database; ``media`` is the folder of images.

    Archives of exports are kept in ``exports``, a folder of this machine: by default beside
    ``media``.

    ``address`` is the URL that people open; links begin with it.

    The database is brought up to date first. ``app.state.first`` is the path of the one-time
    link that makes the first account, or None where there is one, or without ``first``: a new
    link makes the ones before it useless, so that one process of several makes it.
    """
    upgrade(store)
    secret = store.write(create_first_link) if first else None

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        worker = Worker(store)
        worker.start()
        yield
        worker.stop()
        store.close()

    app = FastAPI(
        title="Venire",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
    )
    app.state.store = store
    app.state.address = address
    app.state.media = store.media = media
    app.state.exports = exports or media.parent / "exports"
    app.state.tries = Tries(store)
    app.state.first = None if secret is None else f"/first/{secret}"
    app.add_middleware(Guard)
    app.mount("/static", StaticFiles(directory=WEB_FOLDER / "static"), name="static")
    for router in (sign_in.router, judge.router, *pages.routers, *api.routers):
        app.include_router(router)
    app.add_exception_handler(VenireError, _answer_error)
    app.add_exception_handler(RequestValidationError, _answer_malformed)
    app.add_exception_handler(HTTPException, _answer_http)
    return app


def _answer(
    request: Request,
    status: int,
    message: str,
    code: str,
    facts: Mapping[str, Any] | None = None,
) -> Response:
    """Return an error as a page for people, as JSON with ``code`` and ``facts`` for programs."""
    if "text/html" in request.headers.get("accept", "") and request.method == "GET":
        title = _TITLES.get(status, "Something went wrong")
        if code == "not-found" and (facts or {}).get("kind") == "study":
            message = _NO_STUDY
        return render_page(
            "error.html", request, status=status, title=title, message=message, user=None
        )
    return JSONResponse({"error": message, "code": code, "facts": dict(facts or {})}, status)


async def _answer_error(request: Request, error: Exception) -> Response:
    if isinstance(error, NotAllowed):
        if error.sign_in and "text/html" in request.headers.get("accept", ""):
            query = f"?{request.url.query}" if request.url.query else ""
            onward = quote(request.url.path + query, safe="/")
            return RedirectResponse(f"/sign-in?next={onward}", 303)
        return _answer(request, 401 if error.sign_in else 403, str(error), error.code)
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 422)
    if not isinstance(error, VenireError):
        return _answer(request, status, str(error), "error")
    if error.code == BUSY:
        answer = _answer(request, 429, str(error), error.code)
        answer.headers["Retry-After"] = "5"
        return answer
    if error.code == UNAVAILABLE:
        _log.error("%s", error)
        answer = _answer(request, 503, _TRY_AGAIN, error.code)
        answer.headers["Retry-After"] = "10"
        return answer
    message = error.render(hint=_HINTS.get(error.code))
    return _answer(request, status, message, error.code, error.facts)


async def _answer_malformed(request: Request, error: Exception) -> Response:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    where = ".".join(str(part) for part in first.get("loc", ())[1:])
    message = f"{where}: {first.get('msg', 'malformed request')}"
    return _answer(request, 422, message, "malformed", {"argument": where})


async def _answer_http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    sentences = {
        404: "There is no page at this address. Check the address.",
        405: "This address does not accept this method.",
    }
    message = sentences.get(status, str(getattr(error, "detail", "")))
    answer = _answer(request, status, message, f"http-{status}")
    answer.headers.update(getattr(error, "headers", None) or {})
    return answer


def from_environment() -> FastAPI:
    """Create the application of one worker process, from environment variables."""
    if parent := os.environ.get(PARENT):
        end_with_parent(int(parent))
    store = Store(os.environ["VENIRE_DATABASE"])
    media, exports = folder_at(os.environ["VENIRE_MEDIA"]), os.environ.get("VENIRE_EXPORTS")
    return create_app(
        store,
        media=media,
        exports=Path(exports) if exports else None,
        first=False,
        address=os.environ.get("VENIRE_URL") or None,
    )
