"""How often a password may be tried: wrong ones are counted by login and address."""

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
    """Wrong passwords of the last quarter of an hour, in the memory of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: dict[tuple[str, ...], deque[float]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def counted(self, request: Request, login: str) -> Iterator[None]:
        """Around the check of a password: refuses one try too many, keeps count of wrong ones.

        A try counts from its start, so that many at once are not more than one after another.

        Raises
        ------
        HTTPException
            429, with the seconds until the next try.
        """
        address = request.client.host if request.client else ""
        one, all_of_it = (address, login.strip().casefold()[:200]), (address,)
        at = self._begin({one: MOST, all_of_it: MOST_OF_ADDRESS})
        try:
            yield
        except NotAllowed:
            raise
        except BaseException:
            self._forget(one, at)
            self._forget(all_of_it, at)
            raise
        self._forget(all_of_it, at)
        with self._lock:
            self._wrong.pop(one, None)

    def _begin(self, limits: dict[tuple[str, ...], int]) -> float:
        with self._lock:
            at = self._clock()
            if len(self._wrong) > _KEYS:
                fresh = {k: v for k, v in self._wrong.items() if v and v[-1] > at - SECONDS}
                self._wrong = fresh
            for key, most in limits.items():
                times = self._wrong.setdefault(key, deque(maxlen=most))
                while times and times[0] <= at - SECONDS:
                    times.popleft()
                if len(times) >= most:
                    left = int(times[0] + SECONDS - at) + 1
                    raise HTTPException(
                        429,
                        f"too many wrong passwords; try again in {-(-left // 60)} minutes",
                        {"Retry-After": str(left)},
                    )
            for key in limits:
                self._wrong[key].append(at)
            return at

    def _forget(self, key: tuple[str, ...], at: float) -> None:
        with self._lock:
            times = self._wrong.get(key)
            if times is not None and at in times:
                times.remove(at)
