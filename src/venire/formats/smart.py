"""The SMART format of old test collections (``.I .T .A .B .W``), and Cranfield's judgments."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl

from venire.errors import BadLine
from venire.formats.source import read_bytes
from venire.tables.qrels import Qrels
from venire.tables.schema import Source

FIELDS = {"T": "title", "A": "author", "B": "source", "W": "text"}
_MARKER = rb"^\.([ITABW])(?:\s+(.*?))?\s*$"
WORST_CODE = 4
"""Cranfield's codes of relevant documents: 1, a complete answer, to 4, of minimum interest."""


def read_smart(path: str | Path) -> pl.DataFrame:
    """Read documents or queries: one row per ``.I``, in file order.

    The lines under a repeated marker are added to the field of that marker. Three Cranfield
    documents repeat a marker (240, 576, 578). Read this way, the collection gives the published
    scores of systems; most of the abstract of document 240 is then not in its text. Records
    without text are kept.

    Returns
    -------
    polars.DataFrame
        ``id`` (the number after ``.I``), ``title, author, source, text``, and ``repeats``:
        whether a marker is repeated. Title, author and source are single lines; text keeps its
        line breaks.

    Raises
    ------
    BadLine
        Text before the first ``.I``, a ``.I`` without a number, or text that is not UTF-8.
    """
    name = str(path)
    data = read_bytes(path)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadLine(name, line, "is not UTF-8 text") from None
    lines = pl.Series("line", data.decode("utf-8").replace("\r\n", "\n").split("\n"))
    marker = lines.str.extract_groups(_MARKER.decode()).struct
    frame = (
        pl.DataFrame({"line": lines, "kind": marker[0], "id": marker[1]})
        .with_row_index("number", offset=1)
        .with_columns((pl.col("kind") == "I").fill_null(value=False).cum_sum().alias("record"))
    )
    _check(frame, name)
    frame = frame.filter(pl.col("record") > 0)
    repeats = pl.col("kind").is_not_null() & ~pl.struct("record", "kind").is_first_distinct()
    ids = frame.group_by("record", maintain_order=True).agg(
        pl.col("id").first(), repeats.any().alias("repeats")
    )
    body = (
        frame.with_columns(pl.col("kind").forward_fill().over("record").alias("field"))
        .filter(pl.col("kind").is_null())
        .group_by("record", "field", maintain_order=True)
        .agg(pl.col("line").str.join("\n"))
    )
    out = ids
    for kind, column in FIELDS.items():
        part = body.filter(pl.col("field") == kind).select("record", pl.col("line").alias(column))
        out = out.join(part, on="record", how="left", maintain_order="left")
    one_line = pl.col("title", "author", "source").str.replace_all(r"\s+", " ")
    return (
        out.drop("record")
        .with_columns(one_line)
        .with_columns(pl.col(*FIELDS.values()).fill_null("").str.strip_chars())
    )


def _check(frame: pl.DataFrame, name: str) -> None:
    stray = frame.filter((pl.col("record") == 0) & (pl.col("line").str.strip_chars() != ""))
    if stray.height:
        raise BadLine(
            name,
            int(stray["number"][0]),
            "the file is not in SMART format: text before the first .I",
        )
    unnumbered = frame.filter((pl.col("kind") == "I") & pl.col("id").fill_null("").eq(""))
    if unnumbered.height:
        raise BadLine(name, int(unnumbered["number"][0]), "has a .I without a number")


def read_codes(path: str | Path) -> Qrels:
    """Read Cranfield's judgments, ``query document code``, as grades.

    A smaller code means a more relevant document, so code c becomes grade 5 - c: 4 for a complete
    answer to 1 for minimum interest. Code -1 (once per query) and code 5, "no interest", become 0:
    judged, not relevant. Queries are numbered by their position in the query file.

    Raises
    ------
    BadLine
        A line without exactly three fields, or an unknown code.
    """
    name = str(path)
    data = read_bytes(path)
    lines = [line.split() for line in data.decode("utf-8", "replace").splitlines()]
    numbers = [number for number, cells in enumerate(lines, 1) if cells]
    rows = [cells for cells in lines if cells]
    source = Source(name, lambda row: numbers[row])
    for row, cells in enumerate(rows):
        if len(cells) != 3:
            raise source.error(row, f"must have 3 fields, `query document code` (got {len(cells)})")
    text = "\n".join(" ".join(cells) for cells in rows).encode()
    frame = pl.read_csv(
        io.BytesIO(text),
        separator=" ",
        has_header=False,
        infer_schema=False,
        quote_char=None,
        schema=dict.fromkeys(("query_id", "doc_id", "code"), pl.String),
    )
    code = frame["code"].cast(pl.Int64, strict=False)
    is_code = code.is_between(1, WORST_CODE + 1) | (code == -1)
    bad = ~is_code.fill_null(value=False)
    if bad.any():
        row = int(bad.arg_true()[0])
        raise source.error(row, f"the code must be -1 or 1 to 5 (got {frame['code'][row]!r})")
    grade = pl.when(code > 0).then(WORST_CODE + 1 - code).otherwise(0)
    frame = frame.select("query_id", "doc_id", grade.alias("relevance"))
    return Qrels.of(frame, source=source)
