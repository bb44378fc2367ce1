"""Results printed in a few lines: what they hold, not every row."""

from __future__ import annotations

from collections.abc import Sequence


def write_repr(result: object, *facts: str) -> str:
    """Return the name of the class and the facts.

    Examples
    --------
    >>> write_repr(object(), "2 runs, 3 topics", "")
    '<object: 2 runs, 3 topics>'
    """
    text = "; ".join(fact for fact in facts if fact)
    return f"<{type(result).__name__}: {text}>"


def list_names(names: Sequence[object], most: int = 6) -> str:
    """Return the first names, and how many more there are.

    Examples
    --------
    >>> list_names(["AP", "RR", "P@5"], most=2)
    'AP, RR and 1 more'
    """
    listed = ", ".join(map(str, names[:most]))
    rest = len(names) - most
    return f"{listed} and {rest:,} more" if rest > 0 else listed
