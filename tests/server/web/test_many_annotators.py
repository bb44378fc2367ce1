"""Many people on one small pool, over HTTP, with lost connections and a server that dies."""

import random
import threading
import time
import uuid

import httpx2
import pytest
from sqlalchemy import func, select

from studies_for_tests import make_study
from venire.server.store.judging import FILLS, Batch, Event, Judgment, Lease, Task
from venire.server.studies import accounts


class Judge(threading.Thread):
    """One annotator at a browser that is not always connected."""

    def __init__(self, server, campaign, cookie, seed, goal):
        super().__init__()
        self.random = random.Random(seed)
        self.campaign, self.goal = campaign, goal
        self.client = httpx2.Client(base_url=server.url, cookies={"venire_session": cookie})
        self.acknowledged = {}
        self.error = None

    def ask(self, path, body, seconds=60.0):
        """Post until there is an answer."""
        while True:
            try:
                answer = self.client.post(path, json=body, timeout=seconds)
                if answer.status_code >= 500:
                    raise RuntimeError(answer.text)
                answer.raise_for_status()
                return answer.json()
            except httpx2.TransportError:
                seconds = 60.0
                time.sleep(0.1)

    def run(self):
        try:
            while not self.goal.is_set():
                found = self.ask(f"/judge/{self.campaign}/next", {})
                if found["state"] == "done":
                    return
                if found["state"] == "wait":
                    time.sleep(0.2)
                    continue
                self.judge(found["batch"])
        except Exception as error:  # noqa: BLE001 - the test reports what a thread died of
            self.error = error
        finally:
            self.client.close()

    def judge(self, batch):
        items = [item for item in batch["items"] if item["state"] == "live"]
        if self.random.random() < 0.05:
            items = items[: len(items) // 2]
        while items:
            part, items = items[:3], items[3:]
            self.send(batch, [self.event("label", one["lease"]) for one in part])
        left = "leave" if self.random.random() < 0.05 else "finish"
        self.send(batch, [self.event(left, None)])

    def event(self, kind, lease):
        label = self.random.randrange(3) if kind == "label" else None
        return {"id": str(uuid.uuid4()), "kind": kind, "lease": lease, "label": label}

    def send(self, batch, events):
        """Send, sometimes twice, sometimes hanging up before the answer."""
        path = f"/judge/batches/{batch['batch']}/events"
        times = 2 if self.random.random() < 0.1 else 1
        hang_up = self.random.random() < 0.1
        answers = [self.ask(path, {"events": events}, 0.005 if hang_up else 60.0)]
        if times == 2:
            answers.append(self.ask(path, {"events": events}))
            assert answers[0]["answers"] == answers[1]["answers"]
        for event, answer in zip(events, answers[0]["answers"], strict=True):
            assert answer["id"] == event["id"]
            if answer["status"] == "saved" and event["kind"] == "label":
                self.acknowledged[event["id"]] = (event["lease"], event["label"])


@pytest.mark.parametrize(
    ("documents", "judges"),
    [
        pytest.param(30, 10, id="some"),
        pytest.param(170, 20, id="many", marks=pytest.mark.slow),
    ],
)
def test_nothing_is_lost_doubled_or_above_the_overlap(database, store, serve, documents, judges):
    _, campaign, people_ids = make_study(
        store,
        topics=4,
        documents=documents,
        gold=6,
        people=judges,
        campaign={"overlap": 3, "gold_errors": 1},
    )
    with store.writing() as session:
        cookies = [accounts.sign_in(session, one) for one in people_ids]
    server = serve(database)
    goal = threading.Event()
    threads = [Judge(server, campaign, cookie, seed, goal) for seed, cookie in enumerate(cookies)]
    for thread in threads:
        thread.start()
    half = 4 * documents * 3 // 2
    while sum(len(one.acknowledged) for one in threads) < half and any(
        one.is_alive() for one in threads
    ):
        time.sleep(0.05)
    server.kill()
    server.start()
    for thread in threads:
        thread.join(240)
    goal.set()
    assert [one.error for one in threads if one.error] == []
    assert not any(one.is_alive() for one in threads)
    check(store, threads)


def check(store, threads):
    filling = [state for state, fills in FILLS.items() if fills]
    with store.reading() as session:
        leases = session.scalar(select(func.count()).select_from(Lease))
        counted = (
            select(Lease.task_id, func.count().label("n"))
            .where(Lease.state.in_(filling), Lease.task_id.is_not(None))
            .group_by(Lease.task_id)
            .subquery()
        )
        rows = session.execute(
            select(Task.taken, Task.overlap, func.coalesce(counted.c.n, 0)).outerjoin(
                counted, counted.c.task_id == Task.id
            )
        ).all()
        kept = {
            one.event_id: (one.lease_id, one.label) for one in session.scalars(select(Judgment))
        }
        judgments = session.scalar(select(func.count()).select_from(Judgment))
        events = session.scalar(select(func.count()).select_from(Event))
        distinct = session.scalar(select(func.count(Event.id.distinct())))
        finished = session.scalars(select(Batch.state)).all()
    assert leases
    assert all(taken == n and taken <= overlap for taken, overlap, n in rows)
    assert events == distinct
    assert judgments == len(kept)
    acknowledged = {}
    for thread in threads:
        acknowledged |= thread.acknowledged
    assert acknowledged
    for event, what in acknowledged.items():
        assert kept[event] == what
    assert set(finished) <= {"finished", "returned"}
