"""The queue: a job has one worker, continues where a worker died, and can be stopped."""

import threading
import time
from dataclasses import dataclass
from datetime import timedelta

import pytest

from studies_for_tests import make_study
from venire import plugins
from venire.errors import BadSetting, Conflict, DataError, NotFound, UnknownName
from venire.progress import Event
from venire.server.jobs import queue, worker
from venire.server.jobs.claims import (
    HEARTBEAT_TIMEOUT,
    MAX_TRIES,
    ClaimLost,
    claim_job,
    record_heartbeat,
)
from venire.server.jobs.kinds import JobKind
from venire.server.jobs.parts import list_parts, read_part, save_part
from venire.server.jobs.worker import Worker, run_job, run_pending
from venire.server.store.base import now
from venire.settings import setting


@pytest.fixture
def kinds(monkeypatch):
    """Register a function of (settings, work, progress) as a kind of job."""
    monkeypatch.setitem(plugins._registered, "job", {})

    def register(name, function):
        @dataclass(frozen=True, kw_only=True)
        class Kind(JobKind):
            n: int = setting(0, words="A number.", least=0)

            def run(self, work, progress):
                return function(self, work, progress)

        plugins.register("job", name, Kind)

    return register


def ask(store, study, kind, **settings):
    return store.write(lambda session: queue.submit_job(session, study, kind, settings))


def state(store, job):
    with store.reading() as session:
        found = queue.get_job(session, job)
        return found.state, found.message


def test_a_job_is_done_and_keeps_its_result_and_parts(store, kinds):
    study, *_ = make_study(store)

    def run(settings, work, progress):
        progress(Event("counting", 1, 2))
        work.save_part("a.txt", b"one")
        work.save_part("a.txt", b"two")
        return {"rows": [{"n": settings.n}]}

    kinds("count", run)
    job = ask(store, study, "count", n=3)
    assert state(store, job) == ("waiting", "")
    assert run_pending(store) == 1
    with store.reading() as session:
        found = queue.get_job(session, job, study)
        assert (found.state, found.result) == ("done", {"rows": [{"n": 3}]})
        assert (found.done, found.total) == (1, 2)
        assert list_parts(session, job) == ["a.txt"]
        assert read_part(session, job, "a.txt") == b"two"
        assert [one.id for one in queue.list_jobs(session, study, "count")] == [job]
        with pytest.raises(NotFound):
            read_part(session, job, "b.txt")
        with pytest.raises(NotFound):
            queue.get_job(session, job, "other")
    assert run_pending(store) == 0


def test_an_unknown_kind_or_setting_is_refused_at_once(store, kinds):
    study, *_ = make_study(store)
    with pytest.raises(UnknownName, match="Did you mean 'aggregate'"):
        ask(store, study, "agregate")
    kinds("count", lambda *_: {})
    with pytest.raises(UnknownName, match="Unknown setting 'm'"):
        ask(store, study, "count", m=3)
    with pytest.raises(BadSetting, match=r"`n` must be >= 0 \(got -1\)"):
        ask(store, study, "count", n=-1)
    with store.reading() as session:
        assert queue.list_jobs(session, study) == []


def test_a_fault_ends_a_job_in_words(store, kinds):
    study, *_ = make_study(store)

    def mend(*_):
        raise DataError("there are no runs")

    def fault(*_):
        raise ZeroDivisionError("x")

    kinds("mend", mend)
    kinds("fault", fault)
    first, second = ask(store, study, "mend"), ask(store, study, "fault")
    run_pending(store)
    assert state(store, first) == ("failed", "there are no runs")
    assert state(store, second)[0] == "failed"
    assert "Internal error of Venire" in state(store, second)[1]


