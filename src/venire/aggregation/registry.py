"""Models by name, with settings as the user wrote them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from venire import plugins
from venire.errors import BadSetting, UnknownName

DEFAULT = "committee"
MIXTURE = "ordinal-mixture"
KINDS = {int: "a whole number", float: "a number", bool: "yes or no", str: "text"}
DIFFICULTIES = ("none", "query", "item")


def build(name: str, settings: dict[str, Any]) -> Any:
    """Return the model of that name with those settings.

    Raises
    ------
    UnknownName
        For the name of the model or of a setting, with the nearest there is.
    """
    kind = plugins.load("aggregator", name)
    known = {field.name: field for field in fields(kind)}
    for setting, value in settings.items():
        if not known:
            raise BadSetting(f"{name} has no settings; --set {setting}= means nothing to it")
        if setting not in known:
            raise UnknownName(f"setting of {name}", setting, known)
        expected = type(getattr(kind(), setting))
        if expected is type(None):
            expected = int  # the settings without a default are numbers of things
        if expected is float and type(value) is int:
            settings = {**settings, setting: float(value)}
        elif expected is str:
            settings = {**settings, setting: str(value)}
        elif type(value) is not expected:
            raise BadSetting(f"{name}: {setting}={value!r} is not {KINDS[expected]}")
    return kind(**settings)


def chosen(model: str, settings: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return (label, model) for a name; ``all`` gives every model.

    The mixture then stands once for each difficulty, unless one was set.
    """
    if model != "all":
        return [(model, build(model, settings))]
    out: list[tuple[str, Any]] = []
    used: set[str] = set()
    for name in plugins.names("aggregator"):
        kind = plugins.load("aggregator", name)
        mine = {key: value for key, value in settings.items() if key in _names(kind)}
        used |= set(mine)
        built = build(name, mine)
        if name == MIXTURE and "difficulty" not in settings:
            out.extend(
                (f"{name} ({level})", replace(built, difficulty=level)) for level in DIFFICULTIES
            )
        else:
            out.append((name, built))
    unknown = set(settings) - used
    if unknown:
        every = {key for name in plugins.names("aggregator") for key in _names(_kind(name))}
        raise UnknownName("setting", sorted(unknown)[0], every)
    return out


def _kind(name: str) -> Any:
    return plugins.load("aggregator", name)


def _names(kind: Any) -> list[str]:
    return [field.name for field in fields(kind)]
