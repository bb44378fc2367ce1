"""Triggers that make the tables of events, judgments and decisions append-only."""

from __future__ import annotations

from collections.abc import Iterator

APPEND_ONLY = ("event", "judgment", "decision")
_MESSAGE = "rows of {table} are never changed or removed"


def trigger_statements(dialect: str) -> Iterator[str]:
    """Yield the statements that create the triggers, for ``sqlite`` or ``postgresql``."""
    if dialect == "postgresql":
        yield (
            "CREATE FUNCTION venire_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ "
            "BEGIN RAISE EXCEPTION 'rows of % are never changed or removed', TG_TABLE_NAME; "
            "END $$"
        )
    for table in APPEND_ONLY:
        if dialect == "postgresql":
            yield (
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
                "FOR EACH ROW EXECUTE FUNCTION venire_append_only()"
            )
            yield (
                f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
                "FOR EACH STATEMENT EXECUTE FUNCTION venire_append_only()"
            )
        else:
            message = _MESSAGE.format(table=table)
            for verb in ("UPDATE", "DELETE"):
                yield (
                    f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                    f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
                )
