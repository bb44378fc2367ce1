"""Conformance suites for whoever writes a plug-in."""

from venire.testing.aggregators import check_aggregator

__all__ = ["check_aggregator"]
