"""Venire: relevance judgments that can be trusted, and how far.

Public names are loaded on first use: ``import venire`` imports next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from venire.aggregation.aggregate import aggregate as aggregate
    from venire.agreement.summary import measure_agreement as measure_agreement
    from venire.evaluation.compare import compare as compare
    from venire.evaluation.evaluate import evaluate as evaluate
    from venire.formats.collection import read_collection as read_collection
    from venire.tables.judgments import Judgments as Judgments
    from venire.tables.qrels import Qrels as Qrels
    from venire.tables.runs import Runs as Runs
    from venire.tables.scale import Scale as Scale

    __version__: str

_PUBLIC = {
    "Judgments": "venire.tables.judgments",
    "Qrels": "venire.tables.qrels",
    "Runs": "venire.tables.runs",
    "Scale": "venire.tables.scale",
    "aggregate": "venire.aggregation.aggregate",
    "compare": "venire.evaluation.compare",
    "evaluate": "venire.evaluation.evaluate",
    "measure_agreement": "venire.agreement.summary",
    "read_collection": "venire.formats.collection",
}
"""Public name -> the module it is loaded from."""

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version("venire")
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'venire' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
