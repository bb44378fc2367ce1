"""What owners look through, and what they put in file by file: verbs beside those of `service`."""
