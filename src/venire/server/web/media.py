"""Files of the media folder."""

from __future__ import annotations

import re
from mimetypes import guess_type
from pathlib import Path

from fastapi import Request
from starlette.responses import FileResponse, Response

from venire.errors import NotFound

_KEY = re.compile(r"[0-9a-f]{2}/[0-9a-f]{64}\.(?:jpg|png|gif|webp)")


def media_file(request: Request, key: str, *, small: bool = False) -> Response:
    """Return a file of the media folder by its hash; no other file can be reached."""
    if not _KEY.fullmatch(key):
        raise NotFound("image", key)
    path = request.app.state.media / key
    if small:
        path = path.with_name(path.stem + ".thumb.webp")
    if not path.is_file():
        raise NotFound("image", key)
    # Not when it was put in: that could tell gold, put in by itself, from the rest.
    same = {"ETag": f'"{path.name}"', "Last-Modified": "Thu, 01 Jan 1970 00:00:00 GMT"}
    headers = {"Cache-Control": "private, max-age=86400", **same}
    if isinstance(path, Path):
        return FileResponse(path, headers=headers)
    return Response(path.read_bytes(), media_type=guess_type(path.name)[0], headers=headers)
