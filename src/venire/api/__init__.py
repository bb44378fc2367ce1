"""The JSON API: every owner action. A route parses, calls a verb, and answers."""
