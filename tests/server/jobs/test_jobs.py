"""Jobs: claimed by one, alive while they run, done anew where a worker died, stopped."""

import threading
import time
from datetime import timedelta

import pytest

from studies_for_tests import make_study
from venire.errors import Conflict, DataError, NotFound, UnknownName
from venire.progress import Event
from venire.server.jobs import queue as jobs
from venire.server.store.base import now


@pytest.fixture
def kinds(monkeypatch):
    monkeypatch.setattr(jobs, "_here", {})
    return jobs.register


def ask(store, study, kind, **settings):
    return store.write(lambda session: jobs.submit(session, study, kind, settings))


def state(store, job):
    with store.reading() as session:
        found = jobs.get_job(session, job)
        return found.state, found.message


def test_a_job_is_done_and_keeps_its_result_and_parts(store, kinds):
    study, *_ = make_study(store)

    def work(store, job, progress, should_stop):
        progress(Event("counting", 1, 2))
        jobs.keep(store, job, "a.txt", b"one")
        jobs.keep(store, job, "a.txt", b"two")
        return {"rows": [{"n": job.settings["n"]}]}

    kinds("count", work)
    job = ask(store, study, "count", n=3)
    assert state(store, job) == ("waiting", "")
    assert jobs.run_pending(store) == 1
    with store.reading() as session:
        found = jobs.get_job(session, job, study)
        assert (found.state, found.result) == ("done", {"rows": [{"n": 3}]})
        assert (found.done, found.total) == (1, 2)
        assert jobs.parts(session, job) == ["a.txt"]
        assert jobs.part(session, job, "a.txt") == b"two"
        assert [one.id for one in jobs.list_jobs(session, study, "count")] == [job]
        with pytest.raises(NotFound):
            jobs.part(session, job, "b.txt")
        with pytest.raises(NotFound):
            jobs.get_job(session, job, "other")
    assert jobs.run_pending(store) == 0


def test_an_unknown_kind_is_refused_at_once(store, kinds):
    study, *_ = make_study(store)
    with pytest.raises(UnknownName, match="Did you mean 'aggregate'"):
        ask(store, study, "agregate")


def test_a_fault_ends_a_job_in_words(store, kinds):
    study, *_ = make_study(store)

    def mend(*_):
        raise DataError("there are no runs")

    def fault(*_):
        raise ZeroDivisionError("x")

    kinds("mend", mend)
    kinds("fault", fault)
    first, second = ask(store, study, "mend"), ask(store, study, "fault")
    jobs.run_pending(store)
    assert state(store, first) == ("failed", "there are no runs")
    assert state(store, second)[0] == "failed"
    assert "fault of Venire's own" in state(store, second)[1]


