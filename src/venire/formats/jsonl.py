"""JSON Lines: one object per line."""

from __future__ import annotations

import io
import json
import re

import polars as pl

from venire.errors import BadLine
from venire.formats.file_format import TABLES, FileFormat
from venire.tables.schema import Source

_DEEP = 64
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def is_jsonl(data: bytes) -> bool:
    """Tell whether the file starts with a JSON object."""
    return data.lstrip()[:1] == b"{"


def read(data: bytes, name: str) -> tuple[pl.DataFrame, Source]:
    """Read JSON Lines; blank lines are skipped."""
    numbers = [number for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    _refuse_half_pairs(data, name)
    frame: pl.DataFrame | None = None
    if not any(line.count(b"{") + line.count(b"[") > _DEEP for line in data.split(b"\n")):
        # polars needs time cubic in the nesting depth, so deeply nested lines are read by json.
        try:
            frame = pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
        except (pl.exceptions.PolarsError, UnicodeDecodeError):
            frame = None
    if frame is None or frame.height != len(numbers):
        frame = _slowly(data, name)
    return frame, Source(name, lambda row: numbers[row])


def _refuse_half_pairs(data: bytes, name: str) -> None:
    """Refuse half a surrogate pair: it stands for no character, and no file can store it."""
    if not _SURROGATE.search(data):
        return
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not _SURROGATE.search(line):
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue  # reported when the line is read
        pairs = row.items() if isinstance(row, dict) else [("line", row)]
        for key, value in pairs:
            half = _find_half_pair(f"{key}{value}")
            if half:
                raise BadLine(name, number, f"{key!a} contains half a surrogate pair ({half})")


def _find_half_pair(text: str) -> str:
    """Return the first half of a surrogate pair in a text, as its escape, or ""."""
    return next((f"\\u{ord(sign):x}" for sign in text if "\ud800" <= sign <= "\udfff"), "")


def _slowly(data: bytes, name: str) -> pl.DataFrame:
    """Read line by line; a line that is not a JSON object is an error."""
    rows = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode("utf-8"))
        except UnicodeDecodeError:
            raise BadLine(name, number, "is not UTF-8 text") from None
        except (ValueError, RecursionError) as error:
            reason = f"is not valid JSON: {getattr(error, 'msg', 'nested too deeply')}"
            raise BadLine(name, number, reason) from None
        if not isinstance(row, dict):
            raise BadLine(name, number, "is not a JSON object", hint="Write one {...} per line.")
        rows.append(row)
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return pl.DataFrame({key: _column(key, [row.get(key) for row in rows]) for key in keys})


def _column(name: str, values: list[object]) -> pl.Series:
    """Return a column as text, so that mixed types (1 and "1") are read as in delimited files."""
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
