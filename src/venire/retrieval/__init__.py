"""Classical retrieval systems, to make runs for a first pool."""
