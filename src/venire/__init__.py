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
    from venire.errors import VenireError as VenireError
    from venire.evaluation.compare import compare as compare
    from venire.evaluation.evaluate import evaluate as evaluate
    from venire.formats.collection import read_collection as read_collection
    from venire.pooling.build import pool as pool
    from venire.reliability.measure_repeatability import (
        measure_repeatability as measure_repeatability,
    )
    from venire.reliability.trust import trust as trust
    from venire.report.write_report import write_report as write_report
    from venire.retrieval.retrieve import retrieve as retrieve
    from venire.simulation.simulate_annotators import simulate_annotators as simulate_annotators
    from venire.simulation.simulate_assessors import simulate_assessors as simulate_assessors
    from venire.simulation.simulate_campaign import simulate_campaign as simulate_campaign
    from venire.simulation.simulate_grouping import simulate_grouping as simulate_grouping
    from venire.simulation.simulate_pools import simulate_pools as simulate_pools
    from venire.tables.judgments import Judgments as Judgments
    from venire.tables.qrels import Qrels as Qrels
    from venire.tables.runs import Runs as Runs
    from venire.tables.scale import Scale as Scale

    __version__: str

_PUBLIC = {
    "aggregate": "venire.aggregation.aggregate",
    "compare": "venire.evaluation.compare",
    "evaluate": "venire.evaluation.evaluate",
    "measure_agreement": "venire.agreement.summary",
    "measure_repeatability": "venire.reliability.measure_repeatability",
    "pool": "venire.pooling.build",
    "read_collection": "venire.formats.collection",
    "retrieve": "venire.retrieval.retrieve",
    "simulate_annotators": "venire.simulation.simulate_annotators",
    "simulate_assessors": "venire.simulation.simulate_assessors",
    "simulate_campaign": "venire.simulation.simulate_campaign",
    "simulate_grouping": "venire.simulation.simulate_grouping",
    "simulate_pools": "venire.simulation.simulate_pools",
    "trust": "venire.reliability.trust",
    "write_report": "venire.report.write_report",
    "Judgments": "venire.tables.judgments",
    "Qrels": "venire.tables.qrels",
    "Runs": "venire.tables.runs",
    "Scale": "venire.tables.scale",
    "VenireError": "venire.errors",
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
