"""JSON Lines: one object a line."""

from __future__ import annotations

import io
import json

import polars as pl

from venire.errors import BadLine
from venire.formats.file_format import TABLES, FileFormat
from venire.tables.schema import Source

_DEEP = 64


def is_jsonl(data: bytes) -> bool:
    """Tell whether the first thing in the file is a JSON object."""
    return data.lstrip()[:1] == b"{"


def read(data: bytes, name: str) -> tuple[pl.DataFrame, Source]:
    """Read JSON Lines; blank lines are passed over."""
    numbers = [number for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    frame: pl.DataFrame | None = None
    if not any(line.count(b"{") + line.count(b"[") > _DEEP for line in data.split(b"\n")):
        # Time grows with the cube of the depth there; tables are flat.
        try:
            frame = pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
        except (pl.exceptions.PolarsError, UnicodeDecodeError):
            frame = None
    if frame is None or frame.height != len(numbers):
        frame = _slowly(data, name)
    return frame, Source(name, lambda row: numbers[row])


def _slowly(data: bytes, name: str) -> pl.DataFrame:
    """Read line by line and name the line that is no object."""
    rows = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode("utf-8"))
        except UnicodeDecodeError:
            raise BadLine(name, number, "is not UTF-8 text") from None
        except (ValueError, RecursionError) as error:
            reason = f"is no JSON: {getattr(error, 'msg', 'nested too deep')}"
            raise BadLine(name, number, reason) from None
        if not isinstance(row, dict):
            raise BadLine(name, number, "is no JSON object; write one {...} a line")
        rows.append(row)
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return pl.DataFrame({key: _column(key, [row.get(key) for row in rows]) for key in keys})


def _column(name: str, values: list[object]) -> pl.Series:
    """Return a column; mixed types (1 and "1") are met as text, as in delimited files."""
    return pl.Series(name, [_text(value) for value in values], pl.String)


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def write(frame: pl.DataFrame) -> bytes:
    """Return the table as JSON Lines."""
    return frame.write_ndjson().encode()


FORMAT = FileFormat(
    name="jsonl",
    endings=(".jsonl", ".ndjson"),
    tables=TABLES,
    matches=lambda content, ending: is_jsonl(content),
    read=read,
    write=lambda frame, name: write(frame),
    position=30,
)
