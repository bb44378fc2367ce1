"""The worker: a thread of the server that claims jobs, runs them and stores their results."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from venire.errors import VenireError
from venire.progress import Event
from venire.server.jobs.claims import (
    Claim,
    ClaimLost,
    JobStopped,
    claim_job,
    end_claim,
    record_heartbeat,
)
from venire.server.jobs.kinds import find_kind
from venire.server.jobs.work import Work
from venire.server.store.base import new_id
from venire.server.store.session import Store
from venire.server.store.work import Job

HEARTBEAT_SECONDS = 10.0
PROGRESS_SECONDS = 0.5
_log = logging.getLogger("venire.jobs")


class Reporter:
    """Progress of a running job: written to the database at most twice a second.

    Each call raises :class:`JobStopped` if the job was stopped or the server shuts down, and
    :class:`ClaimLost` if another worker has claimed the job.
    """

    def __init__(self, store: Store, claim: Claim, shutdown: threading.Event) -> None:
        self._store, self._claim, self._shutdown = store, claim, shutdown
        self._written = 0.0
        self._lock = threading.Lock()
        self.stop_requested = False
        self.claim_lost = False

    def __call__(self, event: Event) -> None:
        """Report progress, and end the job if it should stop."""
        with self._lock:
            due = time.monotonic() - self._written > PROGRESS_SECONDS
            if due:
                self._written = time.monotonic()
        if due:
            total = 0 if event.total is None else int(event.total)
            message = f"{event.task} {event.detail}".strip()[:500]
            self.beat(done=int(event.done), total=total, message=message)
        if self.claim_lost:
            raise ClaimLost(self._claim.id)
        if self.stop_requested or self._shutdown.is_set():
            raise JobStopped

    def beat(self, **values: Any) -> None:
        """Record a heartbeat, and learn whether to stop."""
        try:
            self.stop_requested |= self._store.write(
                lambda session: record_heartbeat(session, self._claim, **values)
            )
        except ClaimLost:
            self.claim_lost = True


def run_job(store: Store, claim: Claim, shutdown: threading.Event | None = None) -> str:
    """Run a claimed job and return the state it ends in.

    ``shutdown`` is set when this process ends: the job is then queued again with its saved parts.
    """
    shutdown = shutdown or threading.Event()
    report = Reporter(store, claim, shutdown)
    try:
        with _beating(report):
            kind = find_kind(claim.kind).of(claim.settings)
            result = to_plain(dict(kind.run(Work(store, claim), report)))
        return end_claim(store, claim, "done", result=result, message="")
    except ClaimLost:
        return "lost"
    except JobStopped:
        if report.claim_lost:
            return "lost"
        if shutdown.is_set() and not report.stop_requested:
            # An orderly shutdown of the server does not count as a try.
            tries = Job.tries - 1
            return end_claim(store, claim, "waiting", worker=None, heartbeat_at=None, tries=tries)
        return end_claim(store, claim, "stopped", message="stopped")
    except VenireError as error:
        return end_claim(store, claim, "failed", message=str(error))
    except Exception as error:  # noqa: BLE001 - the worker outlives the jobs it runs
        _log.exception("job %s (%s) failed", claim.id, claim.kind)
        message = f"Internal error of Venire: {error!r}"
        return end_claim(store, claim, "failed", message=message[:2000])


@contextmanager
def _beating(report: Reporter) -> Iterator[None]:
    """Record heartbeats in a thread while the job computes."""
    done = threading.Event()

    def beat_until_done() -> None:
        while not done.wait(HEARTBEAT_SECONDS):
            report.beat()

    thread = threading.Thread(target=beat_until_done, name="venire-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def to_plain(value: Any) -> Any:
    """Return a value as JSON can hold it: NaN and infinity become null."""
    return json.loads(json.dumps(value, default=_encode), parse_constant=lambda _: None)


def _encode(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)


def run_pending(store: Store) -> int:
    """Run all queued jobs in this thread, one after another; return their number."""
    count = 0
    worker = new_id()
    while (claim := store.write(lambda session: claim_job(session, worker))) is not None:
        run_job(store, claim)
        count += 1
    return count


class Worker:
    """A thread that runs jobs while a server is up.

    Parameters
    ----------
    store : Store
    every : float
        Seconds between two looks at the queue.
    """

    def __init__(self, store: Store, *, every: float = 1.0) -> None:
        self._store, self._every = store, every
        self._shutdown = threading.Event()
        self._thread = threading.Thread(target=self._work, name="venire-worker", daemon=True)

    def start(self) -> None:
        """Start to look at the queue."""
        self._thread.start()

    def stop(self, timeout: float = 10.0) -> None:
        """Stop; a running job is queued again for the next worker, with its saved parts."""
        self._shutdown.set()
        self._thread.join(timeout)

    def _work(self) -> None:
        while not self._shutdown.is_set():
            # A new name per job: a thread that has lost a job must not write to it again.
            name = new_id()
            try:
                claim = self._store.write(lambda session, name=name: claim_job(session, name))  # type: ignore[misc]
                if claim is not None:
                    run_job(self._store, claim, self._shutdown)
                    continue
            except Exception:  # noqa: BLE001 - the database may come back
                _log.exception("the worker could not read the queue; it will try again")
            self._shutdown.wait(self._every)
