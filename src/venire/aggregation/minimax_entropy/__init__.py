"""Minimax conditional entropy."""
