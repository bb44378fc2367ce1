"""``venire simulate``."""
