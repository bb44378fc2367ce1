"""CSV and TSV with a first line of column names; every cell is read as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice

import polars as pl

from venire.errors import BadLine, DataError
from venire.tables.schema import Source

_DELIMITERS = "\t,;|"


def sniff(data: bytes) -> str:
    """Return the delimiter of the first line: the one of tab, comma, semicolon, bar it has most."""
    head = data.split(b"\n", 1)[0].decode("utf-8", "replace")
    best = max(_DELIMITERS, key=head.count)
    return best if head.count(best) else ","


def _records(data: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, cells) of each record that is not blank: the slow, exact way."""
    text = io.StringIO(data.decode("utf-8", "replace"), newline="")
    if delimiter == "\t":
        reader = csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(text, delimiter=delimiter)
    start = 1
    for cells in reader:
        if cells:
            yield start, cells
        start = reader.line_num + 1


def read(data: bytes, name: str) -> tuple[pl.DataFrame, Source]:
    """Read delimited text.

    Raises
    ------
    BadLine
        A line with more or fewer cells than the first, a name twice, text that is not UTF-8.
    """
    delimiter = sniff(data)
    header = next(_records(data.split(b"\n", 1)[0] + b"\n", delimiter), (1, []))[1]
    header = [cell.strip() for cell in header]
    twice = next((cell for at, cell in enumerate(header) if cell in header[:at]), None)
    if twice is not None:
        raise BadLine(name, 1, f"the column name {twice!r} stands there twice")
    try:
        frame = pl.read_csv(
            data,
            separator=delimiter,
            infer_schema=False,
            quote_char=None if delimiter == "\t" else '"',
        )
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise _diagnose(data, name, delimiter, len(header)) or DataError(
            f"{name}: cannot be read as delimited text: {str(error).splitlines()[0]}"
        ) from None
    frame.columns = header
    blank = pl.all_horizontal(pl.all().is_null())
    if frame.width > 1:
        frame = frame.filter(~blank)
        # A short line shows as an empty last cell: only then is the slow check worth it.
        if frame.height and frame[:, -1].is_null().any():
            wrong = _diagnose(data, name, delimiter, len(header))
            if wrong is not None:
                raise wrong
    if data.find(b"\r") >= 0:
        frame = frame.with_columns(pl.all().str.strip_suffix("\r"))

    def line_of(row: int) -> int:
        record = next(islice(_records(data, delimiter), row + 1, None), None)
        return record[0] if record else 0

    return frame, Source(name, line_of)


def _diagnose(data: bytes, name: str, delimiter: str, width: int) -> BadLine | None:
    """Return the first fault of the text, found the slow way."""
    for number, raw in enumerate(data.split(b"\n"), start=1):
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            return BadLine(name, number, "is not UTF-8 text")
    for number, cells in _records(data, delimiter):
        if len(cells) != width:
            return BadLine(name, number, f"has {len(cells)} cells where the first line has {width}")
    return None


def write(frame: pl.DataFrame, delimiter: str) -> bytes:
    """Return the table as delimited text."""
    flat = frame.with_columns(
        pl.col(name).cast(pl.List(pl.String)).list.join(" ")
        for name, dtype in frame.schema.items()
        if isinstance(dtype, pl.List)
    )
    return flat.write_csv(separator=delimiter).encode()
