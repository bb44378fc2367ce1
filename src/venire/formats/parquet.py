"""Parquet, through polars."""

from __future__ import annotations

import io

import polars as pl

from venire.errors import BadLine
from venire.formats.file_format import TABLES, FileFormat
from venire.tables.schema import Source


def is_parquet(content: bytes) -> bool:
    """Tell whether the content is Parquet."""
    return content[:4] == b"PAR1"


def read_parquet(content: bytes, name: str = "") -> pl.DataFrame:
    """Return the table in the bytes of a Parquet file.

    Parameters
    ----------
    content : bytes
    name : str
        File name, for errors.

    Raises
    ------
    BadLine
    """
    try:
        return pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).split("\n", 1)[0]
        raise BadLine(name, None, f"is not readable as Parquet: {reason}") from None
    except pl.exceptions.PanicException:  # derives from BaseException
        raise BadLine(name, None, "is not readable as Parquet: the file is damaged") from None


def write_parquet(frame: pl.DataFrame, *, statistics: bool = True) -> bytes:
    """Return the table as the bytes of a Parquet file.

    Parameters
    ----------
    frame : polars.DataFrame
    statistics : bool
        Whether smallest and largest values are stored per column, for programs that skip rows.
    """
    content = io.BytesIO()
    frame.write_parquet(content, compression="zstd", statistics=statistics)
    return content.getvalue()


FORMAT = FileFormat(
    name="parquet",
    endings=(".parquet",),
    tables=TABLES,
    matches=lambda content, ending: is_parquet(content),
    read=lambda content, name: (read_parquet(content, name), Source(name)),
    write=lambda frame, name: write_parquet(frame),
    position=20,
)
