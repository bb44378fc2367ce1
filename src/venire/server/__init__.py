"""The server: studies, the people who judge, the jobs, the pages."""
