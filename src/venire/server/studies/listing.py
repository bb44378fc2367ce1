"""What the lists of a study share: the row type, the page size, the text search."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
PAGE_ROWS = 100
"""Rows of one page of a long list."""


def contains(column: Any, text: str) -> Any:
    """Return the SQL condition that a column contains a text, in upper or lower case."""
    return column.icontains(text, autoescape=True)
