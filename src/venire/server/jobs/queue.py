"""Long work: submitted by anybody, done by worker threads, resumed where one died."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from venire import plugins
from venire.errors import Conflict, NotFound, UnknownName, VenireError
from venire.progress import Event, Progress
from venire.server.store.base import new_id, now
from venire.server.store.session import Store
from venire.server.store.work import Job, JobPart
from venire.server.studies.studies import get_study

DEAD = timedelta(seconds=60)
"""A worker that said nothing for so long is taken for dead, and its job is claimed again."""
MOST_TRIES = 3
"""So many times a job may take its worker's process with it; then it has failed."""
BEAT_SECONDS = 10.0
PROGRESS_SECONDS = 0.5
_log = logging.getLogger("venire.jobs")


class Stopped(Exception):
    """Raised inside a job that is to end: by its owner, or because the server goes down."""


class Lost(Exception):
    """Raised inside a job that another worker has claimed meanwhile: nothing more is written."""


@dataclass(frozen=True)
class Work:
    """A job as the function that does it sees it."""

    id: str
    study_id: str
    kind: str
    settings: Mapping[str, Any]
    worker: str


class Kind(Protocol):
    """What does a kind of job; registered under the entry point group ``venire.jobs``."""

    def __call__(
        self, store: Store, job: Work, progress: Progress, should_stop: Callable[[], bool]
    ) -> dict[str, Any]:
        """Do the work; what is returned is kept as the result (plain values only).

        ``progress`` may raise ``Stopped``. Parts kept by :func:`keep` are still there when the
        job is done anew after its worker died: :func:`parts` says which.
        """
        ...


_here: dict[str, Kind] = {}


def register(kind: str, function: Kind) -> None:
    """Make a kind of job known in this process; packages use the entry point instead."""
    _here[kind] = function


def _kind(name: str) -> Kind:
    if name in _here:
        return _here[name]
    known = plugins.names("job")
    if name not in known:
        raise UnknownName("kind of job", name, [*known, *_here])
    found: Kind = plugins.load("job", name)
    return found


def submit(
    session: Session, study_id: str, kind: str, settings: Mapping[str, Any], by: str | None = None
) -> str:
    """Ask for a job; its id. It waits until a worker has time.

    A kind's ``check`` (an attribute of its function) is called with the session, the study and
    the settings, so that what cannot be done is refused at once.

    Raises
    ------
    UnknownName
        No such kind of job.
    """
    get_study(session, study_id)
    function = _kind(kind)
    check = getattr(function, "check", None)
    if check is not None:
        check(session, study_id, settings)
    job = Job(study_id=study_id, kind=kind, settings=dict(settings), created_by=by)
    session.add(job)
    session.flush()
    return job.id


def get_job(session: Session, job_id: str, study_id: str | None = None) -> Job:
    """The job of that id (of that study)."""
    job = session.get(Job, job_id)
    if job is None or (study_id is not None and job.study_id != study_id):
        raise NotFound("job", job_id)
    return job


def list_jobs(session: Session, study_id: str, kind: str | None = None) -> list[Job]:
    """Jobs of a study, the newest first."""
    query = select(Job).where(Job.study_id == study_id)
    if kind is not None:
        query = query.where(Job.kind == kind)
    return list(session.scalars(query.order_by(Job.created_at.desc(), Job.id)))


def stop(session: Session, job_id: str) -> None:
    """End a job: one that waits at once, one that runs as soon as it looks."""
    job = session.scalar(select(Job).where(Job.id == job_id).with_for_update())
    if job is None:
        raise NotFound("job", job_id)
    if job.state not in ("waiting", "running"):
        raise Conflict(f"the job is {job.state} already")
    job.stop = True
    if job.state == "waiting":
        job.state, job.finished_at = "stopped", now()
    session.flush()


