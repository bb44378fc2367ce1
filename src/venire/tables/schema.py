"""Column names, their types, and how a foreign table is brought to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from venire.errors import BadLine, DataError, MissingColumns, UnknownName

PAIR = ["query_id", "doc_id"]
"""Columns that identify a pair of topic and document."""

ROW = "venire:row"
"""Position of a row in its source, kept until the checks are done."""


@dataclass(frozen=True)
class Schema:
    """What a table must and may have; ids are text, numbers are numbers."""

    table: str
    ids: tuple[str, ...]
    numbers: tuple[str, ...] = ()
    optional_ids: tuple[str, ...] = ()
    optional_numbers: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    """Required columns that are checked by the table itself (labels)."""
    other: tuple[str, ...] = ()
    """Optional columns taken as they are."""

    @property
    def required(self) -> tuple[str, ...]:
        """Columns a table must have."""
        return self.ids + self.numbers + self.text

    @property
    def known(self) -> tuple[str, ...]:
        """Columns Venire has a meaning for."""
        return self.required + self.optional_ids + self.optional_numbers + self.other


@dataclass(frozen=True)
class Source:
    """Where rows came from, so that an error can name the file and the line."""

    name: str = ""
    """File name, or "" for a frame."""
    line_of: Callable[[int], int] | None = None
    """Row (from 0) -> line of the file (from 1); only called when something is wrong."""
    clean: bool = False
    """Whether the whole file was searched for NUL already, faster than column by column."""

    def place(self, row: int) -> tuple[str, int | None]:
        """Return the file and line of a row, or its place in a frame in words and None."""
        if self.line_of is None:
            return f"{self.name or 'table'}, row {row}", None
        return self.name, self.line_of(row)

    def error(self, row: int, reason: str) -> BadLine:
        """Return the error for one row."""
        return BadLine(*self.place(row), reason)


def rename(
    frame: pl.DataFrame, columns: Mapping[str, str] | None, schema: Schema, source: Source
) -> pl.DataFrame:
    """Rename foreign columns to the schema's names and check that all are there.

    Parameters
    ----------
    frame : polars.DataFrame
    columns : mapping of str to str, optional
        Venire's name -> the name in the frame. ``":text"`` is that text in every row, for a
        file that has no such column; two names may go to one column.
    """
    mapping = dict(columns or {})
    present = list(frame.columns)
    unknown = [ours for ours in mapping if ours not in schema.known]
    if unknown:
        raise UnknownName(f"column of {schema.table}", unknown[0], schema.known)
    constant = {
        ours: theirs[1:]
        for ours, theirs in mapping.items()
        if theirs.startswith(":") and theirs not in frame.columns
    }
    moved = {ours: theirs for ours, theirs in mapping.items() if ours not in constant}
    absent = [theirs for theirs in moved.values() if theirs not in frame.columns]
    if absent:
        raise MissingColumns(absent, frame.columns, source.name)
    sources = set(moved.values())
    others = [name for name in frame.columns if name not in sources and name not in mapping]
    frame = frame.select(
        *others,
        *(pl.col(theirs).alias(ours) for ours, theirs in moved.items()),
        *(pl.lit(text).alias(ours) for ours, text in constant.items()),
    )
    missing = [name for name in schema.required if name not in frame.columns]
    if missing:
        raise MissingColumns(missing, present, source.name)
    return frame


def convert_types(frame: pl.DataFrame, schema: Schema, source: Source) -> pl.DataFrame:
    """Return the frame with ids as text and numbers as numbers, or say which row is wrong."""
    frame = frame.with_row_index(ROW)
    for name in schema.ids + schema.optional_ids:
        if name in frame.columns:
            frame = _as_text(frame, name, source, needed=name in schema.ids)
    for name in schema.numbers:
        frame = as_number(frame, name, source)
    for name in schema.optional_numbers:
        if name in frame.columns:
            frame = as_number(frame, name, source, needed=False)
    return frame


def _as_text(frame: pl.DataFrame, name: str, source: Source, *, needed: bool) -> pl.DataFrame:
    dtype = frame.schema[name]
    if dtype.is_float() or (isinstance(dtype, pl.Decimal) and dtype.scale):
        raise DataError(
            f"{source.name or 'table'}: column {name} holds decimal numbers; ids are text or "
            "whole numbers (a missing id turns a whole column into decimals in pandas)"
        )
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        raise DataError(f"{source.name or 'table'}: column {name} holds {dtype}; ids are text")
    if dtype != pl.String:
        frame = frame.with_columns(pl.col(name).cast(pl.String))
    elif not source.clean:
        no_nul(frame[name], source, frame[ROW])
    if needed:
        empty = frame.filter(pl.col(name).is_null() | (pl.col(name) == ""))
        if empty.height:
            raise source.error(int(empty[ROW][0]), f"{name} is empty")
    return frame


def no_nul(ids: pl.Series, source: Source, rows: pl.Series | None = None) -> None:
    """Refuse ids that hold NUL, at which C programs (trec_eval) and databases cut or fail."""
    odd = ids.str.contains("\x00", literal=True).fill_null(value=False)
    if odd.any():
        row = int(odd.arg_true()[0])
        place = row if rows is None else int(rows[row])
        raise source.error(place, f"{ids.name} {ids[row]!r} holds a NUL character; take it out")


def as_number(
    frame: pl.DataFrame, name: str, source: Source, *, needed: bool = True
) -> pl.DataFrame:
    """Cast a column to Float64; a value that is no finite number is an error with its line."""
    before = frame[name]
    if before.dtype in (pl.Categorical, pl.Enum):
        before = before.cast(pl.String)
    if not (before.dtype.is_numeric() or before.dtype in (pl.String, pl.Boolean, pl.Null)):
        raise DataError(
            f"{source.name or 'table'}: column {name} holds {before.dtype}, not numbers"
        )
    if before.dtype == pl.String:
        before = before.str.strip_chars()
    after = before.cast(pl.Float64, strict=False)
    if before.dtype == pl.String and after.null_count() > before.null_count():
        # "true" and "false" are what a boolean column becomes in a text file.
        words = before.str.to_lowercase().replace_strict(
            ["false", "true"], [0.0, 1.0], default=None, return_dtype=pl.Float64
        )
        after = after.fill_null(words)
    bad = after.is_null() | ~after.is_finite().fill_null(value=False)
    if not needed:
        bad = bad & before.is_not_null()
        if before.dtype == pl.String:
            bad = bad & (before != "")
    if bad.any():
        row = int(bad.arg_true()[0])
        value = before[row]
        what = "empty" if value is None or value == "" else f"{value!r}, not a number"
        raise source.error(int(frame[ROW][row]), f"{name} is {what}")
    return frame.with_columns(after.alias(name))


def repeats(frame: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """Return the rows whose key occurs more than once.

    Equal keys have equal hashes: only rows whose hash occurs twice are compared as text,
    which is three times as fast and saves a gigabyte at four million rows.
    """
    mixed = pl.lit(0, pl.UInt64)
    for name in key:
        mixed = mixed * _MIX + pl.col(name).hash()
    hashes = frame.select(mixed).to_series()
    if hashes.n_unique() == frame.height:
        return frame.clear()
    suspects = frame.filter(hashes.is_duplicated())
    return suspects.filter(pl.struct(key).is_duplicated())


def first_repeat(frame: pl.DataFrame, key: list[str]) -> dict[str, Any] | None:
    """Return the first row whose key was there before, or None."""
    again = repeats(frame, key)
    if again.is_empty():
        return None
    return again.filter(~pl.struct(key).is_first_distinct()).row(0, named=True)


def frame_of_mapping(data: Mapping[Any, Mapping[Any, Any]], value: str) -> pl.DataFrame:
    """Return ``{query_id: {doc_id: value}}`` as a frame; ids become text.

    Raises
    ------
    DataError
        For a value that is no number.
    """
    rows = [(query, doc, number) for query, docs in data.items() for doc, number in docs.items()]
    numbers = []
    for query, doc, number in rows:
        try:
            numbers.append(float(number))
        except (TypeError, ValueError):
            raise DataError(f"{query} {doc}: {value} is {number!r}, not a number") from None
    return pl.DataFrame(
        {
            "query_id": pl.Series([str(row[0]) for row in rows], dtype=pl.String),
            "doc_id": pl.Series([str(row[1]) for row in rows], dtype=pl.String),
            value: pl.Series(numbers, dtype=pl.Float64),
        }
    )


_MIX = pl.lit(0x9E3779B97F4A7C15, pl.UInt64)
"""An odd number, by which the hashes of several columns are kept apart."""
MOST_WHOLE = 2.0**53
"""Up to here a double says every whole number."""


def whole(column: pl.Series) -> bool:
    """Tell whether all values are whole numbers that an integer can hold."""
    return bool(((column == column.floor()) & (column.abs() <= MOST_WHOLE)).all())


def express(number: int, singular: str, plural: str = "") -> str:
    """Return ``1 item`` or ``2,000 items``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def number_text(value: float) -> str:
    """Return the shortest text of a number: ``2`` rather than ``2.0``."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)
