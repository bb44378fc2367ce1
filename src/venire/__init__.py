"""Venire: relevance judgments that can be trusted, and how far.

Public names are loaded on first use: ``import venire`` imports next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version as _version
from typing import Any

_PUBLIC = {
    "Judgments": "venire.tables.judgments",
    "Qrels": "venire.tables.qrels",
    "Runs": "venire.tables.runs",
    "Scale": "venire.tables.scale",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version("venire")
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'venire' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
