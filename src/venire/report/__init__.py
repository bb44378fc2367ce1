"""Results as pages and files for people."""
