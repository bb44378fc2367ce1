"""How far a ranking of systems can be trusted."""
