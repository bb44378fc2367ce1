"""Campaigns on crowd platforms without the web: batches out as files, results in."""
