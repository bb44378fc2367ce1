"""Inferred grades against known grades: scores and calibration."""
