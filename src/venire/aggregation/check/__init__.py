"""Inferred grades checked against known ones."""
