"""Refuse unsafe or oversized requests, and set security headers on every response."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
#: Charts write styles into their elements; scripts stay our own.
CHART_POLICY = POLICY + "; style-src 'self' 'unsafe-inline'"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=()",
}
_log = logging.getLogger("venire.web")
_FAULT = "Something went wrong on the server. Try again. If it happens again, tell the owner."
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
MOST_BYTES = 4_000_000
MOST_UPLOAD = 2_000_000_000


class Guard:
    """Refuses writes that come from another site and bodies that are too long; sets headers.

    A browser says where a request comes from (``Sec-Fetch-Site``, ``Origin``). A write with a
    cookie from elsewhere is refused; a program with a token sends no cookie and needs neither.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = _refusal(scope, headers)
        answer = _with_headers(send, scope["path"])
        if refusal is not None:
            await JSONResponse({"error": refusal[1]}, refusal[0])(scope, receive, answer)
            return
        limit = _limit(scope)
        has_begun = False

        async def send_once(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await answer(message)

        try:
            await self.app(scope, _limit_body(receive, limit), send_once)
        except Exception:
            # Answered here, so that this page too has the headers.
            _log.exception("%s %s", scope["method"], scope["path"])
            if has_begun:
                raise
            await JSONResponse({"error": _FAULT, "code": "fault", "facts": {}}, 500)(
                scope, receive, answer
            )


_UPLOAD = re.compile(r"/api/studies/(?:import|[^/]+/uploads/[^/]+)")


def _limit(scope: Scope) -> int:
    """Return the size limit of a body; routes that do not take files read it into memory."""
    return MOST_UPLOAD if _UPLOAD.fullmatch(scope["path"]) else MOST_BYTES


def _refusal(scope: Scope, headers: Headers) -> tuple[int, str] | None:
    if scope["method"] in SAFE:
        return None
    limit = _limit(scope)
    length = headers.get("content-length", "")
    if length.isdigit() and int(length) > limit:
        return 413, f"The request must be at most {limit:,} bytes. Send less data."
    if headers.get("authorization", "").lower().startswith("bearer "):
        return None
    site = headers.get("sec-fetch-site")
    if site is not None:
        return None if site in ("same-origin", "none") else (403, _ELSEWHERE)
    origin = headers.get("origin")
    if origin is None or urlsplit(origin).netloc == headers.get("host"):
        return None
    return 403, _ELSEWHERE


_ELSEWHERE = "This request came from another site. Open the page on this server and try again."


class TooLong(HTTPException):
    """The body of a request went past its limit while it was read."""

    def __init__(self) -> None:
        super().__init__(413, "The request is too large. Send less data.")


def _limit_body(receive: Receive, limit: int) -> Receive:
    read = 0

    async def receive_limited() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > limit:
            raise TooLong
        return message

    return receive_limited


def _with_headers(send: Send, path: str) -> Callable[[Message], Awaitable[None]]:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Content-Security-Policy", POLICY)
            if not path.startswith("/static/"):
                headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return with_headers
