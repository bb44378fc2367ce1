"""What all tables share: column types, opaque ids, the time, lists of values in SQL."""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import DateTime, MetaData
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeDecorator

from venire.server.store.text import StoredJson, StoredString

T = TypeVar("T")
ROWS_PER_STATEMENT = 5_000


class UtcTime(TypeDecorator[datetime]):
    """A time in UTC. A time without a zone is refused, because its meaning is unknown."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:
        """Convert a time to UTC before it is stored."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("cannot store a time without a time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        """Return a time in UTC; SQLite stores no zone, and its values are UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """The base of all tables. Constraints have names, so that migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012
        datetime: UtcTime,
        str: StoredString,
        dict[str, Any]: StoredJson,
        list[Any]: StoredJson,
    }


def new_id() -> str:
    """Return an opaque id that cannot be guessed: 128 random bits as 22 characters."""
    return secrets.token_urlsafe(16)


CODE_LETTERS = "34679ACDEFGHJKMNPQRTUVWXY"
"""Letters and digits of codes, without those that look alike: 0 O, 1 I L, 2 Z, 5 S, 8 B."""


def open_random() -> random.Random:
    """Return a source of random numbers that nobody outside the server can repeat.

    A seed that a browser is sent, such as the ID of a batch, would tell which documents are gold.
    """
    return random.SystemRandom()


def new_code() -> str:
    """Return a code to be copied by hand: 12 of 25 letters, 55 random bits."""
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(12))


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def is_one_of(column: str, values: Iterable[str], *, negated: bool = False) -> str:
    """Return the SQL condition that a column has one of the values (or none of them).

    Examples
    --------
    >>> is_one_of("state", ["open"])
    "state IN ('open')"
    """
    quoted = ", ".join("'{}'".format(value.replace("'", "''")) for value in values)
    return f"{column} {'NOT IN' if negated else 'IN'} ({quoted})"


def split_rows(rows: list[T]) -> Iterator[list[T]]:
    """Yield the rows in parts that one statement takes."""
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        yield rows[start : start + ROWS_PER_STATEMENT]
