"""Near-alike documents of one pool put together, so that many can be judged at once."""
