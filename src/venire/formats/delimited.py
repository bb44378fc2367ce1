"""CSV and TSV with column names in the first line; every cell is read as text."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

import polars as pl

from venire.errors import BadLine, DataError
from venire.formats.file_format import TABLES, FileFormat, get_ending
from venire.formats.formulas import keep_apostrophes, unescape_formulas
from venire.tables.schema import Source, express

_DELIMITERS = "\t,;|"


def detect_delimiter(head: str) -> str:
    """Return the most frequent of tab, comma, semicolon and vertical bar in the first line."""
    best = max(_DELIMITERS, key=head.count)
    return best if head.count(best) else ","


@contextmanager
def _unlimited_cells() -> Iterator[None]:
    """Let the csv module read cells of any length."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _records(
    data: bytes, delimiter: str, *, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, cells) of each record that is not blank, with the exact csv module."""
    text = io.StringIO(data.decode("utf-8"), newline="")
    if delimiter == "\t":
        reader = csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(text, delimiter=delimiter, strict=strict)
    start = 1
    with _unlimited_cells():
        for cells in reader:
            if any(cells):
                yield start, cells
            start = reader.line_num + 1


def read(data: bytes, name: str) -> tuple[pl.DataFrame, Source]:
    """Read delimited text; blank lines and lines with only empty cells are skipped.

    The apostrophe before a formula in a cell of CSV is left out, as a spreadsheet does.

    Raises
    ------
    BadLine
        A line with more or fewer cells than the first, a repeated column name, or text that is
        not UTF-8.
    """
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    body = data.lstrip(b"\r\n")
    before = data[: len(data) - len(body)].count(b"\n")
    try:
        head = body.split(b"\n", 1)[0].decode("utf-8")
    except UnicodeDecodeError:
        raise BadLine(name, before + 1, "is not UTF-8 text") from None
    delimiter = detect_delimiter(head)
    first = next(_records(head.encode(), delimiter), None)
    header = [cell.strip() for cell in first[1]] if first else [head.strip()]
    repeated = next((cell for index, cell in enumerate(header) if cell in header[:index]), None)
    if repeated is not None:
        raise BadLine(name, before + 1, f"has the column name {repeated!r} twice")
    frame = _read_fast(body, delimiter, header)
    if frame is None:
        frame = _read_slowly(body, name, delimiter, header, before)
    elif frame.height and frame[:, -1].is_null().any():
        # A line with too few cells has an empty last cell; check widths only in that case.
        _check_widths(body, name, delimiter, len(header), before)
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null() | (pl.all() == "")))

    if delimiter == ",":
        frame = unescape_formulas(frame)

    def line_of(row: int) -> int:
        record = next(islice(_records(body, delimiter), row + 1, None), None)
        return before + (record[0] if record else 0)

    return frame, Source(name, line_of)


def _read_fast(body: bytes, delimiter: str, header: list[str]) -> pl.DataFrame | None:
    try:
        frame = pl.read_csv(
            body,
            separator=delimiter,
            infer_schema=False,
            quote_char=None if delimiter == "\t" else '"',
        )
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        return None
    if frame.width != len(header):
        return None
    frame.columns = header
    return frame


def _read_slowly(
    body: bytes, name: str, delimiter: str, header: list[str], before: int
) -> pl.DataFrame:
    """Read text that the fast reader refused, or raise an error for the bad line."""
    for number, raw in enumerate(body.split(b"\n"), start=before + 1):
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            raise BadLine(name, number, "is not UTF-8 text") from None
    _check_widths(body, name, delimiter, len(header), before)
    rows = [cells for _, cells in _records(body, delimiter)][1:]
    return pl.DataFrame(
        {
            column: pl.Series(column, [row[index] or None for row in rows], dtype=pl.String)
            for index, column in enumerate(header)
        }
    )


def _check_widths(body: bytes, name: str, delimiter: str, width: int, before: int) -> None:
    """Raise an error for the first record with more or fewer cells than the first line."""
    last = 1
    for number, cells in _records(body, delimiter):
        if len(cells) != width:
            start = before + number
            if _has_open_quote(body, delimiter, number):
                raise BadLine(name, start, "opens a quote that is never closed")
            raise BadLine(
                name,
                start,
                f"has {express(len(cells), 'cell')}, but the first line has {width}",
            )
        last = number
    if _has_open_quote(body, delimiter, last):
        raise BadLine(name, before + last, "opens a quote that is never closed")


def _has_open_quote(body: bytes, delimiter: str, number: int) -> bool:
    """Tell whether the record that starts on a line has a quote that is never closed."""
    if delimiter == "\t":
        return False
    tail = b"\n".join(body.split(b"\n")[number - 1 :]).decode("utf-8")
    try:
        with _unlimited_cells():
            next(csv.reader(io.StringIO(tail, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        return "unexpected end" in str(error)
    except StopIteration:
        return False
    return False


def write(frame: pl.DataFrame, delimiter: str, name: str) -> bytes:
    """Return the table as delimited text; the items of a list are separated by blanks.

    Raises
    ------
    DataError
        A column or a cell that the format cannot store.
    """
    for column, dtype in frame.schema.items():
        if isinstance(dtype, (pl.Struct, pl.Object, pl.Array)) or dtype == pl.Binary:
            raise DataError(
                f"{name}: column {column} has the type {dtype}, which CSV and TSV cannot store",
                hint="Save as .jsonl or .parquet.",
            )
    flat = frame.with_columns(
        pl.col(column).cast(pl.List(pl.String)).list.join(" ")
        for column, dtype in frame.schema.items()
        if isinstance(dtype, pl.List)
    )
    if delimiter == ",":
        return keep_apostrophes(flat).write_csv().encode()
    for column, dtype in flat.schema.items():
        if dtype == pl.String:
            has_break = flat[column].str.contains(r"[\t\r\n]")
            if has_break.any():
                value = flat[column].filter(has_break)[0]
                raise DataError(
                    f"{name}: {column} {value!r} contains a tab or line break, "
                    "which TSV cannot store",
                    hint="Save as .csv, .jsonl or .parquet.",
                )
    return flat.write_csv(separator=delimiter, quote_style="never").encode()


FORMAT = FileFormat(
    name="delimited",
    endings=(".csv", ".tsv"),
    tables=TABLES,
    matches=lambda content, ending: True,
    read=read,
    write=lambda frame, name: write(frame, "," if get_ending(name) == ".csv" else "\t", name),
    position=40,
)
