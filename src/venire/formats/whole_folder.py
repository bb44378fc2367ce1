"""Write a folder of files as a whole: all of the new ones, or what was there before."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from venire.errors import BadSetting, DataError

ENDINGS = (".csv", ".parquet", ".json", ".html")
"""Endings of the files that results write. A folder may hold others, which are never touched."""


@contextmanager
def write_whole(folder: str | Path) -> Iterator[Path]:
    """Yield an empty draft, whose files take their places in the folder once all are written.

    Where an error ends the writing, the draft is removed, and the folder is as it was. In the draft
    stands an empty file for each table and page that the folder has: the writer removes those that
    the new result does not have. Other files of the folder stay.

    Raises
    ------
    BadSetting
        The folder has no name, or is a file.
    DataError
        The folder cannot be made.
    """
    if not str(folder):
        raise BadSetting("must name a folder (got '')", argument="folder", value="")
    target = Path(folder).absolute()
    if target.exists() and not target.is_dir():
        raise BadSetting(f"is a file: {target}", argument="folder", value=str(folder))
    is_new = not target.exists()
    try:
        target.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".venire-", dir=target))
    except OSError as error:
        raise DataError(f"{folder}: cannot be written: {error.strerror}") from None
    is_written = False
    try:
        before = _mark_files(target, draft)
        yield draft
        _take_places(draft, target, before)
        is_written = True
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if is_new and not is_written:
            shutil.rmtree(target, ignore_errors=True)


def _mark_files(target: Path, draft: Path) -> dict[Path, int]:
    """Put an empty file into the draft for each table and page; return them with their inodes."""
    marks = {}
    for path in sorted([*target.glob("*"), *target.glob("*/*")]):
        if path.suffix in ENDINGS and path.is_file() and draft not in path.parents:
            mark = draft / path.relative_to(target)
            mark.parent.mkdir(exist_ok=True)
            mark.touch()
            marks[path.relative_to(target)] = mark.stat().st_ino
    return marks


def _take_places(draft: Path, target: Path, before: dict[Path, int]) -> None:
    """Move the new files to their places; a move on one disk needs no space."""
    files = sorted(path.relative_to(draft) for path in draft.rglob("*") if path.is_file())
    for file in files:
        is_mark = (draft / file).stat().st_ino == before.get(file)
        if not (is_mark and (draft / file).stat().st_size == 0):
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            (draft / file).replace(target / file)
    for file in set(before) - set(files):
        (target / file).unlink(missing_ok=True)
