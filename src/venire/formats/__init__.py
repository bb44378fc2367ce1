"""Read and write files: TREC, delimited text, JSON Lines and Parquet, compressed or not."""

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
from venire.tables.schema import MOST_WHOLE, Source

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
    """Read a table with column names in any format; cells of text formats are read as text.

    The format is detected from the content (Parquet, JSON Lines) and from the first line (tab,
    comma, semicolon or vertical bar).

    Parameters
    ----------
    path : path
    name : str, optional
        Name of the file in messages; by default its path.

    Raises
    ------
    BadLine
        A file or a line that cannot be read.
    """
    name = name or str(path)
    data = read_bytes(path, name=name)
    return find_reader("other", data, name).read(data, name)


def read_judgments(path: str | Path, **options: Any) -> Judgments:
    """Read judgments; the options are those of :meth:`venire.Judgments.of`."""
    frame, source = read_frame(path)
    return Judgments.of(frame, source=source, **options)


def read_qrels(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    decimals: bool = False,
    whole: bool = False,
    name: str | None = None,
) -> Qrels:
    """Read TREC qrels or a table with the columns query_id, doc_id, relevance.

    Grades in TREC qrels must be whole numbers. With ``decimals``, real-valued grades of an
    aggregation are read too; with ``whole``, they are refused in tables too. Messages call the
    file ``name``, by default its path.
    """
    name = name or str(path)
    data = read_bytes(path, name=name)
    file_format = find_reader("qrels", data, name, renamed=columns is not None)
    frame, source = file_format.read(data, name)
    if file_format.has_columns:
        qrels = Qrels.of(frame, columns=columns, source=source)
        if whole and not qrels.has_whole_grades:
            require_whole_grades(frame[(columns or {}).get("relevance", "relevance")], source)
        return qrels
    if not decimals:
        require_whole_grades(frame["relevance"], source)
    qrels = Qrels.of(frame, source=source)
    return replace(
        qrels,
        notes=(*qrels.notes, *trec.note_subtopics(frame)),
        adaptive=trec.get_adaptive(frame),
    )


_WHOLE = r"^\s*[+-]?\d+(\.0*)?\s*$"
"""What trec_eval reads as a whole number and what people write for one: 1, -1, 1.0."""


def require_whole_grades(grades: pl.Series, source: Source) -> None:
    """Refuse grades of a file that are not whole numbers; 1.0 is one, as for trec_eval.

    Raises
    ------
    BadLine
    """
    number = grades.cast(pl.Float64, strict=False)
    large = (number.abs() > MOST_WHOLE).fill_null(value=False)
    if large.any():
        row = int(large.arg_true()[0])
        raise source.error(row, f"the grade {grades[row]} is too large")
    bad = number.is_null() | (number != number.floor())
    if grades.dtype == pl.String:
        bad |= ~grades.str.contains(_WHOLE)
    if bad.any():
        row = int(bad.arg_true()[0])
        is_decimal = number[row] is not None
        raise source.error(
            row,
            f"the grade must be a whole number (got {str(grades[row])!r})",
            hint='Write the qrels with `rule="mode"`, or read them with '
            "`Qrels.read(path, decimals=True)`."
            if is_decimal
            else "",
            code="fractional-grades" if is_decimal else None,
        )


def read_runs(
    path: str | Path, *, columns: Mapping[str, str] | None = None, name: str | None = None
) -> Runs:
    """Read a TREC run or a table with the columns query_id, doc_id, score (run_id).

    Messages call the file ``name``, by default its path. A table without the column run_id is
    read as a single run, named after the file.
    """
    name = name or str(path)
    data = read_bytes(path, name=name)
    file_format = find_reader("runs", data, name, renamed=columns is not None)
    frame, source = file_format.read(data, name)
    return Runs.of(frame, columns=columns, run_id=stem(name), source=source)


def write_frame(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a table in the format of the file ending; a failed write leaves no partial file."""
    name = str(path)
    write_bytes(path, find_writer("other", name).write(frame, name))


def write_qrels(qrels: Qrels, path: str | Path) -> None:
    """Write qrels in the format of the file ending, by default as TREC qrels."""
    name = str(path)
    file_format = find_writer("qrels", name)
    frame = qrels.frame
    if not file_format.has_columns:
        frame = trec.mark_adaptive(frame, qrels.adaptive)
    write_bytes(path, file_format.write(frame, name))


def write_runs(runs: Runs, path: str | Path) -> None:
    """Write runs in the format of the file ending, by default as a TREC run."""
    name = str(path)
    file_format = find_writer("runs", name)
    frame = runs.frame if file_format.has_columns else runs.with_ranks(ties="file-order")
    write_bytes(path, file_format.write(frame, name))


def require_rows(judgments: Judgments, name: str) -> Judgments:
    """Return the judgments; an empty table is an error."""
    if not len(judgments):
        reason = f" left ({'; '.join(judgments.notes)})" if judgments.notes else ""
        raise BadLine(name, None, f"has no judgments{reason}")
    return judgments
