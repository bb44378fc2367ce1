"""Every error Venire raises on purpose, in one tree.

The message is one line that says what is wrong, where, and what to do; the
facts are attributes, so that a program need not read the sentence.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class VenireError(Exception):
    """Base of all errors that a user can cause and mend."""


class DataError(VenireError, ValueError):
    """Input that cannot be used as it is."""


class MissingColumns(DataError):
    """A table lacks columns that are needed.

    Attributes
    ----------
    missing : tuple of str
        Column names that were looked for.
    present : tuple of str
        Column names that were there.
    renamed : bool
        Whether the reader can be told that a column has another name.
    hint : str
        What to do, where it is not what these two say.
    """

    def __init__(
        self,
        missing: Iterable[str],
        present: Iterable[str],
        where: str = "",
        *,
        renamed: bool = True,
        hint: str = "",
    ) -> None:
        self.missing = tuple(missing)
        self.present = tuple(present)
        self.where = where
        self.renamed = renamed
        there = ", ".join(self.present) or "none"
        how = hint or "name them so in the file"
        if renamed and not hint:
            how = (
                "map them with columns={'query_id': ...}; on the command line with --columns, for "
                "a gold file with --gold-columns; ':all' for a name puts that text in every row"
            )
        super().__init__(
            f"{where + ': ' if where else ''}missing column{'s' if len(self.missing) > 1 else ''} "
            f"{', '.join(self.missing)}; the columns there are: {there} ({how})"
        )


class BadLine(DataError):
    """A line of a file, or a row of a frame, that cannot be read.

    Attributes
    ----------
    path : str
        The file, or the place in a frame in words.
    line : int or None
        Line number, counted from 1; None for a frame, or when the whole file is meant.
    reason : str
        What is wrong and what to do.
    """

    def __init__(self, path: str, line: int | None, reason: str) -> None:
        self.path = path
        self.line = line
        self.reason = reason
        where = f"{path}, line {line}" if line is not None else path
        super().__init__(f"{where}: {reason}" if where else reason)


class DuplicateRows(BadLine):
    """A key that must be unique occurs twice.

    Attributes
    ----------
    key : tuple of str
        Query, document and what else makes the key.
    path, line, reason
        As for :class:`BadLine`.
    """

    def __init__(self, key: tuple[str, ...], path: str, line: int | None, reason: str) -> None:
        self.key = key
        super().__init__(path, line, f"{' '.join(key)} {reason}")


class UnknownLabel(BadLine):
    """A label that is not on the scale.

    Attributes
    ----------
    label : str
        The label as it was read.
    scale : tuple of str
        The labels the scale has.
    path, line, reason
        As for :class:`BadLine`.
    """

    def __init__(
        self, label: str, scale: Sequence[str], path: str = "", line: int | None = None
    ) -> None:
        self.label = label
        self.scale = tuple(scale)
        super().__init__(
            path,
            line,
            f"label {label!r} is not on the scale {', '.join(self.scale)}; leave it out with "
            f"--drop-label {label}, or name the whole scale with --scale",
        )


class BadImage(DataError):
    """An image that cannot be opened, or is too large to be.

    Attributes
    ----------
    path : str
        The file.
    reason : str
        What is wrong and what to do.
    """

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


class NoOverlap(DataError):
    """Two tables that should speak of the same things share none."""


class UnknownName(VenireError, LookupError):
    """A name that nothing is registered under.

    Attributes
    ----------
    kind, name : str
        What was looked for.
    known : tuple of str
        The names there are.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        close = difflib.get_close_matches(name, self.known, n=1, cutoff=0.5)
        hint = f"; did you mean {close[0]}?" if close else ""
        super().__init__(f"unknown {kind} {name!r}{hint} (known: {', '.join(self.known)})")


class BadSetting(VenireError, ValueError):
    """A setting outside what it may be."""


class MissingExtra(VenireError, ImportError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"{purpose} needs the package {package}; install it with: pip install 'venire[{extra}]'"
        )


class StoreError(VenireError):
    """The database, or a request to it, is not as it should be."""


class NotFound(StoreError, LookupError):
    """There is no such thing, or it is not yours to see.

    Attributes
    ----------
    kind, name : str
        What was looked for.

    The message says so, or ``words`` in its place.
    """

    def __init__(self, kind: str, name: str, words: str = "") -> None:
        self.kind = kind
        self.name = name
        super().__init__(words or f"there is no {kind} {name!r}")


class Conflict(StoreError):
    """Something else is already there, or has happened first."""


class Stale(StoreError):
    """What you started from has changed meanwhile; read it again."""


class NotAllowed(VenireError):
    """You may not do this.

    Attributes
    ----------
    sign_in : bool
        Whether signing in would help.
    """

    def __init__(self, reason: str, *, sign_in: bool = False) -> None:
        self.sign_in = sign_in
        super().__init__(reason)
