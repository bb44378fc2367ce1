"""TREC qrels (``topic iteration docno relevance``) and runs (``topic Q0 docno rank score tag``).

Fields are separated by blanks or tabs, as many as there are; leading blanks, CRLF, a
byte order mark and a missing last newline are read as trec_eval reads them.
A no-break space (U+00A0) is part of an id.
"""

from __future__ import annotations

import re

import polars as pl

from venire.errors import BadLine, DataError
from venire.tables.schema import Source

_BLANKS = bytes.maketrans(b"\t\r\x0b\x0c", b"    ")
_QRELS = ("query_id", "iteration", "doc_id", "relevance")
_SAMPLE = ("query_id", "iteration", "doc_id", "stratum", "relevance")
_RUN = ("query_id", "iteration", "doc_id", "rank", "score", "run_id")


def is_trec(data: bytes) -> bool:
    """Tell whether a file is TREC and not a table with column names or objects."""
    line = next((line for line in data.split(b"\n", 100) if line.strip()), b"")
    cells = {cell.strip(b' \r"') for cell in re.split(rb"[\t,;|]", line)}
    return not ({b"query_id", b"doc_id"} & cells or line[:1] == b"{" or data[:4] == b"PAR1")


def _normalise(data: bytes) -> bytes:
    """Return the text with one blank between fields and none at the ends of a line."""
    if data.translate(None, b"\t\r\x0b\x0c") != data:
        data = data.translate(_BLANKS)
    if b"  " in data:
        data = re.sub(rb" {2,}", b" ", data)
    if b"\n " in data or data[:1] == b" ":
        data = re.sub(rb"(?m)^ +", b"", data)
    if b" \n" in data or data[-1:] == b" ":
        data = re.sub(rb"(?m) +$", b"", data)
    if b"\n\n" in data or data[:1] == b"\n":
        data = re.sub(rb"\n{2,}", b"\n", data).lstrip(b"\n")
    return data


def _line_of(data: bytes, row: int) -> int:
    """Return the line (from 1) of a row (from 0): blank lines are no rows."""
    seen = -1
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            seen += 1
            if seen == row:
                return number
    return 0


def _read(data: bytes, name: str, columns: tuple[str, ...]) -> tuple[pl.DataFrame, Source]:
    source = Source(name, lambda row: _line_of(data, row))
    clean = _normalise(data)
    frame: pl.DataFrame | None
    try:
        frame = pl.read_csv(
            clean,
            separator=" ",
            has_header=False,
            infer_schema=False,
            quote_char=None,
            schema=dict.fromkeys(columns, pl.String),
            # trec_eval reads six fields of a run and no further.
            extra_columns="ignore" if columns is _RUN else "raise",
            truncate_ragged_lines=columns is _RUN,
        )
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        frame = None
    if frame is None or frame.width != len(columns) or frame[:, -1].is_null().any():
        raise _diagnose(data, name, columns)
    return frame, source


def _diagnose(data: bytes, name: str, columns: tuple[str, ...]) -> DataError:
    """Return the first fault, found the slow way."""
    form = " ".join(columns)
    for number, line in enumerate(data.split(b"\n"), start=1):
        cells = line.split()
        if cells and (
            len(cells) < len(columns) or (columns is not _RUN and len(cells) > len(columns))
        ):
            reason = f"has {len(cells)} fields, not the {len(columns)} of `{form}`"
            return BadLine(name, number, reason)
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return BadLine(name, number, "is not UTF-8 text")
    return DataError(f"{name}: cannot be read as `{form}`")


def read_qrels(data: bytes, name: str, *, decimals: bool = False) -> tuple[pl.DataFrame, Source]:
    """Read qrels; a grade that is no whole number is refused, unless decimals are asked for.

    Where the first line has five fields, the fourth is the stratum that a pair was sampled from.

    Raises
    ------
    BadLine
    """
    first = next((line for line in data.split(b"\n", 100) if line.strip()), b"")
    frame, source = _read(data, name, _SAMPLE if len(first.split()) == 5 else _QRELS)
    if decimals:
        return frame.drop("iteration"), source
    grade = frame["relevance"]
    bad = grade.cast(pl.Int64, strict=False).is_null()
    if bad.any():
        row = int(bad.arg_true()[0])
        raise source.error(
            row,
            f"the grade is {grade[row]!r}, not a whole number; real-valued grades are read "
            "with decimals=True",
        )
    return frame.drop("iteration"), source


def read_run(data: bytes, name: str) -> tuple[pl.DataFrame, Source]:
    """Read a run; rank and Q0 are ignored, as trec_eval ignores them.

    Raises
    ------
    BadLine
    """
    frame, source = _read(data, name, _RUN)
    return frame.select("query_id", "doc_id", "score", "run_id"), source


def _check_ids(frame: pl.DataFrame, name: str, columns: tuple[str, ...]) -> None:
    for column in columns:
        odd = frame[column].str.contains(r"[ \t\r\n\x0b\x0c]") | (frame[column] == "")
        if odd.any():
            value = frame[column].filter(odd)[0]
            raise DataError(
                f"{name}: {column} {value!r} is empty or holds a blank, which TREC files cannot "
                "say; write .csv, .jsonl or .parquet instead"
            )


def write_qrels(frame: pl.DataFrame, name: str) -> bytes:
    """Return TREC qrels text."""
    _check_ids(frame, name, ("query_id", "doc_id"))
    out = frame.select("query_id", pl.lit("0").alias("iteration"), "doc_id", "relevance")
    return out.write_csv(include_header=False, separator=" ", quote_style="never").encode()


def write_run(ranked: pl.DataFrame, name: str) -> bytes:
    """Return TREC run text from a frame with ranks."""
    _check_ids(ranked, name, ("query_id", "doc_id", "run_id"))
    out = ranked.select(
        "query_id",
        pl.lit("Q0").alias("iteration"),
        "doc_id",
        "rank",
        "score",
        "run_id",
    )
    return out.write_csv(include_header=False, separator=" ", quote_style="never").encode()
