"""What comes in as files: topics, documents, runs, qrels, gold, whole folders."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from fastapi import APIRouter, Request, UploadFile

from venire.errors import NotAllowed
from venire.formats.study_folder import StudyFolder, read_study_folder, unpack_study
from venire.server.studies.collection_folder import import_folder
from venire.server.studies.files import remove_file
from venire.server.studies.pictures import store_pictures
from venire.server.studies.studies import create_study
from venire.server.studies.uploads import import_upload
from venire.server.web.api.forms import example
from venire.server.web.deps import AppStore, CurrentOwner, CurrentUser
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/api", tags=["uploads"])
_FOLDER = {"rows": [{"what": "topics.tsv", "read": 225, "left_out": 0, "reason": ""}]}
_REPORT = {"kind": "topics", "rows": 225, "added": 225, "changed": 0, "unchanged": 0, "notes": []}


@contextmanager
def on_disk(file: UploadFile, name: str = "upload") -> Iterator[Path]:
    """The bytes of an upload as a file, copied some at a time; gone afterwards.

    Of ``name`` the ending alone is used, by readers that know a format by it.
    """
    with tempfile.TemporaryDirectory(prefix="venire-") as folder:
        path = Path(folder) / f"upload{Path(name).suffix[:10]}"
        with path.open("wb") as out:
            shutil.copyfileobj(file.file, out, 1 << 20)
        yield path


@contextmanager
def open_folder(file: UploadFile) -> Iterator[StudyFolder]:
    """Read a zip archive as a study folder; malicious archives are refused.

    Errors name the archive as it was uploaded, and the files in it.
    """
    name = Path(file.filename or "the archive").name
    with on_disk(file) as path:
        root = unpack_study(path, path.parent / "study", name=name)
        yield read_study_folder(root, name=name)


@router.post("/studies/import", responses=example({**_FOLDER, "next": "/studies/4nTz0mQ2"}))
def import_study(
    request: Request, user: CurrentUser, store: AppStore, file: UploadFile
) -> dict[str, Any]:
    """Make a study of a folder in a zip archive; every file has its line in the report."""
    if not user.may_create:
        raise NotAllowed(
            "Your account cannot create studies. Ask the owner of this server.",
            code="may-not-create",
        )
    with open_folder(file) as folder:
        name = str(folder.settings.get("name") or Path(file.filename or "study").stem)
        media = request.app.state.media
        stored = store_pictures(folder, media)

        def work(session: Any) -> tuple[str, list[dict[str, Any]]]:
            study = create_study(session, name, owner_id=user.id)
            return study.id, import_folder(session, study.id, stored, media=media, by=user.id)

        study_id, rows = store.write(work)
    return {"study_id": study_id, "rows": rows, "next": f"/studies/{study_id}/data"}


@router.post("/studies/{study_id}/uploads/folder", responses=example(_FOLDER))
def upload_folder(
    request: Request, owner: CurrentOwner, store: AppStore, file: UploadFile
) -> dict[str, Any]:
    """Put a folder in a zip archive into the study; nothing that is there is removed."""
    media = request.app.state.media
    with open_folder(file) as folder:
        stored = store_pictures(folder, media)
        rows = store.write(
            lambda s: import_folder(s, owner.study_id, stored, media=media, by=owner.user.id)
        )
    return {"rows": rows}


@router.post("/studies/{study_id}/uploads/{kind}", responses=example(_REPORT))
def upload(
    owner: CurrentOwner,
    store: AppStore,
    kind: Literal["topics", "documents", "run", "qrels", "gold"],
    file: UploadFile,
) -> dict[str, Any]:
    """Put a file into the study; the answer says what was read, and what was left out and why."""
    with on_disk(file) as path:
        return store.write(
            lambda session: import_upload(
                session, owner.study_id, kind, path, file.filename or kind
            )
        )


@router.delete("/studies/{study_id}/files", responses=example({"removed": True}))
def remove(
    owner: CurrentOwner, store: AppStore, kind: Literal["run", "qrels", "vectors"], name: str
) -> dict[str, bool]:
    """Take a run, qrels or vectors out of the study; pool, gold and judgments stay."""
    store.write(lambda session: remove_file(session, owner.study_id, kind, name))
    return {"removed": True}
