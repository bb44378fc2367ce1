"""Models that turn judgments into a posterior over grades."""
