"""Limit wrong passwords per login and address, for all processes of a server together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from fastapi import Request
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session
from starlette.exceptions import HTTPException

from venire.errors import NotAllowed
from venire.server.store.base import now
from venire.server.store.people import PasswordTry
from venire.server.store.session import Store
from venire.server.studies.accounts import hash_secret

SECONDS = 900
"""Wrong passwords are forgotten after so long."""
MOST = 10
"""Wrong passwords for one login from one address."""
MOST_OF_ADDRESS = 100
"""Wrong passwords from one address, for whatever login."""


class Tries:
    """Wrong passwords of the last 15 minutes, in the database; addresses as hashes only."""

    def __init__(self, store: Store, clock: Callable[[], datetime] = now) -> None:
        self._store = store
        self._clock = clock

    @contextmanager
    def count_try(self, request: Request, login: str) -> Iterator[None]:
        """Wrap the check of a password: refuse too many tries, and count wrong passwords.

        A try counts from its start, so that many at once are not more than one after another.

        Raises
        ------
        HTTPException
            429, with the seconds until the next try.
        """
        address = request.client.host if request.client else ""
        address_key = hash_secret(f"address {address}")
        login_key = hash_secret(f"login {address} {login.strip().casefold()[:200]}")
        limits = {login_key: MOST, address_key: MOST_OF_ADDRESS}
        started = self._store.write(lambda session: self._begin(session, limits))
        try:
            yield
        except NotAllowed:
            raise
        except BaseException:
            self._store.write(lambda session: _forget(session, started))
            raise
        self._store.write(lambda session: _forget(session, started, login_key))

    def _begin(self, session: Session, limits: dict[str, int]) -> list[int]:
        """Add a try of each key, and return their IDs; refuse where a key has too many."""
        moment = self._clock()
        oldest = moment - timedelta(seconds=SECONDS)
        session.execute(delete(PasswordTry).where(PasswordTry.tried_at <= oldest))
        rows = [PasswordTry(key=key, tried_at=moment) for key in limits]
        session.add_all(rows)
        session.flush()
        for key, most in limits.items():
            count, first = session.execute(
                select(func.count(), func.min(PasswordTry.tried_at)).where(PasswordTry.key == key)
            ).one()
            if count > most:
                left = int((first + timedelta(seconds=SECONDS) - moment).total_seconds()) + 1
                raise HTTPException(
                    429,
                    f"Too many wrong passwords. Try again in {-(-left // 60)} minutes.",
                    {"Retry-After": str(left)},
                )
        return [row.id for row in rows]


def _forget(session: Session, tries: list[int], key: str | None = None) -> None:
    """Remove tries by their IDs, and all of a key."""
    session.execute(delete(PasswordTry).where(PasswordTry.id.in_(tries)))
    if key is not None:
        session.execute(delete(PasswordTry).where(PasswordTry.key == key))
