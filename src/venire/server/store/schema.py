"""Create the schema of a database, upgrade it, compare it with the tables in the code."""

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
from venire.server.store.session import Store, translate_failures

METADATA = Base.metadata
TABLES = (people, studies, judging, work)
_LOCK = 7_661_110
"""Key of the advisory lock that makes servers starting together migrate one after the other."""


def upgrade(store: Store) -> None:
    """Upgrade a database to the newest revision; a new database gets all tables.

    Raises
    ------
    StoreError
        A newer version of Venire has upgraded the database (code ``newer-database``).
    """
    with translate_failures(), store._writing.connect() as connection:
        if not store.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        heads = MigrationContext.configure(connection).get_current_heads()
        known = {
            script.revision
            for script in ScriptDirectory.from_config(make_config()).walk_revisions()
        }
        unknown = [revision for revision in heads if revision not in known]
        if unknown:
            raise StoreError(
                f"{store.url}: the database has revision {unknown[0]}, which this version of "
                "Venire does not know",
                hint="Install the newest version of Venire.",
                code="newer-database",
            )
        config = make_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()


def find_differences(store: Store) -> list[Any]:
    """Return how the database differs from the tables in the code."""
    with store.engine.connect() as connection:
        return list(compare_metadata(MigrationContext.configure(connection), METADATA))


def make_config() -> Config:
    """Return the configuration of Alembic; the caller adds the connection."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("version_locations", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "newline")
    return config
