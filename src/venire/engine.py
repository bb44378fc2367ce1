"""Where work runs.

An engine maps a function over shards and yields the results in the order of
the shards, whatever finished first: sums are then the same on every engine and
for every number of workers.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

from venire.errors import BadSetting

T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """Anything that can run a function over shards in order."""

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield ``function(item)`` for each item, in the order of the items."""
        ...


@dataclass(frozen=True)
class Serial:
    """One thread."""

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield results one after the other."""
        return map(function, items)


_here = threading.local()
"""What a worker thread knows: that it is one, and whether its work was called off."""


def called_off() -> bool:
    """Tell whether the work this thread does was called off; long loops ask and stop."""
    stop: threading.Event | None = getattr(_here, "stop", None)
    return stop is not None and stop.is_set()


class Threads:
    """Several threads; kernels release the interpreter lock.

    A ``map`` inside a worker of any such engine runs in that worker: waiting for a
    place among threads that themselves wait would never end.

    Parameters
    ----------
    workers : int, optional
        Number of threads; the number of processors by default.
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise BadSetting(f"workers must be at least 1, not {workers}")
        self.workers = workers or os.cpu_count() or 1
        self._pool: ThreadPoolExecutor | None = None

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield results in the order of the items while threads work ahead."""
        work = list(items)
        if self.workers == 1 or len(work) < 2 or getattr(_here, "stop", None) is not None:
            return map(function, work)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="venire")
        return _ordered(self._pool, function, work)


def _ordered(pool: ThreadPoolExecutor, function: Callable[[T], R], work: list[T]) -> Iterator[R]:
    """Yield results in order; on any exception call the rest off."""
    stop = threading.Event()

    def run(item: T) -> R:
        _here.stop = stop
        try:
            return function(item)
        finally:
            _here.stop = None

    waiting = deque(pool.submit(run, item) for item in work)
    try:
        while waiting:
            yield waiting.popleft().result()
    except BaseException:
        stop.set()
        for future in waiting:
            future.cancel()
        raise


_shared: Threads | None = None


def default_engine() -> Engine:
    """Return the engine used where none is named: threads on this machine."""
    global _shared
    if _shared is None:
        _shared = Threads()
    return _shared
