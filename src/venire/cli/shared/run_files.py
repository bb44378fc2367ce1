"""Run files that commands read."""

from __future__ import annotations

from typing import Any

from venire.errors import DataError


def read_runs(paths: tuple[str, ...], *, keep_going: bool) -> tuple[Any, list[str]]:
    """Read run files into one table; names that occur twice get their file's name."""
    import polars as pl

    from venire.formats.source import stem
    from venire.tables.runs import Runs

    frames = []
    notes = []
    names: set[str] = set()
    for path in paths:
        try:
            frame = Runs.read(path).frame
        except DataError as error:
            if not keep_going:
                raise
            notes.append(f"left out: {error}")
            continue
        if names & set(frame["run_id"].unique()):
            if frame["run_id"].n_unique() > 1:
                raise DataError(f"{path}: a run name in it was in an earlier file")
            frame = frame.with_columns(pl.lit(stem(path)).alias("run_id"))
            notes.append(f"{path}: its run name was taken; it is called {stem(path)}")
            if stem(path) in names:
                raise DataError(f"{path}: the run name {stem(path)} was in an earlier file")
        names |= set(frame["run_id"].unique())
        frames.append(frame)
    if not frames:
        raise DataError("no run could be read: " + "; ".join(notes))
    return Runs(pl.concat(frames)), notes
