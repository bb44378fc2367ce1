"""What comes in as files: topics, documents, runs, qrels, gold, whole folders."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from fastapi import APIRouter, UploadFile

from venire.api.forms import example
from venire.http.deps import AnOwner, TheStore
from venire.service.uploads import put_upload

router = APIRouter(prefix="/api", tags=["uploads"])
_REPORT = {"kind": "topics", "rows": 225, "added": 225, "changed": 0, "unchanged": 0, "notes": []}


@contextmanager
def on_disk(file: UploadFile) -> Iterator[Path]:
    """The bytes of an upload as a file, copied some at a time; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="venire-") as folder:
        path = Path(folder) / "upload"
        with path.open("wb") as out:
            shutil.copyfileobj(file.file, out, 1 << 20)
        yield path


@router.post("/studies/{study_id}/uploads/{kind}", responses=example(_REPORT))
def upload(
    one: AnOwner,
    store: TheStore,
    kind: Literal["topics", "documents", "run", "qrels", "gold"],
    file: UploadFile,
) -> dict[str, Any]:
    """Put a file into the study; the answer says what was read, and what was left out and why."""
    with on_disk(file) as path:
        return store.write(
            lambda session: put_upload(session, one.study_id, kind, path, file.filename or kind)
        )