def test_several_workers_never_take_the_same_job(store, kinds):
    study, *_ = make_study(store)
    kinds("nothing", lambda *_: {})
    wanted = {ask(store, study, "nothing") for _ in range(20)}
    taken = []

    def go(name):
        while (work := store.write(lambda session: jobs.claim(session, name))) is not None:
            taken.append(work.id)

    threads = [threading.Thread(target=go, args=(f"w{i}",)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # A look that found all rows locked may have come back empty: the rest is still there.
    go("last")
    assert sorted(taken) == sorted(wanted)


def test_a_job_whose_worker_died_is_claimed_again_and_goes_on(store, kinds):
    study, *_ = make_study(store)
    done = []

    def work(store, job, progress, should_stop):
        with store.reading() as session:
            there = jobs.parts(session, job.id)
        for name in ("a", "b", "c"):
            if name not in there:
                jobs.keep(store, job, name, b"x")
                done.append(name)
        return {}

    kinds("parts", work)
    job = ask(store, study, "parts")
    then = now()
    dead = store.write(lambda session: jobs.claim(session, "dead", then))
    jobs.keep(store, dead, "a", b"x")
    assert store.write(lambda session: jobs.claim(session, "w", now())) is None
    later = now() + timedelta(seconds=61)
    again = store.write(lambda session: jobs.claim(session, "w", later))
    assert again.id == job
    assert jobs.run(store, again) == "done"
    assert done == ["b", "c"]
    # The one taken for dead wakes up: it can write nothing more.
    with pytest.raises(jobs.Lost):
        jobs.keep(store, dead, "d", b"x")
    assert jobs.run(store, dead) == "lost"
    assert state(store, job)[0] == "done"


def test_a_job_that_kills_its_server_three_times_has_failed(store, kinds):
    study, *_ = make_study(store)
    kinds("deadly", lambda *_: {"rows": []})
    job, other = ask(store, study, "deadly"), ask(store, study, "deadly")
    at = now()
    for number in range(jobs.MOST_TRIES):
        at += 2 * jobs.DEAD
        work = store.write(lambda session, n=number, t=at: jobs.claim(session, f"w{n}", t))
        assert work.id == job
    # Alive, it is left alone; dead once more, it is over, and the next one in turn is taken.
    alive = store.write(lambda session: jobs.claim(session, "x", at))
    assert alive.id == other
    assert state(store, job)[0] == "running"
    assert store.write(lambda session: jobs.claim(session, "y", at + 2 * jobs.DEAD)).id == other
    found, message = state(store, job)
    assert found == "failed"
    assert "died 3 times" in message
    # Who lets it go on gives it as many tries again.
    store.write(lambda session: jobs.go_on(session, job))
    work = store.write(lambda session: jobs.claim(session, "z", at + 2 * jobs.DEAD))
    assert work.id == job
    assert jobs.run(store, work) == "done"


def test_a_server_that_ends_in_order_is_no_try(store, kinds):
    study, *_ = make_study(store)
    leaving = threading.Event()

    def work(store, job, progress, should_stop):
        leaving.set()
        progress(Event("leaving", 0, 1))
        return {}

    kinds("left", work)
    job = ask(store, study, "left")
    for _ in range(2 * jobs.MOST_TRIES):
        leaving.clear()
        taken = store.write(lambda session: jobs.claim(session, "w"))
        assert jobs.run(store, taken, leaving) == "waiting"
    with store.reading() as session:
        assert jobs.get_job(session, job).tries == 0


def test_a_job_that_waits_or_runs_can_be_stopped(store, kinds):
    study, *_ = make_study(store)
    running = threading.Event()

    def work(store, job, progress, should_stop):
        running.set()
        for step in range(2000):
            progress(Event("waiting", step, 2000))
            time.sleep(0.005)
        return {}

    kinds("slow", work)
    first, second = ask(store, study, "slow"), ask(store, study, "slow")
    store.write(lambda session: jobs.stop(session, second))
    assert state(store, second)[0] == "stopped"
    thread = threading.Thread(target=jobs.run_pending, args=(store,))
    thread.start()
    running.wait(10)
    store.write(lambda session: jobs.stop(session, first))
    thread.join(20)
    assert not thread.is_alive()
    assert state(store, first)[0] == "stopped"
    with pytest.raises(Conflict, match="stopped already"):
        store.write(lambda session: jobs.stop(session, first))


def test_a_job_waits_again_when_its_server_ends(store, kinds):
    study, *_ = make_study(store)
    running, seen = threading.Event(), []

    def work(store, job, progress, should_stop):
        seen.append(job.worker)
        running.set()
        while len(seen) < 2:
            progress(Event("waiting", 0, None))
            time.sleep(0.005)
        return {}

    kinds("slow", work)
    job = ask(store, study, "slow")
    worker = jobs.Worker(store, every=0.01)
    worker.start()
    assert running.wait(10)
    worker.stop()
    assert state(store, job)[0] == "waiting"
    second = jobs.Worker(store, every=0.01)
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
    real = jobs.beat
    monkeypatch.setattr(jobs, "beat", lambda *a, **b: beats.append(b) or real(*a, **b))

    def work(store, job, progress, should_stop):
        for step in range(1000):
            progress(Event("fast", step, 1000))
        return {}

    kinds("fast", work)
    ask(store, study, "fast")
    began = time.monotonic()
    jobs.run_pending(store)
    assert len(beats) <= 2 + 2 * (time.monotonic() - began)
