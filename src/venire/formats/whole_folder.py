"""Write a folder of files as a whole: all of the new ones, or what was there before."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from venire.errors import BadSetting, DataError


@contextmanager
def write_whole(folder: str | Path) -> Iterator[Path]:
    """Yield a draft beside the folder, whose files take their places once all are written.

    The draft begins with the files of the folder. Where an error ends the writing, it is removed,
    and the folder is as it was. Files must be replaced in it, not written into.

    Raises
    ------
    BadSetting
        The folder has no name, or is a file.
    DataError
        The folder cannot be made.
    """
    target = Path(folder)
    if not str(folder) or not target.name:
        raise BadSetting(
            f"must name a folder (got {str(folder)!r})", argument="folder", value=str(folder)
        )
    if target.exists() and not target.is_dir():
        raise BadSetting(f"is a file: {target}", argument="folder", value=str(folder))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name[:50]}-", dir=target.parent))
    except OSError as error:
        raise DataError(f"{target}: cannot be written: {error.strerror}") from None
    try:
        before = _list_files(target)
        for file in before:
            (draft / file).parent.mkdir(parents=True, exist_ok=True)
            _link(target / file, draft / file)
        yield draft
        _take_places(draft, target, before)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _list_files(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def _link(source: Path, copy: Path) -> None:
    try:
        os.link(source, copy)
    except OSError:  # a disk without links
        shutil.copy2(source, copy)


def _take_places(draft: Path, target: Path, before: list[Path]) -> None:
    """Move the files of a draft to their places; a move on one disk needs no space."""
    files = _list_files(draft)
    target.mkdir(exist_ok=True)
    for file in files:
        (target / file).parent.mkdir(parents=True, exist_ok=True)
    for file in files:
        place = target / file
        if not (place.exists() and place.samefile(draft / file)):
            (draft / file).replace(place)
    for file in set(before) - set(files):
        (target / file).unlink(missing_ok=True)
