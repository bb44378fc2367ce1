"""Images of documents: checked, cleaned of camera data, stored with a thumbnail."""

from __future__ import annotations

import hashlib
import io
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from venire.errors import DataError
from venire.formats.study_folder import Entry, StudyFolder
from venire.progress import Event, Progress, silent

MAX_PIXELS = 40_000_000
"""Larger images are refused: decoded, they would need too much memory."""
THUMBNAIL_SIZE = 320
_METADATA = {"exif", "xmp", "comment", "photoshop", "XML:com.adobe.xmp", "Raw profile type exif"}
_SUFFIX = {"JPEG": ".jpg", "PNG": ".png", "GIF": ".gif", "WEBP": ".webp"}


def store_pictures(
    folder: StudyFolder, media: Path | None, progress: Progress = silent
) -> StudyFolder:
    """Copy the images of a folder into ``media``; return the folder with their new paths.

    Each is named by the hash of its content, with a thumbnail beside it. One that cannot be
    kept is left out, and the report says why. A folder whose pictures are kept already comes
    back as it is.

    Raises
    ------
    DataError
        There are pictures and no place for them.
    """
    paths = folder.documents["path"].drop_nulls().unique().sort().to_list()
    if not paths or (media is not None and folder.root == media):
        return folder
    if media is None or folder.root is None:
        raise DataError("The folder has images. Pass the folder where their copies are stored.")
    keys: dict[str, str] = {}
    faults: list[Entry] = []
    for number, path in enumerate(paths, 1):
        try:
            keys[path] = store_picture((folder.root / path).read_bytes(), media)
        except (DataError, OSError) as error:
            faults.append(Entry(path, 0, 1, f"{path}: {error}"))
        progress(Event("copying pictures", number, len(paths)))
    lost = [fault.file for fault in faults]
    place = pl.col("path").replace_strict(keys, default=None, return_dtype=pl.String)
    documents = folder.documents.filter(~pl.col("path").fill_null("").is_in(lost))
    return replace(
        folder,
        documents=documents.with_columns(place.alias("path")),
        report=(*folder.report, *faults),
        root=media,
    )


def store_picture(content: bytes, media: Path) -> str:
    """Store an image by the hash of its content, with a thumbnail; return its key.

    A picture with data of a camera (EXIF, XMP, comments: also the place it was taken) is turned
    as they say and kept without them; any other is kept as it is. The key is ``ab/abcdef.jpg``
    within ``media``; the thumbnail is ``ab/abcdef.thumb.webp``.

    Raises
    ------
    DataError
        It is no picture, has too many pixels, or is of a kind that browsers do not show.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            # Our own limit is stricter than what the warning is about.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=list(_SUFFIX)) as opened:
                if opened.width * opened.height > MAX_PIXELS:
                    raise DataError(
                        f"must have at most {MAX_PIXELS / 1e6:.0f} million pixels "
                        f"(got {opened.width:,} x {opened.height:,}). Make the image smaller."
                    )
                kind = opened.format or "PNG"
                opened.load()
                metadata = _METADATA & set(opened.info) or getattr(opened, "text", None)
                if kind != "GIF" and (metadata or opened.getexif()):
                    content = _encode(ImageOps.exif_transpose(opened), kind)
                key = hashlib.sha256(content).hexdigest()
                place = media / key[:2]
                name = f"{key}{_SUFFIX[kind]}"
                if not (place / name).exists():
                    place.mkdir(parents=True, exist_ok=True)
                    small = ImageOps.exif_transpose(opened).convert("RGBA")
                    small.thumbnail((THUMBNAIL_SIZE, THUMBNAIL_SIZE))
                    _write_file(place / f"{key}.thumb.webp", _encode(small, "WEBP"))
                    _write_file(place / name, content)
    except (UnidentifiedImageError, OSError, SyntaxError, EOFError) as error:
        known = ", ".join(_SUFFIX)
        raise DataError(f"cannot be read as an image ({error}). Use {known}.") from None
    except Image.DecompressionBombError as error:
        raise DataError(f"has too many pixels ({error}). Make the image smaller.") from None
    return f"{key[:2]}/{name}"


def _encode(picture: Any, kind: str) -> bytes:
    """Encode an image without camera data; keep its colour profile."""
    out = io.BytesIO()
    options = {"icc_profile": picture.info.get("icc_profile")}
    if kind == "JPEG" and picture.mode not in ("RGB", "L", "CMYK"):
        picture = picture.convert("RGB")
    for word in [*_METADATA, "icc_profile"]:
        picture.info.pop(word, None)
    picture.save(out, kind, quality=90, **options)
    return out.getvalue()


def _write_file(path: Path, content: bytes) -> None:
    if not isinstance(path, Path):  # an object store keeps a file whole or not at all
        path.write_bytes(content)
        return
    staged = path.with_name(f".{path.name}.part")
    staged.write_bytes(content)
    staged.replace(path)
