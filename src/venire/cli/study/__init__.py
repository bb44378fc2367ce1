"""``venire study``."""
