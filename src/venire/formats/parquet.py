"""Parquet, through polars."""

from __future__ import annotations

import io

import polars as pl

from venire.errors import BadLine


def is_parquet(data: bytes) -> bool:
    """Tell whether the content is Parquet."""
    return data[:4] == b"PAR1"


def read(data: bytes, name: str) -> pl.DataFrame:
    """Read a Parquet file."""
    try:
        return pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadLine(
            name, None, f"cannot be read as Parquet: {str(error).splitlines()[0]}"
        ) from None


def write(frame: pl.DataFrame) -> bytes:
    """Return the table as Parquet."""
    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue()
