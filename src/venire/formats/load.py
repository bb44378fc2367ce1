"""Load tables from a table, a dataframe, a mapping or the path of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeGuard

import polars as pl

from venire.errors import BadSetting, MissingColumns
from venire.formats import read_judgments, read_qrels, require_rows
from venire.formats.collection import Collection, read_collection
from venire.formats.reading_options import ReadingOptions, parse_columns
from venire.formats.run_files import read_run_files
from venire.tables import boundary
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs

PathLike: TypeAlias = str | Path


@dataclass(frozen=True)
class TableType:
    """What an argument that holds a table may be; see :func:`venire.value_types.has_type`.

    Parameters
    ----------
    table : type
        Venire's own table.
    has_paths : bool
        Whether a list of paths is allowed too.
    others : tuple of type
        Other types that are allowed.
    """

    table: type
    has_paths: bool = False
    others: tuple[type, ...] = ()

    def accepts(self, value: object) -> bool:
        """Tell whether a value is the table, a path, a dataframe or a mapping."""
        if isinstance(value, (self.table, *self.others, str, Path)):
            return True
        if self.has_paths and isinstance(value, list | tuple | set | frozenset):
            return all(map(is_path, value))
        return boundary.is_dataframe(value)

    @property
    def words(self) -> str:
        """What is allowed, for errors."""
        paths = "a path, a list of paths" if self.has_paths else "a path"
        names = ", ".join(kind.__name__ for kind in (self.table, *self.others))
        return f"{names}, {paths}, a dataframe or a mapping"

    def advise(self, value: object) -> str:
        """Return what to pass instead of an object that has such a table; "" for others."""
        name = self.table.__name__.lower()
        part = getattr(value, name, None)
        if isinstance(part, Mapping):
            return f"Pass one of its `{name}`: {', '.join(map(str, part)) or 'it has none'}."
        if callable(part):
            return f"Pass its `{name}()`."
        return f"Pass its `{name}`." if isinstance(part, self.table) else ""


JudgmentsLike: TypeAlias = Annotated[Any, TableType(Judgments)]
"""Judgments, the path of a file, or a dataframe (pandas, polars, pyarrow, DuckDB, a mapping)."""
QrelsLike: TypeAlias = Annotated[Any, TableType(Qrels)]
"""Qrels, the path of a file, a dataframe, or ``{query_id: {doc_id: relevance}}``."""
RunsLike: TypeAlias = Annotated[Any, TableType(Runs, has_paths=True)]
"""Runs, a file, a folder of ``*.run`` files, a list of these, a dataframe, or a mapping."""
FrameLike: TypeAlias = Annotated[Any, TableType(pl.DataFrame)]
"""A path or a dataframe."""
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
    mapping: str = "columns",
) -> Judgments:
    """Return judgments; a file or dataframe without judgments is an error.

    Parameters
    ----------
    source : Judgments, path or dataframe
    options : ReadingOptions, optional
        How a file or a dataframe is read.
    default_repeats : str, optional
        Value of ``repeats`` if the options do not set it.
    mapping : str
        The caller's argument that maps column names; empty where there is none.

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
    with _name_mapping(mapping):
        if is_path(source):
            return require_rows(read_judgments(source, **arguments), str(source))
        return require_rows(Judgments.of(source, **arguments), "judgments")


@contextmanager
def _name_mapping(argument: str) -> Iterator[None]:
    """Name the caller's argument that maps column names in the error about missing columns."""
    try:
        yield
    except MissingColumns as error:
        raise error.with_mapping(argument) from None


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
    mapping: str = "",
    allow_empty: bool = False,
    whole: bool = False,
) -> Qrels:
    """Return qrels.

    Parameters
    ----------
    source : Qrels, path, dataframe, or ``{query_id: {doc_id: relevance}}``
    columns : mapping or str, optional
        Maps Venire's column names to those of the file or dataframe.
    mapping : str
        The caller's argument that maps column names, for errors; empty where there is none.
    allow_empty : bool
        Whether qrels without judged pairs are allowed.
    whole : bool
        Whether grades of a file must be whole numbers; the error names its line.
    """
    names = parse_columns(columns, mapping) or None
    with _name_mapping(mapping):
        if isinstance(source, Qrels):
            if names:
                raise BadSetting(
                    "applies to files and dataframes only; the qrels are a Qrels table",
                    argument=mapping,
                    value=columns,
                )
            qrels = source
        elif is_path(source):
            qrels = read_qrels(source, columns=names, whole=whole)
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
    with _name_mapping(""):
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
