"""Read run files and folders as one table, and name the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl

from venire.errors import DataError
from venire.formats import read_runs
from venire.formats.source import list_files, stem
from venire.tables.runs import Runs

ENDING = ".run"
"""Ending of the files in a folder that are read, compressed or not."""


def read_run_files(paths: Iterable[str | Path], *, keep_going: bool = False) -> Runs:
    """Read run files into one table.

    A run is named by its tag. If several files have the same tag, the runs of these files are
    named after their files (``file``, or ``file/tag`` if the file has several runs), and a note
    says so.

    Parameters
    ----------
    paths : iterable of path
        Files, or folders: a folder stands for the ``*.run`` files in it.
    keep_going : bool
        Whether a file that cannot be read is left out with a note instead of an error.

    Raises
    ------
    DataError
        A file that cannot be read (with ``keep_going``: no file can be read), or two files whose
        runs would have the same name.
    """
    files, notes = _read_each(paths, keep_going=keep_going)
    if not files:
        if notes:
            raise DataError(f"No run file could be read: {'; '.join(notes)}")
        return Runs.empty()
    counts = Counter(tag for _, runs in files for tag in _tags(runs))
    shared = {tag for tag, count in counts.items() if count > 1}
    frames = []
    path_of: dict[str, Path] = {}
    for path, runs in files:
        if not shared.isdisjoint(_tags(runs)):
            runs = name_by_file(runs, stem(str(path)))
        for name in _tags(runs):
            if path_of.get(name) == path:
                raise DataError(f"{path}: the file is passed twice", hint="Pass it once.")
            if name in path_of:
                raise DataError(
                    f"{path_of[name]} and {path} both have a run named {name!r}",
                    hint="Rename one of the files.",
                )
            path_of[name] = path
        frames.append(runs.frame)
        notes += runs.notes
    if shared:
        notes.append(
            f"several files have a run named {', '.join(sorted(shared))}; the runs of these files "
            "are named after their files"
        )
    return Runs(pl.concat(frames), tuple(notes))


def name_by_file(runs: Runs, name: str) -> Runs:
    """Return the runs of a file named ``name``, or ``name/tag`` if there are several."""
    tag = pl.col("run_id")
    several = runs.frame["run_id"].n_unique() > 1
    run_id = pl.lit(f"{name}/") + tag if several else pl.lit(name)
    return replace(runs, frame=runs.frame.with_columns(run_id.alias("run_id")))


def _tags(runs: Runs) -> list[str]:
    return runs.frame["run_id"].unique().to_list()


def _read_each(
    paths: Iterable[str | Path], *, keep_going: bool
) -> tuple[list[tuple[Path, Runs]], list[str]]:
    """Return the runs of each file, and notes on files that were left out."""
    files: list[tuple[Path, Runs]] = []
    notes: list[str] = []
    for path in paths:
        try:
            inside = _list_run_files(path)
        except DataError as error:
            if not keep_going:
                raise
            notes.append(f"left out: {error}")
            continue
        for file in inside:
            try:
                files.append((file, read_runs(file)))
            except DataError as error:
                if not keep_going:
                    raise
                notes.append(f"left out: {error}")
    return files, notes


def _list_run_files(path: str | Path) -> list[Path]:
    """Return the file, or the run files of the folder.

    Raises
    ------
    DataError
        For an empty name, and for a folder without run files.
    """
    if not str(path):
        raise DataError(
            "A run file name is empty",
            hint=f"Pass the path of a run file or of a folder with *{ENDING} files.",
        )
    file = Path(path)
    if not file.is_dir():
        return [file]
    inside = list_files(file, ENDING)
    if not inside:
        raise DataError(
            f"{path}: the folder contains no *{ENDING} file",
            hint=f"Rename the runs to NAME{ENDING}, or pass the files themselves.",
        )
    return inside
