"""Annotator types: what kind of person an annotator is."""
