"""The schema of a database: made, brought up to date, compared with the code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from venire.errors import StoreError
from venire.server.store import judging, people, studies, work
from venire.server.store.base import Base
from venire.server.store.session import Store

METADATA = Base.metadata
TABLES = (people, studies, judging, work)
_LOCK = 7_661_110  # one number, so that two starting servers migrate one after the other


def upgrade(store: Store) -> None:
    """Bring a database to the newest revision; a new one gets all tables.

    Raises
    ------
    StoreError
        The database was made by a newer Venire.
    """
    with store._writing.connect() as connection:
        if not store.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        here = MigrationContext.configure(connection).get_current_heads()
        known = {
            script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()
        }
        unknown = [revision for revision in here if revision not in known]
        if unknown:
            raise StoreError(
                f"{store.url}: the database is of revision {unknown[0]}, which this version of "
                "Venire does not know; install a newer one"
            )
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()


def differences(store: Store) -> list[Any]:
    """How the database differs from the tables in the code; empty when it does not."""
    with store.engine.connect() as connection:
        return list(compare_metadata(MigrationContext.configure(connection), METADATA))


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("version_locations", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "newline")
    return config
