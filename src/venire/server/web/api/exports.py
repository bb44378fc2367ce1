"""Exports: made, listed, downloaded; the whole study as a folder."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from venire.errors import NotFound
from venire.formats.study_folder import write_study_folder
from venire.server.studies import exports
from venire.server.studies.collection_folder import read_folder
from venire.server.web.api.forms import NewExport, example
from venire.server.web.deps import AppStore, CurrentMember, CurrentOwner, ReadSession
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/api/studies/{study_id}", tags=["exports"])
_EXPORT = {"export_id": "e1", "kinds": ["qrels", "raw-csv"], "made_at": "2026-01-05T09:30:00Z"}


def archive_path(request: Request, export_id: str) -> Path:
    """Return the path of the archive of an export."""
    folder: Path = request.app.state.exports
    return folder / f"{export_id}.zip"


def export_view(request: Request, export: Any) -> dict[str, Any]:
    """Return an export as plain values."""
    return {
        "export_id": export.id,
        "kinds": export.kind.split(),
        "settings": export.settings,
        "manifest": export.manifest,
        "made_at": export.made_at,
        "kept": archive_path(request, export.id).is_file(),
    }


@router.get("/exports", responses=example([_EXPORT]))
def list_exports(
    request: Request, member: CurrentMember, session: ReadSession
) -> list[dict[str, Any]]:
    """List exports, newest first, each with its manifest."""
    return [export_view(request, made) for made in exports.list_exports(session, member.study_id)]


@router.post("/exports", responses=example(_EXPORT))
def make_export(
    request: Request, owner: CurrentOwner, store: AppStore, form: NewExport
) -> dict[str, Any]:
    """Create an export with all raw judgments and a manifest."""
    folder = archive_path(request, "x").parent
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".making-") as place:
        path = Path(place) / "export.zip"
        made = exports.export_study(
            store,
            owner.study_id,
            form.kinds,
            path,
            grades_from=form.grades,
            campaign_id=form.campaign_id or None,
            by=owner.user.id,
        )
        path.replace(archive_path(request, made.id))
    return export_view(request, made)


@router.get("/exports/{export_id}/file", response_class=FileResponse)
def download_export(
    request: Request, member: CurrentMember, session: ReadSession, export_id: str
) -> FileResponse:
    """Download the archive of an export."""
    export_ids = [made.id for made in exports.list_exports(session, member.study_id)]
    path = archive_path(request, export_id)
    if export_id not in export_ids or not path.is_file():
        raise NotFound("export", export_id)
    return FileResponse(path, media_type="application/zip", filename=f"export-{export_id}.zip")


@router.get("/folder", response_class=FileResponse)
def download_folder(request: Request, member: CurrentMember, session: ReadSession) -> FileResponse:
    """Download the study as a collection folder in a zip archive."""
    place = tempfile.mkdtemp(prefix="venire-")
    path = Path(place) / "study.zip"
    write_study_folder(read_folder(session, member.study_id, request.app.state.media), path)
    gone = BackgroundTask(shutil.rmtree, place, ignore_errors=True)
    return FileResponse(path, media_type="application/zip", filename="study.zip", background=gone)
