"""``FileFormat``: how a file format is recognised, read and written.

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
"""Kinds of tables in a file; ``other`` is any table with column names."""


@dataclass(frozen=True, kw_only=True)
class FileFormat:
    """A file format: how it is recognised, read and written.

    Parameters
    ----------
    name : str
        Name of the entry point.
    endings : tuple of str
        Endings of file names, with the dot; the ending of a new file selects the format.
    tables : tuple of str
        Kinds of tables that the format can store, from ``TABLES``.
    matches : callable
        Takes the content of a file and the ending of its name (without compression), and returns
        whether the file is in this format.
    read : callable
        Takes the content and the file name, and returns the frame and its source.
    write : callable
        Takes the frame and the file name, and returns the content. For a format without column
        names, the frame of runs has the column ``rank``.
    has_columns : bool
        Whether the file has column names. Only such formats are tried if columns are renamed.
    position : int
        Position in the order in which formats are tried; the lowest is tried first.
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
    """Return the formats that can store a kind of table, in the order in which they are tried."""
    formats: list[FileFormat] = list(plugins.load_all("format").values())
    able = [file_format for file_format in formats if table in file_format.tables]
    return sorted(able, key=lambda file_format: (file_format.position, file_format.name))


def list_table_endings() -> tuple[str, ...]:
    """Return the endings of formats with column names."""
    return tuple(
        ending
        for file_format in list_formats("other")
        if file_format.has_columns
        for ending in file_format.endings
    )


def find_reader(table: str, content: bytes, name: str, *, renamed: bool = False) -> FileFormat:
    """Return the first format that recognises a file.

    Parameters
    ----------
    table : str
        Kind of table in the file, from ``TABLES``.
    content : bytes
    name : str
        File name.
    renamed : bool
        Whether columns are renamed, which needs a format with column names.
    """
    ending = get_ending(name)
    for file_format in list_formats(table):
        if (file_format.has_columns or not renamed) and file_format.matches(content, ending):
            return file_format
    raise BadSetting(f"{name}: the file is in no known format of {table}")


def find_writer(table: str, name: str) -> FileFormat:
    """Return the format of a file ending; without a known ending, qrels and runs are TREC files."""
    ending = get_ending(name)
    formats = list_formats(table)
    for file_format in formats:
        if ending in file_format.endings:
            return file_format
    for file_format in formats:
        if not file_format.endings:
            return file_format
    endings = [ending for file_format in formats for ending in file_format.endings]
    raise BadSetting(
        f"{name}: unknown file ending {ending!r}" if ending else f"{name}: has no file ending",
        hint=f"Choose from {' '.join(endings)}.",
    )


def get_ending(name: str) -> str:
    """Return the ending of a file name without compression."""
    return Path(stem(name, keep_kind=True)).suffix
