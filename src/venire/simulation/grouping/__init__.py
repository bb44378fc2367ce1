"""Grouped judging simulated, and the setting that saves the most time."""
