"""Run by Alembic, on the connection that ``store.schema`` passes; an import does nothing."""

from __future__ import annotations

from alembic import context

from venire.server.store.schema import METADATA

if hasattr(context, "config"):
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, target_metadata=METADATA, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()
