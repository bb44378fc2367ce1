"""Judging: hand out batches, record events and judgments, check gold, review batches."""
