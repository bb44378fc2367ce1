"""Compiled loops of the models: integer codes in, arrays out."""
