"""Files in and out: TREC, delimited text, JSON Lines, Parquet; compressed or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from venire.errors import BadLine
from venire.formats import trec
from venire.formats.file_format import find_reader, find_writer
from venire.formats.source import read_bytes, stem, write_bytes
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import Source

__all__ = [
    "read_frame",
    "read_judgments",
    "read_qrels",
    "read_runs",
    "write_frame",
    "write_qrels",
    "write_runs",
]


def read_frame(path: str | Path, *, name: str | None = None) -> tuple[pl.DataFrame, Source]:
    """Read a table with column names, whatever its format, every cell as text or as typed.

    The format is found from the content (Parquet, JSON Lines) and from the first
    line (tab, comma, semicolon or bar).

    Parameters
    ----------
    path : path
    name : str, optional
        What messages call the file; by default its path.

    Raises
    ------
    BadLine
        With the file, the line and what is wrong.
    """
    name = name or str(path)
    data = read_bytes(path, name=name)
    return find_reader("other", data, name).read(data, name)


def read_judgments(path: str | Path, **options: Any) -> Judgments:
    """Read judgments; see :meth:`venire.Judgments.of` for the options."""
    frame, source = read_frame(path)
    return Judgments.of(frame, source=source, **options)


def read_qrels(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    decimals: bool = False,
    name: str | None = None,
) -> Qrels:
    """Read TREC qrels or a table with the columns query_id, doc_id, relevance.

    TREC qrels hold whole numbers; ``decimals`` also reads the real-valued grades that an
    aggregation may have been written with. Messages call the file ``name``, by default its path.
    """
    name = name or str(path)
    data = read_bytes(path, name=name)
    known = find_reader("qrels", data, name, renamed=columns is not None)
    frame, source = known.read(data, name)
    adaptive = ""
    if not known.has_columns:
        adaptive = trec.get_adaptive(frame)
        if not decimals:
            trec.require_whole_grades(frame, source)
    return replace(Qrels.of(frame, columns=columns, source=source), adaptive=adaptive)


def read_runs(
    path: str | Path, *, columns: Mapping[str, str] | None = None, name: str | None = None
) -> Runs:
    """Read a TREC run or a table with the columns query_id, doc_id, score (run_id).

    Messages call the file ``name``, by default its path; a table without the column run_id is one
    run of that name.
    """
    name = name or str(path)
    data = read_bytes(path, name=name)
    known = find_reader("runs", data, name, renamed=columns is not None)
    frame, source = known.read(data, name)
    return Runs.of(frame, columns=columns, run_id=stem(name), source=source)


def write_frame(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a table in the format of the ending, whole or not at all."""
    name = str(path)
    write_bytes(path, find_writer("other", name).write(frame, name))


def write_qrels(qrels: Qrels, path: str | Path) -> None:
    """Write qrels in the format of the ending, by default as TREC qrels."""
    name = str(path)
    known = find_writer("qrels", name)
    frame = qrels.frame
    if not known.has_columns:
        frame = trec.mark_adaptive(frame, qrels.adaptive)
    write_bytes(path, known.write(frame, name))


def write_runs(runs: Runs, path: str | Path) -> None:
    """Write runs in the format of the ending, by default as a TREC run."""
    name = str(path)
    known = find_writer("runs", name)
    frame = runs.frame if known.has_columns else runs.with_ranks(ties="file-order")
    write_bytes(path, known.write(frame, name))


def require_rows(judgments: Judgments, name: str) -> Judgments:
    """Return the judgments, or say that none is left."""
    if not len(judgments):
        why = f" left in it: {'; '.join(judgments.notes)}" if judgments.notes else " in it"
        raise BadLine(name, None, f"there is no judgment{why}")
    return judgments
