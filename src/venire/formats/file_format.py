"""File formats: each is declared once, and a package can add one.

A package adds a format with an entry point in the group ``venire.formats``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from venire import plugins
from venire.errors import BadSetting
from venire.formats.source import stem
from venire.tables.schema import Source

TABLES = ("judgments", "qrels", "runs", "other")
"""What a file can hold; ``other`` is any table with column names."""


@dataclass(frozen=True, kw_only=True)
class FileFormat:
    """A file format: how it is recognised, read and written.

    Parameters
    ----------
    name : str
        Name of the entry point.
    endings : tuple of str
        Endings of file names, with the dot; writing goes by the ending.
    tables : tuple of str
        What a file can hold, from ``TABLES``.
    matches : callable
        Takes the content and the ending of the name (without compression) and tells
        whether the file is in this format. Formats are asked by ``position``.
    read : callable
        Takes the content and the file name, and returns the frame and its source.
    write : callable
        Takes the frame and the file name, and returns the content. A format without column names
        gets runs with ``rank``.
    has_columns : bool
        Whether the file has column names. Others are not asked if columns are renamed.
    position : int
        Place in the order in which formats are asked; lower numbers first.
    """

    name: str
    endings: tuple[str, ...]
    tables: tuple[str, ...]
    matches: Callable[[bytes, str], bool]
    read: Callable[[bytes, str], tuple[pl.DataFrame, Source]]
    write: Callable[[pl.DataFrame, str], bytes]
    has_columns: bool = True
    position: int = 0


def list_formats(table: str) -> list[FileFormat]:
    """Return the formats that can hold a kind of table, in the order in which they are asked."""
    formats = [known for known in plugins.load_all("format").values() if table in known.tables]
    return sorted(formats, key=lambda known: (known.position, known.name))


def list_table_endings() -> tuple[str, ...]:
    """Return the endings of formats with column names."""
    return tuple(
        ending for known in list_formats("other") if known.has_columns for ending in known.endings
    )


def find_reader(table: str, content: bytes, name: str, *, renamed: bool = False) -> FileFormat:
    """Return the first format that recognises a file.

    Parameters
    ----------
    table : str
        What the file holds, from ``TABLES``.
    content : bytes
    name : str
        File name.
    renamed : bool
        Whether columns are renamed, which needs a format with column names.
    """
    ending = get_ending(name)
    for known in list_formats(table):
        if (known.has_columns or not renamed) and known.matches(content, ending):
            return known
    raise BadSetting(f"{name}: no format of {table} recognises the file")


def find_writer(table: str, name: str) -> FileFormat:
    """Return the format of a file name's ending; qrels and runs are TREC files by default."""
    ending = get_ending(name)
    formats = list_formats(table)
    for known in formats:
        if ending in known.endings:
            return known
    for known in formats:
        if not known.endings:
            return known
    endings = [known_ending for known in formats for known_ending in known.endings]
    raise BadSetting(
        f"{name}: the ending must be one of {' '.join(endings)} (got {ending or 'none'})"
    )


def get_ending(name: str) -> str:
    """Return the ending of a file name without compression."""
    return Path(stem(name, keep_kind=True)).suffix
