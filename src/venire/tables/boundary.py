"""The door: dataframes of other libraries in and out.

pandas is named here only, and only inside functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from venire.errors import DataError, MissingExtra


def to_polars(table: Any) -> pl.DataFrame:
    """Return a polars frame from any dataframe: pandas, polars, pyarrow, DuckDB, or a mapping.

    Raises
    ------
    DataError
        When the thing is no dataframe.
    """
    if isinstance(table, pl.DataFrame):
        return table
    try:
        return _convert(table)
    except (pl.exceptions.PolarsError, ValueError, TypeError, OverflowError) as error:
        if isinstance(error, DataError):
            raise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"cannot read the {type(table).__name__} as a table: {reason}") from None


def is_dataframe(table: Any) -> bool:
    """Tell whether a value is a dataframe of a library that is known here, or a mapping."""
    if isinstance(table, pl.DataFrame | pl.LazyFrame | Mapping):
        return True
    import narwhals as nw

    try:
        nw.from_native(table)
    except TypeError:
        return False
    return True


def _convert(table: Any) -> pl.DataFrame:
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if isinstance(table, Mapping):
        return pl.DataFrame(dict(table), strict=False)
    import narwhals as nw

    try:
        native = nw.from_native(table)
    except TypeError:
        raise DataError(
            f"Cannot read {type(table).__name__} as a table",
            hint="Pass a pandas, polars, pyarrow or DuckDB frame, or a mapping of columns.",
        ) from None
    if isinstance(native, nw.LazyFrame):
        native = native.collect("polars")
    frame: pl.DataFrame = native.to_polars()
    return frame


def to_pandas(frame: pl.DataFrame) -> Any:
    """Return a pandas frame.

    Raises
    ------
    MissingExtra
        When pandas or pyarrow is not installed.
    """
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtra("pandas", "pandas", "A pandas frame") from None
    return frame.to_pandas()
