"""Pools and second assessors simulated on known grades."""
