"""Statistics that several rooms use: rank correlation, proportions, drift."""
