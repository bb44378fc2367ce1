"""Limit wrong passwords per login and address."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fastapi import Request
from starlette.exceptions import HTTPException

from venire.errors import NotAllowed

SECONDS = 900
"""Wrong passwords are forgotten after so long."""
MOST = 10
"""Wrong passwords for one login from one address."""
MOST_OF_ADDRESS = 100
"""Wrong passwords from one address, for whatever login."""
_KEYS = 10_000


class Tries:
    """Wrong passwords of the last 15 minutes, in the memory of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: dict[tuple[str, ...], deque[float]] = {}
        self._lock = threading.Lock()

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
        login_key, address_key = (address, login.strip().casefold()[:200]), (address,)
        started = self._begin({login_key: MOST, address_key: MOST_OF_ADDRESS})
        try:
            yield
        except NotAllowed:
            raise
        except BaseException:
            self._forget(login_key, started)
            self._forget(address_key, started)
            raise
        self._forget(address_key, started)
        with self._lock:
            self._wrong.pop(login_key, None)

    def _begin(self, limits: dict[tuple[str, ...], int]) -> float:
        with self._lock:
            started = self._clock()
            if len(self._wrong) > _KEYS:
                fresh = {k: v for k, v in self._wrong.items() if v and v[-1] > started - SECONDS}
                self._wrong = fresh
            for key, most in limits.items():
                times = self._wrong.setdefault(key, deque(maxlen=most))
                while times and times[0] <= started - SECONDS:
                    times.popleft()
                if len(times) >= most:
                    left = int(times[0] + SECONDS - started) + 1
                    raise HTTPException(
                        429,
                        f"Too many wrong passwords. Try again in {-(-left // 60)} minutes.",
                        {"Retry-After": str(left)},
                    )
            for key in limits:
                self._wrong[key].append(started)
            return started

    def _forget(self, key: tuple[str, ...], started: float) -> None:
        with self._lock:
            times = self._wrong.get(key)
            if times is not None and started in times:
                times.remove(started)
