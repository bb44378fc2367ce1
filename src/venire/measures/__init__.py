"""Measures as values: named, parsed and printed as ir_measures spells them."""

from venire.measures.measure import Measure, parse

__all__ = ["Measure", "parse"]
