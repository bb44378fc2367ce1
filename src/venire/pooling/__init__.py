"""Pools: which documents of the runs are judged."""
