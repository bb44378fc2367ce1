"""Classical retrieval systems, for the runs that a first pool is made of."""
