"""Every error Venire raises on purpose, in one tree.

An error says what is wrong (``reason``) and what to do (``hint``) in terms of Python arguments,
in backticks. The command line and the pages render it in their own terms, with
:meth:`VenireError.render`. A program reads ``code`` and ``facts``, never the sentence.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def _in_backticks(argument: str) -> str:
    return f"`{argument}`"


class VenireError(Exception):
    """Base of all errors that a user can cause and correct.

    Attributes
    ----------
    code : str
        Kind of the error, for programs; does not change.
    reason : str
        What is wrong, with the value and the allowed range.
    hint : str
        What to do, in terms of Python arguments; empty if the reason makes it clear.
    argument : str
        Name of the argument at fault, or empty. The reason is then the rest of the sentence:
        "must be >= 0 (got -1)".
    """

    code: str = "error"

    def __init__(
        self, reason: str, *, hint: str = "", argument: str = "", code: str | None = None
    ) -> None:
        self.reason = reason
        self.hint = hint
        self.argument = argument
        if code is not None:
            self.code = code
        super().__init__(reason)

    def __str__(self) -> str:
        return self.render()

    def render(self, name_of: Callable[[str], str] = _in_backticks, hint: str | None = None) -> str:
        """Return the error as one line.

        Parameters
        ----------
        name_of : callable
            Returns the reader's name of an argument: an option, or the label of a field.
        hint : str or None
            What to do, in the reader's terms; the error's own hint by default.
        """
        reason = f"{name_of(self.argument)} {self.reason}" if self.argument else self.reason
        advice = self.hint if hint is None else hint
        if not advice:
            return reason
        return f"{reason} {advice}" if reason.endswith((".", "?")) else f"{reason}. {advice}"

    @property
    def facts(self) -> dict[str, Any]:
        """What the error is about, as plain values for JSON."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
            if name not in ("reason", "hint", "code")
            and not name.startswith("_")
            and isinstance(value, str | int | float | tuple)
            and value not in ("", ())
        }


class DataError(VenireError, ValueError):
    """Input that cannot be used as it is."""

    code = "bad-data"


class MissingColumns(DataError):
    """A table lacks columns that are needed.

    Attributes
    ----------
    missing : tuple of str
        Column names that were looked for.
    present : tuple of str
        Column names that are there.
    where : str
        The file or table.
    renamed : bool
        Whether the reader can be told that a column has another name.
    column : str
        Venire's name of the first missing column.
    mapping : str
        Argument that maps column names; empty where there is none.
    """

    code = "missing-columns"

    def __init__(
        self,
        missing: Iterable[str],
        present: Iterable[str],
        where: str = "",
        *,
        renamed: bool = True,
        column: str = "",
        mapping: str = "columns",
        hint: str = "",
    ) -> None:
        self.missing = tuple(missing)
        self.present = tuple(present)
        self.where = where
        self.renamed = renamed and bool(mapping) and not hint
        self.column = column or self.missing[0]
        self.mapping = mapping if self.renamed else ""
        prefix = f"{where}: " if where else ""
        plural = "s" if len(self.missing) > 1 else ""
        if not hint:
            hint = (
                f"Map column names with `{mapping}={{'{self.column}': 'NAME'}}`{self.constant}."
                if self.renamed
                else "Rename the columns in the file."
            )
        super().__init__(
            f"{prefix}missing column{plural} {', '.join(self.missing)} "
            f"(columns: {', '.join(self.present) or 'none'})",
            hint=hint,
        )

    @property
    def constant(self) -> str:
        """How to do without a column of ids, for hints; empty for other columns."""
        is_id = self.column.endswith("_id")
        return "; ':all' as a name puts the text all in every row" if is_id else ""

    def with_mapping(self, argument: str) -> MissingColumns:
        """Return the error for a caller whose argument that maps columns has another name."""
        names = (self.missing, self.present, self.where)
        return MissingColumns(*names, column=self.column, mapping=argument)


class BadLine(DataError):
    """A line of a file, or a row of a frame, that cannot be read.

    Attributes
    ----------
    path : str
        The file, or what the frame is.
    line : int or None
        Line number, counted from 1; None for a frame, or when the whole file is meant.
    problem : str
        What is wrong with the line.
    """

    code = "bad-line"

    def __init__(
        self,
        path: str,
        line: int | None,
        problem: str,
        *,
        hint: str = "",
        code: str | None = None,
    ) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        where = f"{path}, line {line}" if line is not None else path
        super().__init__(f"{where}: {problem}" if where else problem, hint=hint, code=code)


