"""What the migrations make is what the code says; what was written stays on both databases."""

import re

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from studies_for_tests import judge_batch, make_study
from venire.server.store.schema import METADATA, find_differences
from venire.server.store.session import Store


def test_migrations_and_tables_do_not_differ(store):
    assert find_differences(store) == []


def described(connection, dialect):
    """Constraints and indexes as the database itself words them, also partial ones and checks."""
    if dialect == "sqlite":
        rows = connection.execute(
            text("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index')"
                 " AND name NOT LIKE 'sqlite%' AND name <> 'alembic_version'")
        ).all()  # fmt: skip
        return {name: parts(sql) for name, sql in rows if sql}
    checks = connection.execute(
        text("SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
             " WHERE connamespace = 'public'::regnamespace AND contype <> 'n'")
    ).all()  # fmt: skip
    indexes = connection.execute(
        text("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'")
    ).all()
    return {name: sql for name, sql in [*checks, *indexes] if "alembic" not in name}


def parts(sql):
    """The parts of a statement of SQLite, in whatever order they were written."""
    words = re.sub(r"\s+", " ", sql.replace('"', "").replace("( ", "(").replace(" )", ")"))
    inside = words.partition("(")[2].rpartition(")")[0] if words.startswith("CREATE T") else words
    return sorted(part.strip() for part in re.split(r", (?![^(]*\))", inside))


def test_checks_and_partial_indexes_are_the_same_too(store, tmp_path, request):
    if store.is_sqlite:
        other = create_engine(f"sqlite:///{tmp_path / 'made.db'}")
    else:
        import uuid

        from venire.server.store.session import _name_driver

        name = f"venire_made_{uuid.uuid4().hex[:8]}"
        postgres = request.getfixturevalue("postgres")
        admin = create_engine(_name_driver(postgres), isolation_level="AUTOCOMMIT")
        with admin.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        admin.dispose()
        url = postgres.replace("/postgres?", f"/{name}?").replace("@/postgres", f"@/{name}")
        other = create_engine(_name_driver(url))
    METADATA.create_all(other)
    dialect = "sqlite" if store.is_sqlite else "postgresql"
    with store.engine.connect() as migrated, other.connect() as made:
        assert described(migrated, dialect) == described(made, dialect)
    other.dispose()


@pytest.mark.parametrize("table", ["event", "judgment", "decision"])
def test_no_way_of_writing_changes_what_was_written(store, table):
    _, campaign, (ann, *_) = make_study(store)
    judge_batch(store, campaign, ann)
    statements = [f"UPDATE {table} SET seq = seq", f"DELETE FROM {table}"]
    if store.is_sqlite:
        statements.append(f"REPLACE INTO {table} SELECT * FROM {table}")
    else:
        statements.append(f"TRUNCATE {table} CASCADE")
        statements.append(f"MERGE INTO {table} a USING {table} b ON a.seq = b.seq "
                          "WHEN MATCHED THEN DELETE")  # fmt: skip
    for statement in statements:
        with pytest.raises(DBAPIError, match="never changed"), store.writing() as session:
            session.execute(text(statement))


def test_an_upgrade_of_what_is_new_changes_nothing(store):
    from venire.server.store.schema import upgrade

    again = Store(store.url)
    upgrade(again)
    assert find_differences(again) == []
    again.close()
