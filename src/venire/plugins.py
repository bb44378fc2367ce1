"""Named things found by entry point.

Venire registers its own models the same way a package of yours would: an entry
point in the group ``venire.aggregators`` whose name is what users type and
whose value is the class.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from venire.errors import UnknownName

_WORDS = {"aggregator": "model", "job": "kind of job"}
GROUPS = {"aggregator": "venire.aggregators", "job": "venire.jobs"}


def _points(kind: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUPS[kind])}


def names(kind: str) -> list[str]:
    """Return the names registered for a kind, in the order of registration.

    Parameters
    ----------
    kind : str
        One of the keys of ``GROUPS``, for example ``"aggregator"``.
    """
    return list(_points(kind))


def load(kind: str, name: str) -> Any:
    """Return the thing registered under a name; nothing else is imported.

    Raises
    ------
    UnknownName
        With the nearest name there is ("did you mean").
    """
    points = _points(kind)
    if name not in points:
        raise UnknownName(_WORDS[kind], name, points)
    return points[name].load()
