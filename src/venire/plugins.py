"""Models, measures, formats and more, found by name through entry points.

Venire registers its own the way a package of yours does: by an entry point in a group such as
``venire.aggregators``, whose name is what users type. Nothing is imported before it is used.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from venire.errors import UnknownName

GROUPS = {
    "aggregator": "venire.aggregators",
    "encoder": "venire.encoders",
    "format": "venire.formats",
    "grouper": "venire.groupers",
    "job": "venire.jobs",
    "measure": "venire.measures",
    "pool strategy": "venire.pool_strategies",
    "system": "venire.systems",
    "platform": "venire.platforms",
}
"""Kind of plug-in -> its group of entry points."""
_SPOKEN = {"aggregator": "model", "job": "kind of job"}
"""What a user calls a kind, where that is another word."""
_registered: dict[str, dict[str, Any]] = {}


@cache
def _all_points() -> Any:
    """Return every entry point; read once, since this opens a file of each installed package."""
    return entry_points()


@cache
def _points(kind: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in _all_points().select(group=GROUPS[kind])}


def names(kind: str) -> list[str]:
    """Return the names registered for a kind, in the order of registration.

    Parameters
    ----------
    kind : str
        One of the keys of ``GROUPS``, for example ``"aggregator"``.
    """
    return list(_points(kind) | _registered.get(kind, {}))


def load(kind: str, name: str) -> Any:
    """Return the object registered under a name, and import nothing else.

    Raises
    ------
    UnknownName
        With the nearest known name.
    """
    registered = _registered.get(kind, {})
    if name in registered:
        return registered[name]
    if name not in _points(kind):
        raise UnknownName(_SPOKEN.get(kind, kind), name, names(kind))
    return _load(kind, name)


@cache
def _load(kind: str, name: str) -> Any:
    return _points(kind)[name].load()


def load_all(kind: str) -> dict[str, Any]:
    """Return every object of a kind by its name, in the order of registration."""
    return {name: load(kind, name) for name in names(kind)}


def register(kind: str, name: str, thing: Any) -> None:
    """Register an object in this process only: for notebooks and tests.

    A package uses an entry point instead, which every process and command sees.

    Parameters
    ----------
    kind : str
        One of the keys of ``GROUPS``.
    name : str
        What users type. It replaces an object of that name.
    thing : object
        What the entry point would name.
    """
    if kind not in GROUPS:
        raise UnknownName("kind of plug-in", kind, GROUPS)
    _registered.setdefault(kind, {})[name] = thing


def unregister(kind: str, name: str) -> None:
    """Undo :func:`register`."""
    _registered.get(kind, {}).pop(name, None)
