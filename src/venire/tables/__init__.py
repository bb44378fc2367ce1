"""Frozen tables around one polars frame each: runs, qrels, judgments; and the scale."""
