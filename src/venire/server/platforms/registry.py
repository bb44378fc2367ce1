"""Crowd platforms by name, found by entry point."""

from __future__ import annotations

from collections.abc import Iterable

from venire import plugins
from venire.server.platforms.base import Platform


def list_platforms() -> list[str]:
    """Return the names of all platforms."""
    return plugins.names("platform")


def load_platform(name: str) -> Platform:
    """Return the platform of that name.

    Raises
    ------
    UnknownName
    """
    platform: Platform = plugins.load("platform", name)()
    return platform


def recognise_platform(columns: Iterable[str]) -> Platform | None:
    """Return the platform whose result files have these columns; None where none has."""
    present = set(columns)
    platforms = (load_platform(name) for name in list_platforms())
    return next((platform for platform in platforms if platform.marker_column in present), None)
