"""Engines run work on one thread or on several.

An engine maps a function over shards and yields the results in the order of the shards,
independent of which finished first: sums are the same on every engine and for every number
of workers.
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
    """Runs a function over shards and keeps their order."""

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield ``function(item)`` for each item, in the order of the items."""
        ...


@dataclass(frozen=True)
class Serial:
    """One thread."""

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield the results one after the other."""
        return map(function, items)


_worker = threading.local()
"""In a worker thread, ``stop`` is the event that cancels its work."""


def is_cancelled() -> bool:
    """Tell whether the work of this thread was cancelled; long loops check and stop."""
    stop: threading.Event | None = getattr(_worker, "stop", None)
    return stop is not None and stop.is_set()


class Threads:
    """Several threads; kernels release the global interpreter lock (GIL).

    A ``map`` inside a worker of such an engine runs in that worker: waiting for a free thread
    of a pool whose threads all wait would be a deadlock.

    Parameters
    ----------
    threads : int, optional
        Number of threads; the number of processors by default.
    """

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise BadSetting(f"must be >= 1 (got {threads})", argument="threads", value=threads)
        self.threads = threads or os.cpu_count() or 1
        self._pool: ThreadPoolExecutor | None = None

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield the results in the order of the items while threads work ahead."""
        work = list(items)
        if self.threads == 1 or len(work) < 2 or getattr(_worker, "stop", None) is not None:
            return map(function, work)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="venire")
        return _map_in_order(self._pool, function, work)


def _map_in_order(
    pool: ThreadPoolExecutor, function: Callable[[T], R], work: list[T]
) -> Iterator[R]:
    """Yield the results in order; cancel the rest on any exception."""
    stop = threading.Event()

    def run(item: T) -> R:
        _worker.stop = stop
        try:
            return function(item)
        finally:
            _worker.stop = None

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
    """Return the engine that is used by default: threads on this machine."""
    global _shared
    if _shared is None:
        _shared = Threads()
    return _shared
