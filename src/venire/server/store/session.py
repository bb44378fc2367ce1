"""One database: transactions for reading and for writing, on SQLite and PostgreSQL."""

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
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool

from venire.errors import StoreError

T = TypeVar("T")
ATTEMPTS = 8


class Store:
    """A database with Venire's tables.

    Parameters
    ----------
    url : str
        ``sqlite:///path`` or ``postgresql://user@host/name``.

    Reading and writing are two kinds of transaction: on SQLite a writing one takes the write
    lock at its first statement, so that what it read stays true until it commits.

    Attributes
    ----------
    media : Path or None
        The folder of images, where this process knows it: what encodes images looks there.
    """

    def __init__(self, url: str, *, connections: int = 20) -> None:
        self.url = _driver(url)
        self.media: Path | None = None
        self.is_sqlite = self.url.startswith("sqlite")
        options: dict[str, Any] = {"poolclass": QueuePool, "pool_size": connections}
        options |= {"max_overflow": connections, "pool_timeout": 60}
        if not self.is_sqlite:
            options |= {"pool_pre_ping": True}
        try:
            self.engine: Engine = create_engine(self.url, **options)
        except (ArgumentError, ImportError) as error:
            raise StoreError(f"{url}: not a database Venire can use ({error})") from None
        if self.is_sqlite:
            event.listen(self.engine, "connect", _on_connect)
            event.listen(self.engine, "begin", _on_begin)
        self._writing = self.engine.execution_options(venire_write=True)
        self._reading = self.engine.execution_options(postgresql_readonly=True)

    @classmethod
    def at(cls, folder: str | Path, *, connections: int = 20) -> Store:
        """The SQLite database of a folder: ``folder/venire.db``."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        made = cls(f"sqlite:///{Path(folder) / 'venire.db'}", connections=connections)
        made.media = Path(folder) / "media"
        return made

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A transaction that only reads; PostgreSQL refuses anything else.

        It ends with a commit: after a rollback, psycopg drops the statements that it had prepared
        on the connection, and each is parsed and planned anew.
        """
        with Session(self._reading, autoflush=False, expire_on_commit=False) as session:
            yield session
            session.expunge_all()
            session.commit()

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        """A transaction that sees the data as they are now, however long it reads."""
        engine = self.engine
        if not self.is_sqlite:  # a transaction of SQLite is a snapshot by itself
            engine = engine.execution_options(isolation_level="REPEATABLE READ")
        with Session(engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction that writes; it is committed at the end, or undone on an error."""
        with Session(self._writing, expire_on_commit=False) as session, session.begin():
            yield session

    def write(self, work: Callable[[Session], T]) -> T:
        """Do work in a writing transaction; try again where another one was in the way.

        Deadlocks, a busy database and a row that another transaction made first are no fault
        of the work: it is done anew, from the start, up to eight times.
        """
        for attempt in range(ATTEMPTS):
            try:
                with self.writing() as session:
                    return work(session)
            except (OperationalError, IntegrityError) as error:
                if attempt == ATTEMPTS - 1 or not _passing(error):
                    raise
                time.sleep(random.uniform(0.5, 1.5) * 0.02 * 2**attempt)
        raise StoreError("unreachable")

    def close(self) -> None:
        """Give back all connections."""
        self.engine.dispose()


def _driver(url: str) -> str:
    for plain in ("postgresql://", "postgres://"):
        if url.startswith(plain):
            return "postgresql+psycopg://" + url[len(plain) :]
    try:
        name = make_url(url).get_backend_name()
    except ArgumentError:
        raise StoreError(
            f"{url}: not a database; say sqlite:///file.db or postgresql://user@host/name"
        ) from None
    if name not in ("sqlite", "postgresql"):
        raise StoreError(f"{url}: {name} is not supported; say sqlite:/// or postgresql://")
    return url


def _passing(error: DBAPIError) -> bool:
    code = getattr(error.orig, "sqlstate", None)
    if code is not None:
        # deadlock, serialization failure, unique violation
        return code in ("40P01", "40001", "23505")
    words = str(error.orig)
    return "locked" in words or "busy" in words or "UNIQUE" in words


def _on_connect(connection: sqlite3.Connection, _: Any) -> None:
    connection.isolation_level = None  # SQLAlchemy's "begin" event starts transactions
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # what was acknowledged is on the disk
    cursor.execute("PRAGMA busy_timeout=30000")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA recursive_triggers=ON")  # REPLACE is a deletion too
    cursor.execute("PRAGMA cache_size=-32000")
    cursor.execute("PRAGMA wal_autocheckpoint=8000")  # who writes waits for it: let it be seldom
    cursor.close()


def _on_begin(connection: Any) -> None:
    write = connection.get_execution_options().get("venire_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
