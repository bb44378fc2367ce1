"""Alembic migrations: every change of the database, in order."""
