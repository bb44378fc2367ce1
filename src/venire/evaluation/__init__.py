"""Scores: of inferred grades against known ones, and of systems."""
