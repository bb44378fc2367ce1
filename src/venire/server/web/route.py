"""Routes that know who asks before a large body is read, and mend the text of JSON bodies."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from venire.errors import NotAllowed
from venire.server.store.text import mend_value
from venire.server.web.deps import get_optional_user
from venire.server.web.guard import SAFE

SMALL_BODY = 100_000
"""Bytes of a body that is read whoever sends it."""
MOST_FILES, MOST_FIELDS, MOST_PART = 2, 20, 100_000
"""Files and fields of a form, and bytes of a field."""


class MendedRequest(Request):
    """A request whose JSON body has every text mended."""

    async def json(self) -> Any:
        """Return the body; a body nested too deeply is refused."""
        try:
            return mend_value(await super().json())
        except RecursionError:
            raise HTTPException(422, "The request is nested too deeply.") from None

    def form(self, **limits: Any) -> Any:
        """Return the parts of a form: an upload is one file with a few fields."""
        most = {"max_files": MOST_FILES, "max_fields": MOST_FIELDS, "max_part_size": MOST_PART}
        return super().form(**{**limits, **most})


def _is_large(request: Request) -> bool:
    """Return whether a body is large, or may be: a form, or of unknown length."""
    length = request.headers.get("content-length", "")
    if request.headers.get("content-type", "").startswith("multipart/"):
        return True
    if "transfer-encoding" in request.headers:
        return True
    return length.isdigit() and int(length) > SMALL_BODY


def _refuse_stranger(request: Request) -> None:
    """Refuse a large body of somebody who has not signed in, before it is read."""
    if not request.url.path.startswith(("/api/", "/judge/")):
        raise HTTPException(413, f"The request must be at most {SMALL_BODY:,} bytes.")
    with request.app.state.store.reading() as session:
        if get_optional_user(request, session) is None:
            raise NotAllowed("Sign in to continue.", sign_in=True)


class Route(APIRoute):
    """A route that reads its body by :class:`MendedRequest`, and a large one of users only."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that answers a request."""
        answer = super().get_route_handler()

        async def answer_mended(request: Request) -> Response:
            if request.method not in SAFE and _is_large(request):
                await run_in_threadpool(_refuse_stranger, request)
            return await answer(MendedRequest(request.scope, request.receive))

        return answer_mended
