"""Conformance suites for authors of plug-ins."""

from venire.testing.aggregators import check_aggregator
from venire.testing.groupers import check_grouper

__all__ = ["check_aggregator", "check_grouper"]
