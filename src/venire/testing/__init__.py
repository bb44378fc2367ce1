"""Conformance suites for whoever writes a plug-in."""

from venire.testing.aggregators import check_aggregator
from venire.testing.groupers import check_grouper

__all__ = ["check_aggregator", "check_grouper"]
