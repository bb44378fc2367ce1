"""Open the database: transactions that read or write, on SQLite and PostgreSQL."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool

from venire.errors import StoreError

T = TypeVar("T")
ATTEMPTS = 8
UNAVAILABLE = "unavailable"
"""Code of the error of a database that is full, read-only, busy or away."""


class Store:
    """A database with Venire's tables.

    Transactions either read or write. On SQLite, a writing transaction takes the write lock with
    its first statement, so that what it has read cannot change before it commits.

    Parameters
    ----------
    url : str
        ``sqlite:///path`` or ``postgresql://user@host/name``.
    connections : int
        Size of the connection pool.

    Attributes
    ----------
    media : Path or None
        The folder of images, if this process has one; jobs that encode images read it.
    """

    def __init__(self, url: str, *, connections: int = 20) -> None:
        self.url = _name_driver(url)
        self.media: Path | None = None
        self.is_sqlite = self.url.startswith("sqlite")
        options: dict[str, Any] = {"poolclass": QueuePool, "pool_size": connections}
        options |= {"max_overflow": connections, "pool_timeout": 60}
        if not self.is_sqlite:
            options |= {"pool_pre_ping": True}
        try:
            self.engine: Engine = create_engine(self.url, **options)
        except (ArgumentError, ImportError) as error:
            raise StoreError(f"{url}: cannot open this database ({error})") from None
        if self.is_sqlite:
            event.listen(self.engine, "connect", _on_connect)
            event.listen(self.engine, "begin", _on_begin)
        self._writing = self.engine.execution_options(venire_write=True)
        self._reading = self.engine.execution_options(postgresql_readonly=True)

    @classmethod
    def at(cls, folder: str | Path, *, connections: int = 20) -> Store:
        """Open the SQLite database of a folder, ``folder/venire.db``."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        made = cls(f"sqlite:///{Path(folder) / 'venire.db'}", connections=connections)
        made.media = Path(folder) / "media"
        return made

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Open a transaction that only reads (enforced on PostgreSQL).

        It ends with a commit: after a rollback, psycopg drops its prepared statements on the
        connection, and each has to be parsed and planned again.
        """
        with (
            translate_failures(),
            Session(self._reading, autoflush=False, expire_on_commit=False) as session,
        ):
            yield session
            session.expunge_all()
            session.commit()

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        """Open a transaction that sees one snapshot of the data, however long it reads."""
        engine = self.engine
        if not self.is_sqlite:  # on SQLite, every transaction reads a snapshot
            engine = engine.execution_options(isolation_level="REPEATABLE READ")
        with translate_failures(), Session(engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Open a transaction that writes: committed at the end, rolled back on an error."""
        with (
            translate_failures(),
            Session(self._writing, expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    def write(self, work: Callable[[Session], T]) -> T:
        """Call a function in a writing transaction, and repeat it after a conflict.

        Deadlocks, a busy database and a row that another transaction inserted first go away when
        the whole transaction is repeated; it is tried up to eight times.
        """
        for attempt in range(ATTEMPTS):
            try:
                with self.writing() as session:
                    return work(session)
            except (OperationalError, IntegrityError) as error:
                if attempt == ATTEMPTS - 1 and isinstance(error, OperationalError):
                    raise StoreError(
                        "The database is busy. Nothing was saved.",
                        hint="Try again in a moment.",
                        code=UNAVAILABLE,
                    ) from error
                if attempt == ATTEMPTS - 1 or not _is_transient(error):
                    raise
                time.sleep(random.uniform(0.5, 1.5) * 0.02 * 2**attempt)
        raise StoreError("unreachable")

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


@contextmanager
def translate_failures() -> Iterator[None]:
    """Turn a database that is full, read-only or away into a ``StoreError``.

    Raises
    ------
    StoreError
        Code ``unavailable``. Nothing of the transaction was saved.
    """
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        if isinstance(error, DBAPIError) and not _is_unavailable(error):
            raise
        original = getattr(error, "orig", None) or error
        detail = (str(original).strip().splitlines() or ["no details"])[0]
        raise StoreError(
            f"The database cannot be used ({detail}). Nothing was saved.",
            hint="Free disk space, or start the database; then try again.",
            code=UNAVAILABLE,
        ) from error


def _name_driver(url: str) -> str:
    for prefix in ("postgresql://", "postgres://"):
        if url.startswith(prefix):
            return "postgresql+psycopg://" + url[len(prefix) :]
    try:
        name = make_url(url).get_backend_name()
    except ArgumentError:
        raise StoreError(
            f"{url}: not the URL of a database. Write sqlite:///file.db or "
            "postgresql://user@host/name."
        ) from None
    if name not in ("sqlite", "postgresql"):
        raise StoreError(f"{url}: {name} is not supported. Use sqlite:/// or postgresql://.")
    return url


def _is_unavailable(error: DBAPIError) -> bool:
    """Return whether the database, and not the statement, is at fault."""
    original = error.orig
    if isinstance(original, sqlite3.Error):
        return getattr(original, "sqlite_errorcode", 0) & 0xFF in _SQLITE_UNAVAILABLE
    state = getattr(original, "sqlstate", None)
    # No state: no connection. Classes of states: connection, resources, operator, system.
    return state is None or state[:2] in ("08", "53", "57", "58")


_SQLITE_UNAVAILABLE = (
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_PERM,
)  # fmt: skip


def _is_transient(error: DBAPIError) -> bool:
    """Return whether an error can go away when the transaction is repeated."""
    code = getattr(error.orig, "sqlstate", None)
    if code is not None:
        # deadlock, serialization failure, unique violation
        return code in ("40P01", "40001", "23505")
    if not isinstance(error.orig, sqlite3.Error):
        return False
    # The error code is an extended one; its lowest byte is the primary code.
    extended = getattr(error.orig, "sqlite_errorcode", 0)
    return extended & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or extended in (
        sqlite3.SQLITE_CONSTRAINT_UNIQUE,
        sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
        sqlite3.SQLITE_CONSTRAINT_ROWID,
    )


def _on_connect(connection: sqlite3.Connection, _: Any) -> None:
    connection.isolation_level = None  # transactions start in _on_begin
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # an acknowledged judgment is on the disk
    cursor.execute("PRAGMA busy_timeout=30000")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA recursive_triggers=ON")  # so that REPLACE fires the DELETE triggers
    cursor.execute("PRAGMA cache_size=-32000")
    cursor.execute("PRAGMA wal_autocheckpoint=8000")  # a checkpoint blocks the writer: make it rare
    cursor.close()


def _on_begin(connection: Any) -> None:
    write = connection.get_execution_options().get("venire_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