def go_on(session: Session, job_id: str) -> None:
    """Let a job that was stopped, or failed, wait for a worker again: it has what it had kept.

    Raises
    ------
    Conflict
        It waits, runs or is done.
    """
    job = session.scalar(select(Job).where(Job.id == job_id).with_for_update())
    if job is None:
        raise NotFound("job", job_id)
    if job.state not in ("stopped", "failed"):
        raise Conflict(f"the job is {job.state}; only one that was stopped or failed can go on")
    job.state, job.stop, job.finished_at, job.message = "waiting", False, None, ""
    job.worker, job.heartbeat_at, job.tries = None, None, 0
    session.flush()


def claim(session: Session, worker: str, at: datetime | None = None) -> Work | None:
    """Take the oldest job that waits, or whose worker has died; None where there is none.

    Two workers never take the same: rows are locked, and those locked are passed over. A job
    whose worker has died three times is taken no more: it has failed, and says so.
    """
    at = at or now()
    dead = (Job.state == "running") & or_(Job.heartbeat_at.is_(None), Job.heartbeat_at < at - DEAD)
    job = session.scalar(
        select(Job)
        .where((Job.state == "waiting") | dead)
        .order_by(Job.created_at, Job.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    if job is None:
        return None
    if job.stop or job.tries >= MOST_TRIES:
        job.state, job.finished_at = "stopped" if job.stop else "failed", at
        job.message = job.message if job.stop else _DIED
        session.flush()
        return claim(session, worker, at)
    job.state, job.worker, job.heartbeat_at = "running", worker, at
    job.tries += 1
    job.started_at = job.started_at or at
    session.flush()
    return Work(job.id, job.study_id, job.kind, dict(job.settings), worker)


_DIED = (
    f"its server died {MOST_TRIES} times while the job ran, perhaps for want of memory; the log of "
    "the server or of the machine says why. Make it smaller, or let it go on: it has what it kept"
)


def beat(session: Session, work: Work, at: datetime | None = None, **values: Any) -> bool:
    """Say that a job is alive, and how far it is; whether it is to stop.

    Raises
    ------
    Lost
        Another worker has it.
    """
    found = session.execute(
        update(Job)
        .where(Job.id == work.id, Job.worker == work.worker, Job.state == "running")
        .values(heartbeat_at=at or now(), **values)
        .returning(Job.stop)
        .execution_options(synchronize_session=False)
    ).first()
    if found is None:
        raise Lost(work.id)
    return bool(found.stop)


def keep(store: Store, work: Work, name: str, content: bytes) -> None:
    """Keep a finished part of a job; a part of that name is replaced."""

    def write(session: Session) -> None:
        beat(session, work)
        part = session.get(JobPart, (work.id, name))
        if part is None:
            session.add(JobPart(job_id=work.id, name=name, content=content))
        else:
            part.content, part.made_at = content, now()

    store.write(write)


def parts(session: Session, job_id: str) -> list[str]:
    """Names of the parts that a job has kept."""
    return list(
        session.scalars(select(JobPart.name).where(JobPart.job_id == job_id).order_by(JobPart.name))
    )


def part(session: Session, job_id: str, name: str) -> bytes:
    """One part of a job."""
    found = session.get(JobPart, (job_id, name))
    if found is None:
        raise NotFound("part of this job", name)
    return found.content


def forget(store: Store, work: Work, names: Sequence[str]) -> None:
    """Drop parts of a job that are of no more use: the steps on the way to its result."""

    def write(session: Session) -> None:
        beat(session, work)
        session.execute(
            delete(JobPart).where(JobPart.job_id == work.id, JobPart.name.in_(list(names)))
        )

    store.write(write)


class _Reporter:
    """Progress to the database, not more often than twice a second; asks whether to stop."""

    def __init__(self, store: Store, work: Work, leaving: threading.Event) -> None:
        self._store, self._work, self._leaving = store, work, leaving
        self._written = 0.0
        self._lock = threading.Lock()
        self.asked = False
        self.lost = False

    def __call__(self, event: Event) -> None:
        with self._lock:
            due = time.monotonic() - self._written > PROGRESS_SECONDS
            if due:
                self._written = time.monotonic()
        if due:
            total = 0 if event.total is None else int(event.total)
            words = f"{event.task} {event.detail}".strip()[:500]
            self.beat(done=int(event.done), total=total, message=words)
        if self.lost:
            raise Lost(self._work.id)
        if self.should_stop():
            raise Stopped

    def beat(self, **values: Any) -> None:
        try:
            self.asked |= self._store.write(lambda session: beat(session, self._work, **values))
        except Lost:
            self.lost = True

    def should_stop(self) -> bool:
        return self.asked or self.lost or self._leaving.is_set()


def run(store: Store, work: Work, leaving: threading.Event | None = None) -> str:
    """Do a claimed job; the state it ends in.

    ``leaving`` says that this process ends: the job then waits again, with the parts it kept.
    """
    leaving = leaving or threading.Event()
    report = _Reporter(store, work, leaving)
    try:
        with _beating(report):
            result = _kind(work.kind)(store, work, report, report.should_stop)
        return _end(store, work, "done", result=result, message="")
    except Lost:
        return "lost"
    except Stopped:
        if report.lost:
            return "lost"
        if leaving.is_set() and not report.asked:
            # A server that ends in order is no try.
            tries = Job.tries - 1
            return _end(store, work, "waiting", worker=None, heartbeat_at=None, tries=tries)
        return _end(store, work, "stopped", message="stopped")
    except VenireError as error:
        return _end(store, work, "failed", message=str(error))
    except Exception as error:  # noqa: BLE001 - the worker outlives what it runs
        _log.exception("job %s (%s) failed", work.id, work.kind)
        return _end(store, work, "failed", message=f"a fault of Venire's own: {error!r}"[:2000])


@contextmanager
def _beating(report: _Reporter) -> Any:
    """A thread says that the job is alive while its function computes."""
    done = threading.Event()

    def go() -> None:
        while not done.wait(BEAT_SECONDS):
            report.beat()

    thread = threading.Thread(target=go, name="venire-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _end(store: Store, work: Work, state: str, **values: Any) -> str:
    ended = {} if state == "waiting" else {"finished_at": now()}

    def write(session: Session) -> bool:
        changed = session.execute(
            update(Job)
            .where(Job.id == work.id, Job.worker == work.worker, Job.state == "running")
            .values(state=state, **ended, **values)
            .returning(Job.id)
            .execution_options(synchronize_session=False)
        ).first()
        return changed is not None

    return state if store.write(write) else "lost"


def run_pending(store: Store) -> int:
    """Do all jobs that wait, one after the other, in this thread; how many."""
    done = 0
    worker = new_id()
    while (work := store.write(lambda session: claim(session, worker))) is not None:
        run(store, work)
        done += 1
    return done


class Worker:
    """A thread that does jobs while a server runs.

    Parameters
    ----------
    store : Store
    every : float
        Seconds between two looks for work.
    """

    def __init__(self, store: Store, *, every: float = 1.0) -> None:
        self._store, self._every = store, every
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._go, name="venire-worker", daemon=True)

    def start(self) -> None:
        """Begin to look for work."""
        self._thread.start()

    def stop(self, timeout: float = 10.0) -> None:
        """End; a job that runs waits for the next worker, with what it has kept."""
        self._leaving.set()
        self._thread.join(timeout)

    def _go(self) -> None:
        while not self._leaving.is_set():
            # A new name for each job: one that was lost stays lost to the thread that lost it.
            name = new_id()
            try:
                work = self._store.write(lambda session, who=name: claim(session, who))  # type: ignore[misc]
                if work is not None:
                    run(self._store, work, self._leaving)
                    continue
            except Exception:  # noqa: BLE001 - a database that is away comes back
                _log.exception("the worker could not look for jobs; it tries again")
            self._leaving.wait(self._every)
