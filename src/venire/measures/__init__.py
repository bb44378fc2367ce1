"""Measures as values: named, parsed and printed as ir_measures spells them."""

from venire.measures.measure import Measure, MeasureLike, MeasuresLike, list_measures, parse

__all__ = ["Measure", "MeasureLike", "MeasuresLike", "list_measures", "parse"]
