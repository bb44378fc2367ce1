"""The demo: the whole chain on a small made-up collection."""
