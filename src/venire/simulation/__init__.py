"""Made-up people, collections and crowds whose truth is known."""
