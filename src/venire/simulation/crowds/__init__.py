"""Simulated annotators, crowds with known truth, and a small collection."""