def test_several_workers_never_take_the_same_job(store, kinds):
    study, *_ = make_study(store)
    kinds("nothing", lambda *_: {})
    wanted = {ask(store, study, "nothing") for _ in range(20)}
    taken = []

    def go(name):
        while (work := store.write(lambda session: claim_job(session, name))) is not None:
            taken.append(work.id)

    threads = [threading.Thread(target=go, args=(f"w{i}",)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # A look that found all rows locked may have come back empty: the rest is still there.
    go("last")
    assert sorted(taken) == sorted(wanted)


def test_a_job_whose_worker_died_is_claimed_again_though_the_clock_went_back(store, kinds):
    study, *_ = make_study(store)
    kinds("quick", lambda settings, work, progress: {})
    job = ask(store, study, "quick")
    before = now()
    store.write(lambda session: claim_job(session, "dead", before + timedelta(hours=1)))
    assert store.write(lambda session: claim_job(session, "w", before)).id == job


def test_a_job_whose_worker_died_is_claimed_again_and_goes_on(store, kinds):
    study, *_ = make_study(store)
    done = []

    def run(settings, work, progress):
        saved = work.list_parts()
        for name in ("a", "b", "c"):
            if name not in saved:
                work.save_part(name, b"x")
                done.append(name)
        return {}

    kinds("parts", run)
    job = ask(store, study, "parts")
    then = now()
    dead = store.write(lambda session: claim_job(session, "dead", then))
    save_part(store, dead, "a", b"x")
    assert store.write(lambda session: claim_job(session, "w", now())) is None
    later = now() + timedelta(seconds=61)
    again = store.write(lambda session: claim_job(session, "w", later))
    assert again.id == job
    assert run_job(store, again) == "done"
    assert done == ["b", "c"]
    # The one taken for dead wakes up: it can write nothing more.
    with pytest.raises(ClaimLost):
        save_part(store, dead, "d", b"x")
    assert run_job(store, dead) == "lost"
    assert state(store, job)[0] == "done"


def test_a_job_that_kills_its_server_three_times_has_failed(store, kinds):
    study, *_ = make_study(store)
    kinds("deadly", lambda *_: {"rows": []})
    job, other = ask(store, study, "deadly"), ask(store, study, "deadly")
    at = now()
    for number in range(MAX_TRIES):
        at += 2 * HEARTBEAT_TIMEOUT
        claim = store.write(lambda session, n=number, t=at: claim_job(session, f"w{n}", t))
        assert claim.id == job
    # Alive, it is left alone; dead once more, it is over, and the next one in turn is taken.
    alive = store.write(lambda session: claim_job(session, "x", at))
    assert alive.id == other
    assert state(store, job)[0] == "running"
    assert (
        store.write(lambda session: claim_job(session, "y", at + 2 * HEARTBEAT_TIMEOUT)).id == other
    )
    found, message = state(store, job)
    assert found == "failed"
    assert "died 3 times" in message
    # Who lets it go on gives it as many tries again.
    store.write(lambda session: queue.resume_job(session, job))
    work = store.write(lambda session: claim_job(session, "z", at + 2 * HEARTBEAT_TIMEOUT))
    assert work.id == job
    assert run_job(store, work) == "done"


def test_a_server_that_ends_in_order_is_no_try(store, kinds):
    study, *_ = make_study(store)
    leaving = threading.Event()

    def run(settings, work, progress):
        leaving.set()
        progress(Event("leaving", 0, 1))
        return {}

    kinds("left", run)
    job = ask(store, study, "left")
    for _ in range(2 * MAX_TRIES):
        leaving.clear()
        taken = store.write(lambda session: claim_job(session, "w"))
        assert run_job(store, taken, leaving) == "waiting"
    with store.reading() as session:
        assert queue.get_job(session, job).tries == 0


def test_a_job_that_waits_or_runs_can_be_stopped(store, kinds):
    study, *_ = make_study(store)
    running = threading.Event()

    def run(settings, work, progress):
        running.set()
        for step in range(2000):
            progress(Event("waiting", step, 2000))
            time.sleep(0.005)
        return {}

    kinds("slow", run)
    first, second = ask(store, study, "slow"), ask(store, study, "slow")
    store.write(lambda session: queue.stop_job(session, second))
    assert state(store, second)[0] == "stopped"
    thread = threading.Thread(target=run_pending, args=(store,))
    thread.start()
    running.wait(10)
    store.write(lambda session: queue.stop_job(session, first))
    thread.join(20)
    assert not thread.is_alive()
    assert state(store, first)[0] == "stopped"
    with pytest.raises(Conflict, match="already stopped"):
        store.write(lambda session: queue.stop_job(session, first))


def test_a_job_waits_again_when_its_server_ends(store, kinds):
    study, *_ = make_study(store)
    running, seen = threading.Event(), []

    def run(settings, work, progress):
        seen.append(work.claim.worker)
        running.set()
        while len(seen) < 2:
            progress(Event("waiting", 0, None))
            time.sleep(0.005)
        return {}

    kinds("slow", run)
    job = ask(store, study, "slow")
    first = Worker(store, every=0.01)
    first.start()
    assert running.wait(10)
    first.stop()
    assert state(store, job)[0] == "waiting"
    second = Worker(store, every=0.01)
    second.start()
    for _ in range(500):
        if state(store, job)[0] == "done":
            break
        time.sleep(0.02)
    second.stop()
    assert state(store, job)[0] == "done"
    assert len(seen) == 2


def test_progress_is_written_not_more_often_than_twice_a_second(store, kinds, monkeypatch):
    study, *_ = make_study(store)
    beats = []
    real = record_heartbeat
    monkeypatch.setattr(
        worker, "record_heartbeat", lambda *a, **b: beats.append(b) or real(*a, **b)
    )

    def run(settings, work, progress):
        for step in range(1000):
            progress(Event("fast", step, 1000))
        return {}

    kinds("fast", run)
    ask(store, study, "fast")
    began = time.monotonic()
    run_pending(store)
    assert len(beats) <= 2 + 2 * (time.monotonic() - began)
