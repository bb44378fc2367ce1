"""TREC qrels (``topic iteration docno relevance``) and runs (``topic Q0 docno rank score tag``).

Fields are separated by any number of blanks or tabs. Leading blanks, CRLF, a byte order mark and
a missing last newline are read as in trec_eval. A no-break space (U+00A0) is part of an ID.
"""

from __future__ import annotations

import json
import re

import polars as pl

from venire.errors import BadLine, DataError
from venire.formats.file_format import FileFormat, list_table_endings
from venire.tables.schema import Source, express

_BLANKS = bytes.maketrans(b"\t\r\x0b\x0c", b"    ")
_QRELS = ("query_id", "iteration", "doc_id", "relevance")
_SAMPLE = ("query_id", "iteration", "doc_id", "stratum", "relevance")
_ADAPTIVE = "adaptive:"
"""Prefix of the second column in qrels of an adaptive pool; all tools ignore that column."""
_RUN = ("query_id", "iteration", "doc_id", "rank", "score", "run_id")


def is_trec(data: bytes) -> bool:
    """Tell whether a file is TREC text and not a table with column names or JSON."""
    line = next((line for line in data.split(b"\n", 100) if line.strip()), b"")
    cells = {cell.strip(b' \r"') for cell in re.split(rb"[\t,;|]", line)}
    return not ({b"query_id", b"doc_id"} & cells or _is_object(line) or data[:4] == b"PAR1")


def _is_object(line: bytes) -> bool:
    """Tell whether a line is a JSON object and not a TREC line whose ID starts with a brace."""
    if line.lstrip()[:1] != b"{":
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _normalise(data: bytes) -> bytes:
    """Return the text with a single blank between fields and no blanks at the ends of lines."""
    if any(blank in data for blank in (b"\t", b"\r", b"\x0b", b"\x0c")):
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
    """Return the line (from 1) of a row (from 0); blank lines are not rows."""
    current_row = -1
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            current_row += 1
            if current_row == row:
                return number
    return 0


def _read(
    data: bytes, name: str, columns: tuple[str, ...], wanted: list[str]
) -> tuple[pl.DataFrame, Source]:
    position = data.find(b"\x00")
    if position >= 0:
        line = data.count(b"\n", 0, position) + 1
        raise BadLine(name, line, "contains a NUL character", hint="Remove it.")
    source = Source(name, lambda row: _line_of(data, row), nul_checked=True)
    frame = None
    if not any(blank in data for blank in (b"\t", b"\r", b"\x0b", b"\x0c", b"  ")):
        # Most files have a single blank between fields; other blanks would give empty cells.
        frame = _parse(data, columns, wanted)
    if frame is None:
        frame = _parse(_normalise(data), columns, wanted)
    if frame is None:
        raise _diagnose(data, name, columns)
    return frame, source


def _parse(data: bytes, columns: tuple[str, ...], wanted: list[str]) -> pl.DataFrame | None:
    """Return the wanted columns, or None if a line has too few or too many fields."""
    is_run = columns is _RUN
    schema: dict[str, type[pl.DataType]] = dict.fromkeys(columns, pl.String)
    if is_run:
        # Read scores as numbers; if one is not a number, read them as text for the error.
        frame = _scan(data, schema | {"score": pl.Float64}, wanted, is_run=True)
        if frame is not None and frame["score"].is_finite().all():
            return frame
    return _scan(data, schema, wanted, is_run=is_run)


def _scan(
    data: bytes, schema: dict[str, type[pl.DataType]], wanted: list[str], *, is_run: bool
) -> pl.DataFrame | None:
    """Return the wanted columns, or None if polars cannot read the text."""
    try:
        frame = (
            pl.scan_csv(
                data,
                separator=" ",
                has_header=False,
                infer_schema=False,
                quote_char=None,
                schema=schema,
                # As trec_eval, ignore further fields after the six of a run.
                extra_columns="ignore" if is_run else "raise",
                truncate_ragged_lines=is_run,
            )
            .select(wanted)
            .collect()
        )
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        return None
    has_empty_cells = frame.null_count().sum_horizontal().item() > 0
    return None if has_empty_cells else frame


def _diagnose(data: bytes, name: str, columns: tuple[str, ...]) -> DataError:
    """Return the error of the first bad line."""
    form = " ".join(columns)
    for number, line in enumerate(data.split(b"\n"), start=1):
        cells = line.split()
        if cells and (
            len(cells) < len(columns) or (columns is not _RUN and len(cells) > len(columns))
        ):
            reason = f"must have {len(columns)} fields, `{form}` (got {len(cells)})"
            return BadLine(name, number, reason)
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return BadLine(name, number, "is not UTF-8 text")
    return DataError(f"{name}: cannot be read as `{form}`")


