"""Files in and out: TREC, delimited text, JSON Lines, Parquet; compressed or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from venire.errors import BadLine, BadSetting
from venire.formats import delimited, jsonl, parquet, trec
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
    return _other(read_bytes(path, name=name), name)


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
    if columns is None and not _is_table(name) and trec.is_trec(data):
        frame, adaptive, source = trec.read_qrels(data, name, decimals=decimals)
        return replace(Qrels.of(frame, source=source), adaptive=adaptive)
    frame, source = _other(data, name)
    return Qrels.of(frame, columns=columns, source=source)


def read_runs(
    path: str | Path, *, columns: Mapping[str, str] | None = None, name: str | None = None
) -> Runs:
    """Read a TREC run or a table with the columns query_id, doc_id, score (run_id).

    Messages call the file ``name``, by default its path; a table without the column run_id is one
    run of that name.
    """
    name = name or str(path)
    data = read_bytes(path, name=name)
    if columns is None and not _is_table(name) and trec.is_trec(data):
        frame, source = trec.read_run(data, name)
        return Runs.of(frame, source=source)
    frame, source = _other(data, name)
    return Runs.of(frame, columns=columns, run_id=stem(name), source=source)


def _other(data: bytes, name: str) -> tuple[pl.DataFrame, Source]:
    if parquet.is_parquet(data):
        return parquet.read_parquet(data, name), Source(name)
    if jsonl.is_jsonl(data):
        return jsonl.read(data, name)
    return delimited.read(data, name)


def write_frame(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a table; the ending says how. A half-written file never remains."""
    write_bytes(path, _encode(frame, str(path)))


def _encode(frame: pl.DataFrame, name: str) -> bytes:
    kind = Path(stem(name, keep_kind=True)).suffix
    if kind == ".parquet":
        return parquet.write_parquet(frame)
    if kind in (".jsonl", ".ndjson"):
        return jsonl.write(frame)
    if kind in (".csv", ".tsv"):
        return delimited.write(frame, "," if kind == ".csv" else "\t", name)
    raise BadSetting(f"{name}: the ending says the format: .csv .tsv .jsonl .parquet")


def write_qrels(qrels: Qrels, path: str | Path) -> None:
    """Write TREC qrels, or a table where the ending asks for one."""
    if _is_table(path):
        write_frame(qrels.frame, path)
    else:
        write_bytes(path, trec.write_qrels(qrels.frame, str(path), qrels.adaptive))


def write_runs(runs: Runs, path: str | Path) -> None:
    """Write a TREC run, or a table where the ending asks for one."""
    if _is_table(path):
        write_frame(runs.frame, path)
    else:
        write_bytes(path, trec.write_run(runs.ranked(ties="file-order"), str(path)))


def _is_table(path: str | Path) -> bool:
    return Path(stem(str(path), keep_kind=True)).suffix in (
        ".csv",
        ".tsv",
        ".jsonl",
        ".ndjson",
        ".parquet",
    )


def require_rows(judgments: Judgments, name: str) -> Judgments:
    """Return the judgments, or say that none is left."""
    if not len(judgments):
        why = f" left in it: {'; '.join(judgments.notes)}" if judgments.notes else " in it"
        raise BadLine(name, None, f"there is no judgment{why}")
    return judgments