class DuplicateRows(BadLine):
    """A key that must be unique occurs twice.

    Attributes
    ----------
    key : tuple of str
        Query, document and what else makes the key.
    path, line, problem
        As for :class:`BadLine`.
    """

    code = "duplicate-rows"

    def __init__(
        self,
        key: tuple[str, ...],
        path: str,
        line: int | None,
        problem: str,
        *,
        hint: str = "",
        code: str | None = None,
    ) -> None:
        self.key = key
        super().__init__(path, line, f"{' '.join(key)} {problem}", hint=hint, code=code)


class UnknownLabel(BadLine):
    """A label that is not on the scale.

    Attributes
    ----------
    label : str
        The label as it was read.
    scale : tuple of str
        The labels the scale has.
    path, line, problem
        As for :class:`BadLine`.
    """

    code = "unknown-label"

    def __init__(
        self, label: str, scale: Sequence[str], path: str = "", line: int | None = None
    ) -> None:
        self.label = label
        self.scale = tuple(scale)
        super().__init__(
            path,
            line,
            f"label {label!r} is not on the scale {', '.join(self.scale)}",
            hint=f"Leave it out with `drop_labels=[{label!r}]`, or pass the whole `scale`.",
        )


class BadImage(DataError):
    """An image that cannot be opened, or is too large to be.

    Attributes
    ----------
    path : str
        The file.
    problem : str
        What is wrong and what to do.
    """

    code = "bad-image"

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path}: {problem}")


class NoOverlap(DataError):
    """Two tables that should have common IDs share none."""

    code = "no-overlap"


class UnknownName(VenireError, LookupError):
    """An unknown name.

    Attributes
    ----------
    kind, name : str
        Kind of the thing, and the unknown name.
    known : tuple of str
        The known names.
    nearest : str
        The known name most similar to ``name``; empty if none is similar.
    """

    code = "unknown-name"

    def __init__(self, kind: str, name: str, known: Iterable[str], *, nearest: str = "") -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        self.nearest = nearest or _find_nearest(str(name), self.known)
        choices = f"Choose from {', '.join(self.known)}." if self.known else "There are none."
        question = f" Did you mean {self.nearest!r}?" if self.nearest else ""
        super().__init__(f"Unknown {kind} {name!r}. {choices}{question}")


def _find_nearest(name: str, known: Sequence[str]) -> str:
    """Return the known name that is spelt most like a name; upper case does not matter."""
    by_lower = {other.lower(): other for other in reversed(known)}
    nearest = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return by_lower[nearest[0]] if nearest else ""


class BadSetting(VenireError, ValueError):
    """A setting or argument that is not allowed.

    Attributes
    ----------
    value : object
        The refused value, or None.
    """

    code = "bad-setting"

    def __init__(
        self,
        reason: str,
        *,
        argument: str = "",
        value: Any = None,
        hint: str = "",
        code: str | None = None,
    ) -> None:
        self.value = value
        super().__init__(reason, argument=argument, hint=hint, code=code)


class MissingExtra(VenireError, ImportError):
    """An optional package is needed and not installed."""

    code = "missing-extra"

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"{purpose} needs the package {package}. Install it with: pip install 'venire[{extra}]'"
        )


class StoreError(VenireError):
    """The database cannot be used, or a request to it cannot be served."""

    code = "store-error"


class NotFound(StoreError, LookupError):
    """Something does not exist, or the user may not see it.

    Attributes
    ----------
    kind, name : str
        What was looked for.

    ``words`` replaces the message.
    """

    code = "not-found"

    def __init__(self, kind: str, name: str, words: str = "") -> None:
        self.kind = kind
        self.name = name
        super().__init__(words or f"No {kind} {name!r}")


class Conflict(StoreError):
    """The request conflicts with the current state: something exists already, or came first."""

    code = "conflict"


class Stale(StoreError):
    """The data changed after it was read; read it again."""

    code = "stale"


class NotAllowed(VenireError):
    """The user may not do this.

    Attributes
    ----------
    sign_in : bool
        Whether signing in would help.
    """

    code = "not-allowed"

    def __init__(self, reason: str, *, sign_in: bool = False, code: str | None = None) -> None:
        self.sign_in = sign_in
        super().__init__(reason, code="sign-in" if sign_in and code is None else code)