def read_qrels(data: bytes, name: str) -> tuple[pl.DataFrame, Source]:
    """Read qrels; grades stay text, and ``iteration`` is the second column.

    If the first line has five fields, the fourth is the stratum that the pair was sampled from.

    Raises
    ------
    BadLine
    """
    first = next((line for line in data.split(b"\n", 100) if line.strip()), b"")
    columns = _SAMPLE if len(first.split()) == 5 else _QRELS
    return _read(data, name, columns, list(columns))


def get_adaptive(frame: pl.DataFrame) -> str:
    """Return the strategy of an adaptive pool from the second column of qrels, else ""."""
    if "iteration" not in frame.columns:
        return ""
    marks = frame["iteration"].filter(frame["iteration"].str.starts_with(_ADAPTIVE))
    return str(marks[0]).removeprefix(_ADAPTIVE) if len(marks) else ""


def mark_adaptive(frame: pl.DataFrame, strategy: str) -> pl.DataFrame:
    """Add the second column of qrels: the strategy of an adaptive pool, or 0."""
    mark = f"{_ADAPTIVE}{strategy}" if strategy else "0"
    return frame.with_columns(pl.lit(mark).alias("iteration"))


def note_subtopics(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return a note where the second column gives grades of several subtopics per document."""
    if "iteration" not in frame.columns or frame["iteration"].n_unique() == 1:
        return ()
    pairs = frame.group_by("query_id", "doc_id").agg(pl.col("iteration").n_unique())
    several = pairs.filter(pl.col("iteration") > 1).height
    if not several:
        return ()
    return (
        f"{express(several, 'pair')} {'has' if several == 1 else 'have'} grades for several "
        "subtopics (second column): one grade per document is read, without its subtopic",
    )


def read_run(data: bytes, name: str) -> tuple[pl.DataFrame, Source]:
    """Read a run; rank and Q0 are ignored, as in trec_eval.

    Raises
    ------
    BadLine
    """
    frame, source = _read(data, name, _RUN, ["query_id", "doc_id", "score", "run_id"])
    _refuse_shifted_fields(data, frame.height, source)
    return frame, source


def _refuse_shifted_fields(data: bytes, rows: int, source: Source) -> None:
    """Refuse a line with more than six fields whose rank is not a number.

    trec_eval ignores ranks and further fields, but there a document id holds a blank, and every
    later field is read from the wrong column.
    """
    text = _normalise(data)
    if text.count(b" ") <= (len(_RUN) - 1) * rows:
        return
    ranks = _scan(text, dict.fromkeys(_RUN, pl.String), ["rank"], is_run=True)
    if ranks is None:
        return
    is_word = ranks["rank"].cast(pl.Float64, strict=False).is_null()
    if not is_word.any():
        return
    lines = text.split(b"\n")
    for row in is_word.arg_true():
        fields = len(lines[row].split())
        if fields > len(_RUN):
            raise source.error(
                row,
                f"has {fields} fields, and the rank is {ranks['rank'][row]!r}, not a number; "
                "does a document id contain a blank?",
            )


def _check_ids(frame: pl.DataFrame, name: str, columns: tuple[str, ...]) -> None:
    for column in columns:
        bad = frame[column].str.contains(r"[ \t\r\n\x0b\x0c]") | (frame[column] == "")
        if bad.any():
            value = frame[column].filter(bad)[0]
            raise DataError(
                f"{name}: {column} {value!r} is empty or contains a blank, which TREC files "
                "cannot store",
                hint="Save as .csv, .jsonl or .parquet.",
            )


def write_qrels(frame: pl.DataFrame, name: str, adaptive: str = "") -> bytes:
    """Return TREC qrels text; the second column is the strategy of an adaptive pool, or 0."""
    _check_ids(frame, name, ("query_id", "doc_id"))
    lines = mark_adaptive(frame, adaptive).select(_QRELS)
    return lines.write_csv(include_header=False, separator=" ", quote_style="never").encode()


def write_run(ranked: pl.DataFrame, name: str) -> bytes:
    """Return TREC run text from a frame with ranks."""
    _check_ids(ranked, name, ("query_id", "doc_id", "run_id"))
    lines = ranked.select(
        "query_id",
        pl.lit("Q0").alias("iteration"),
        "doc_id",
        "rank",
        "score",
        "run_id",
    )
    return lines.write_csv(include_header=False, separator=" ", quote_style="never").encode()


def _has_trec_content(content: bytes, ending: str) -> bool:
    return ending not in list_table_endings() and is_trec(content)


QRELS = FileFormat(
    name="trec-qrels",
    endings=(),
    tables=("qrels",),
    matches=_has_trec_content,
    read=read_qrels,
    write=lambda frame, name: write_qrels(frame, name, get_adaptive(frame)),
    has_columns=False,
    position=10,
)
RUN = FileFormat(
    name="trec-run",
    endings=(),
    tables=("runs",),
    matches=_has_trec_content,
    read=read_run,
    write=write_run,
    has_columns=False,
    position=10,
)
