"""Load tables from a table, a dataframe, a mapping or the path of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

from venire.errors import BadSetting
from venire.formats import read_judgments, read_qrels, require_rows
from venire.formats.collection import Collection, read_collection
from venire.formats.reading_options import ReadingOptions, parse_columns
from venire.formats.run_files import read_run_files
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs

PathLike: TypeAlias = str | Path
JudgmentsLike: TypeAlias = Judgments | PathLike | Any
"""Judgments, the path of a file, or a dataframe (pandas, polars, pyarrow, DuckDB, a mapping)."""
QrelsLike: TypeAlias = Qrels | PathLike | Any
"""Qrels, the path of a file, a dataframe, or ``{query_id: {doc_id: relevance}}``."""
RunsLike: TypeAlias = Runs | PathLike | Iterable[PathLike] | Any
"""Runs, a file, a folder of ``*.run`` files, a list of these, a dataframe, or a mapping."""
CollectionLike: TypeAlias = Collection | PathLike
"""A collection, or the path of its folder."""


def is_path(source: object) -> TypeGuard[PathLike]:
    """Tell whether a source is the path of a file or folder."""
    return isinstance(source, str | Path)


def load_judgments(
    source: JudgmentsLike,
    options: ReadingOptions | None = None,
    *,
    default_repeats: str | None = None,
) -> Judgments:
    """Return judgments; a file or dataframe without judgments is an error.

    Parameters
    ----------
    source : Judgments, path or dataframe
    options : ReadingOptions, optional
        How a file or a dataframe is read.
    default_repeats : str, optional
        Value of ``repeats`` if the options do not set it.

    Raises
    ------
    BadLine
        A source without judgments, or a file that cannot be read.
    BadSetting
        Reading options together with a ``Judgments`` table.
    """
    options = options or ReadingOptions()
    if isinstance(source, Judgments):
        refuse_options(
            options, "applies to files and dataframes only; `judgments` is a Judgments table"
        )
        return source
    arguments = options.to_arguments()
    arguments["repeats"] = options.repeats or default_repeats
    if is_path(source):
        return require_rows(read_judgments(source, **arguments), str(source))
    return require_rows(Judgments.of(source, **arguments), "judgments")


def refuse_options(options: ReadingOptions, reason: str, code: str | None = None) -> None:
    """Raise BadSetting for the first option that is set, if any."""
    if options.is_default:
        return
    unset = ReadingOptions()
    names = ("columns", "scale", "drop_labels", "repeats")
    name = next(name for name in names if getattr(options, name) != getattr(unset, name))
    raise BadSetting(reason, argument=name, value=getattr(options, name), code=code)


def load_qrels(
    source: QrelsLike,
    *,
    columns: Mapping[str, str] | str | None = None,
    argument: str = "columns",
    allow_empty: bool = False,
) -> Qrels:
    """Return qrels.

    Parameters
    ----------
    source : Qrels, path, dataframe, or ``{query_id: {doc_id: relevance}}``
    columns : mapping or str, optional
        Maps Venire's column names to those of the file or dataframe.
    argument : str
        Name of the argument in errors.
    allow_empty : bool
        Whether qrels without judged pairs are allowed.
    """
    names = parse_columns(columns, argument) or None
    if isinstance(source, Qrels):
        qrels = source
    elif is_path(source):
        qrels = read_qrels(source, columns=names)
    elif _is_nested(source):
        qrels = Qrels.from_dict(source)
    else:
        qrels = Qrels.of(source, columns=names)
    if allow_empty:
        return qrels
    return qrels.require_rows(str(source) if is_path(source) else "qrels")


def load_runs(source: RunsLike, *, keep_going: bool = False) -> Runs:
    """Return runs.

    Parameters
    ----------
    source : Runs, path, iterable of paths, dataframe, or ``{query_id: {doc_id: score}}``
        A folder stands for the ``*.run`` files in it.
    keep_going : bool
        Whether to leave out a file that cannot be read, with a note, instead of raising.
    """
    if isinstance(source, Runs):
        return source
    if is_path(source):
        return read_run_files([source], keep_going=keep_going)
    if isinstance(source, list | tuple | set | frozenset) and all(map(is_path, source)):
        if not source:
            raise BadSetting("must name at least one file or folder", argument="runs")
        return read_run_files(list(source), keep_going=keep_going)
    if _is_nested(source):
        return Runs.from_dict(source)
    return Runs.of(source)


def load_collection(source: CollectionLike) -> Collection:
    """Return a collection; a path is the path of its folder."""
    return source if isinstance(source, Collection) else read_collection(source)


def _is_nested(source: object) -> TypeGuard[Mapping[str, Mapping[str, float]]]:
    """Tell whether a source is a mapping of queries to mappings."""
    return (
        isinstance(source, Mapping)
        and bool(source)
        and all(isinstance(value, Mapping) for value in source.values())
    )
