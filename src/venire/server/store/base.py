"""What all tables share: types, opaque ids, the time."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, MetaData
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeDecorator


class UtcTime(TypeDecorator[datetime]):
    """A time in UTC; a time without a zone is refused, for nobody knows what it means."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:
        """Bring a time to UTC before it is stored."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone cannot be stored")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        """SQLite keeps no zone: what it gives back is UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """The base of all tables; constraints have names, so that migrations can speak of them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {datetime: UtcTime, dict[str, Any]: JSON, list[Any]: JSON}  # noqa: RUF012


def new_id() -> str:
    """An id that tells nothing and cannot be guessed: 128 random bits as 22 characters."""
    return secrets.token_urlsafe(16)


CODE_LETTERS = "34679ACDEFGHJKMNPQRTUVWXY"
"""Without those that look alike: 0 and O, 1, I and L, 2 and Z, 5 and S, 8 and B."""


def new_code() -> str:
    """A code to be copied by hand, that cannot be guessed: 12 of 25 letters, 55 random bits."""
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(12))


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)
