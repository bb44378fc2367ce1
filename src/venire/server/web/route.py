"""Routes whose JSON bodies hold only text that can be stored and written again."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response

from venire.server.store.text import mend_value


class MendedRequest(Request):
    """A request whose JSON body has every text mended."""

    async def json(self) -> Any:
        """Return the body; a body nested too deeply is refused."""
        try:
            return mend_value(await super().json())
        except RecursionError:
            raise HTTPException(422, "The request is nested too deeply.") from None


class Route(APIRoute):
    """A route that reads its body by :class:`MendedRequest`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that answers a request."""
        answer = super().get_route_handler()

        async def answer_mended(request: Request) -> Response:
            return await answer(MendedRequest(request.scope, request.receive))

        return answer_mended
