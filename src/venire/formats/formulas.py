"""Cells of CSV files that a spreadsheet would run as formulas: neutralised, and read back.

A spreadsheet runs a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return.
An apostrophe before it makes it text, for the spreadsheet too. Plain numbers stay as they are.
"""

from __future__ import annotations

import polars as pl

FORMULA = r"^'*[=+\-@\t\r]"
NUMBER = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
ESCAPED = r"^'+[=+\-@\t\r]"


def escape_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with an apostrophe before each text cell that is a formula.

    Examples
    --------
    >>> table = pl.DataFrame({"text": ["=1+2", "-5", "'=x", "a=b"]})
    >>> escape_formulas(table)["text"].to_list()
    ["'=1+2", '-5', "''=x", 'a=b']
    >>> unescape_formulas(escape_formulas(table)).equals(table)
    True
    """
    cells = pl.col(pl.String)
    is_formula = cells.str.contains(FORMULA) & ~cells.str.contains(NUMBER)
    return frame.with_columns(
        pl.when(is_formula).then(cells.str.replace("^", "'")).otherwise(cells)
    )


def unescape_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table without the apostrophes that :func:`escape_formulas` adds."""
    cells = pl.col(pl.String)
    return frame.with_columns(
        pl.when(cells.str.contains(ESCAPED)).then(cells.str.slice(1)).otherwise(cells)
    )


def keep_apostrophes(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose own apostrophes before formulas come back from a reader of CSV."""
    cells = pl.col(pl.String)
    doubled = cells.str.replace("^", "'")
    return frame.with_columns(pl.when(cells.str.contains(ESCAPED)).then(doubled).otherwise(cells))
