"""Measure next batch, overview and raw export of a large study on SQLite and PostgreSQL.

    python benchmarks/service.py [--documents 100000] [--database URL]

Writes a study with that many documents and three judgments per document in bulk, in batches of
10 + 2, some of them rejected. Then measures the next batch with all places free, with half of
them, and with the last hundred; the overview; and time and memory of the raw export in its own
process. Prints a table and writes benchmarks/output/service.json.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import psutil
from sqlalchemy import event, insert, text, update

from venire.server.judging.next_batch import open_next_batch
from venire.server.judging.payload import view_batch
from venire.server.store.base import new_id, now
from venire.server.store.judging import Batch, Event, Judgment, Lease, Task
from venire.server.store.people import Membership, User
from venire.server.store.schema import upgrade
from venire.server.store.session import Store
from venire.server.store.studies import Document, Pair, Topic
from venire.server.studies.campaigns import create_campaign, open_campaign
from venire.server.studies.gold import put_gold
from venire.server.studies.studies import create_study
from venire.tables.qrels import Qrels

OUT = Path(__file__).parent / "output"
ROOT = Path(__file__).parents[1]
TOPICS, GOLD, PEOPLE, OVERLAP, SIZE = 100, 200, 300, 3, 10


def fill(
    store: Store, documents: int, topics: int = TOPICS, people: int = PEOPLE
) -> tuple[str, str]:
    """Write a study with its judgments; return the IDs of the study and its campaign."""
    rng = random.Random(1)
    with store.writing() as session:
        study = create_study(session, "Large")
        rows = [{"study_id": study.id, "query_id": f"q{i}", "title": "t"} for i in range(topics)]
        session.execute(insert(Topic), rows)
        put_documents(session, study.id, documents)
        topic_ids = list(session.scalars(text("SELECT id FROM topic ORDER BY id")))
        doc_ids = list(session.scalars(text("SELECT id FROM document ORDER BY id")))
        pairs = [
            {
                "study_id": study.id,
                "topic_id": topic_ids[i % topics],
                "document_id": d,
                "pooled": True,
            }
            for i, d in enumerate(doc_ids[:documents])
        ]
        bulk(session, Pair, pairs)
        known = {}
        for i in range(GOLD):
            known.setdefault(f"q{i % topics}", {})[f"gold{i}"] = 2.0 * (i // topics % 2)
        put_gold(session, study.id, Qrels.from_dict(known))
        campaign = create_campaign(session, study.id, "wave 1", {"practice_size": 0})
        open_campaign(session, campaign.id)
        users = [{"id": new_id(), "name": f"p{i}"} for i in range(people)]
        session.execute(insert(User), users)
        members = [{"study_id": study.id, "user_id": u["id"], "role": "annotator"} for u in users]
        session.execute(insert(Membership), members)
        judge(session, campaign.id, [u["id"] for u in users], rng)
        session.execute(update(Task).values(taken=Task.overlap))
        campaign.opened_at = now() - timedelta(days=20)
        ids = study.id, campaign.id
    with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))
    return ids


def put_documents(session: Any, study_id: str, documents: int) -> None:
    names = [f"d{i:07}" for i in range(documents)] + [f"gold{i}" for i in range(GOLD)]
    rows = [
        {"study_id": study_id, "doc_id": name, "kind": "text", "title": name, "body": "word " * 50}
        for name in names
    ]
    bulk(session, Document, rows)


def bulk(session: Any, table: Any, rows: list[dict[str, Any]]) -> None:
    """Insert many rows, with COPY on PostgreSQL."""
    if session.get_bind().dialect.name == "sqlite":
        for start in range(0, len(rows), 20_000):
            session.execute(insert(table), rows[start : start + 20_000])
        return
    # Defaults are Python's: SQLAlchemy fills them in, so every column is named here.
    columns = [c for c in table.__table__.columns if c.name in rows[0] or c.default is not None]
    cursor = session.connection().connection.cursor()
    names = ", ".join(c.name for c in columns)
    with cursor.copy(f"COPY {table.__tablename__} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row([value(row, c) for c in columns])


def value(row: dict[str, Any], column: Any) -> Any:
    found = row[column.name] if column.name in row else (
        column.default.arg(None) if callable(column.default.arg) else column.default.arg
    )  # fmt: skip
    return json.dumps(found) if isinstance(found, dict) else found


def judge(session: Any, campaign_id: str, people: list[str], rng: random.Random) -> None:
    """Write batches of ten documents and two gold; every twentieth is rejected and judged again."""
    tasks = session.execute(text("SELECT id, pair_id FROM task ORDER BY id")).all()
    gold = session.execute(text("SELECT pair_id, grade FROM gold ORDER BY id")).all()
    start = now() - timedelta(days=20)
    step = timedelta(days=20) / (len(tasks) * OVERLAP / SIZE * 1.05)
    batches: list[dict[str, Any]] = []
    leases: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    judgments: list[dict[str, Any]] = []
    turn = 0
    for at in range(0, len(tasks), SIZE):
        part = tasks[at : at + SIZE]
        for who in range(OVERLAP + (1 if at // SIZE % 7 == 0 else 0)):
            valid = who < OVERLAP
            person = people[(at // SIZE + who * 37) % len(people)]
            opened = start + turn * step
            turn += 1
            right = 2 if valid else 0
            batch = {
                "id": new_id(), "campaign_id": campaign_id, "annotator_id": person,
                "state": "finished", "valid": valid, "gold_asked": 2, "gold_right": right,
                "opened_at": opened, "expires_at": opened + timedelta(hours=1),
                "finished_at": opened + timedelta(minutes=2), "reason": "gold right",
            }  # fmt: skip
            batches.append(batch)
            known = [gold[rng.randrange(len(gold))] for _ in range(2)]
            documents = [(t, p, None) for t, p in part] + [(None, p, g) for p, g in known]
            for place, (task, pair, grade) in enumerate(documents):
                seq = len(judgments) + 1
                label = rng.choice((0, 0, 1, 2)) if grade is None else grade if valid else 2 - grade
                lease, event_id = new_id(), str(uuid.UUID(int=rng.getrandbits(128)))
                seconds = opened + timedelta(seconds=8 * (place + 1))
                leases.append(
                    {
                        "id": lease, "batch_id": batch["id"], "annotator_id": person,
                        "task_id": task, "pair_id": pair, "position": place,
                        "state": "judged" if valid else "rejected", "gold_grade": grade,
                        "judgment_seq": seq, "ended_at": seconds,
                    }
                )  # fmt: skip
                active = int(rng.lognormvariate(8.7, 0.5))
                events.append(
                    {
                        "seq": seq, "id": event_id, "batch_id": batch["id"], "lease_id": lease,
                        "annotator_id": person, "kind": "label",
                        "payload": {"label": label, "active_ms": active},
                        "outcome": {"status": "saved", "lease": lease},
                        "client_at": seconds, "received_at": seconds,
                    }
                )  # fmt: skip
                judgments.append(
                    {
                        "seq": seq, "event_id": event_id, "lease_id": lease, "annotator_id": person,
                        "campaign_id": campaign_id, "pair_id": pair, "label": label, "reason": None,
                        "active_ms": active, "idle_ms": 0, "judged_at": seconds,
                    }
                )  # fmt: skip
    for table, rows in ((Batch, batches), (Lease, leases), (Event, events), (Judgment, judgments)):
        bulk(session, table, rows)
    if session.get_bind().dialect.name != "sqlite":
        for table in ("event", "judgment"):
            session.execute(
                text(f"SELECT setval(pg_get_serial_sequence('{table}', 'seq'), {len(judgments)})")
            )


def free(store: Store, share: float) -> None:
    """Free a share of the places, as if their batches had been rejected."""
    with store.writing() as session:
        session.execute(text("UPDATE task SET taken = overlap"))
        every = max(1, round(1 / share))
        session.execute(
            text("UPDATE task SET taken = overlap - 1 WHERE id % :every = 0"), {"every": every}
        )


class Cpu:
    """Processor time since creation, of this process and of the database connections.

    Unlike wall time, it does not include other programs on the machine.
    """

    def __init__(self, store: Store) -> None:
        self.server = []
        if not store.is_sqlite:
            with store.reading() as session:
                pids = session.scalars(
                    text("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
                )
                self.server = [psutil.Process(pid) for pid in pids]
        self.began = self._now()

    def _now(self) -> float:
        server = []
        for one in self.server:
            with contextlib.suppress(psutil.NoSuchProcess):
                server.append(one.cpu_times())
        return time.process_time() + sum(one.user + one.system for one in server)

    def ms(self) -> float:
        """Return the elapsed milliseconds."""
        return 1000 * (self._now() - self.began)


def batches(store: Store, campaign: str, times: int = 200) -> dict[str, float]:
    """Measure the time to the next batch as in a browser: create it, then read it.

    Each batch is for another annotator, who has judged about a thousand documents. Batches are
    returned in groups of five, outside of the measured time.
    """
    with store.reading() as session:
        people = list(session.scalars(text("SELECT user_id FROM membership ORDER BY user_id")))
    spent = []
    cpu = Cpu(store)
    took, asked = 0.0, 0
    with statements(store) as sent:
        for first in range(0, times, 5):
            before, already = cpu.ms(), len(sent)
            given = []
            for turn in range(first, first + 5):
                person = people[turn % len(people)]
                began = time.perf_counter()
                found = store.write(lambda s, who=person: open_next_batch(s, campaign, who, now()))
                if found.batch_id is not None:
                    with store.reading() as session:
                        view_batch(session, found.batch_id, person)
                    given.append(found.batch_id)
                spent.append(time.perf_counter() - began)
            took += cpu.ms() - before
            asked += len(sent) - already
            for batch_id in given:
                end_batch(store, batch_id)
    spent.sort()
    return {
        "median_ms": 1000 * spent[times // 2],
        "p95_ms": 1000 * spent[int(times * 0.95)],
        "cpu_ms": took / times,
        "statements": asked / times,
    }


@contextlib.contextmanager
def statements(store: Store) -> Iterator[list[str]]:
    """Record the statements that a store executes."""
    sent: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    event.listen(store.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(store.engine, "before_cursor_execute", note)


def end_batch(store: Store, batch_id: str) -> None:
    """Return a batch, so that the next request creates a new one."""
    with store.writing() as session:
        session.execute(
            text("UPDATE task SET taken = taken - 1 WHERE id IN "
                 "(SELECT task_id FROM lease WHERE batch_id = :b)"), {"b": batch_id}
        )  # fmt: skip
        session.execute(
            text("UPDATE lease SET state = 'returned' WHERE batch_id = :b"), {"b": batch_id}
        )
        session.execute(text("UPDATE batch SET state = 'returned' WHERE id = :b"), {"b": batch_id})


EXPORT = """
import sys, time, psutil, tempfile, threading
from pathlib import Path
from venire.store.session import Store
from venire.service.results import write_raw
store = Store(sys.argv[1])
me = psutil.Process()
with store.reading() as session, tempfile.TemporaryDirectory() as folder:
    write_raw(session, "none", Path(folder) / "warm.csv")
    write_raw(session, "none", Path(folder) / "warm.parquet")
    before = me.memory_info().rss
    most = [before]
    done = threading.Event()
    def watch():
        while not done.wait(0.01):
            most[0] = max(most[0], me.memory_info().rss)
    thread = threading.Thread(target=watch)
    thread.start()
    began = time.process_time()
    clock = time.perf_counter()
    rows = write_raw(session, sys.argv[2], Path(folder) / f"raw.{sys.argv[3]}")
    spent = time.process_time() - began, time.perf_counter() - clock
    done.set()
    thread.join()
print(rows, *spent, (most[0] - before) / 1e6)
"""


def measure(url: str, documents: int) -> list[dict[str, Any]]:
    """Measure all figures on a database."""
    from venire.server.studies.overview import read_overview

    store = Store(url)
    name = "sqlite" if store.is_sqlite else "postgresql"
    upgrade(store)
    began = time.perf_counter()
    study, campaign = fill(store, documents)
    print(f"{name}: filled in {time.perf_counter() - began:.1f} s", flush=True)
    rows = []

    def add(what: str, **figures: float) -> None:
        rows.append({"database": name, "what": what, **figures})
        print(name, what, {key: round(value, 1) for key, value in figures.items()}, flush=True)

    spent = []
    with store.reading() as session:
        read_overview(session, study)
    cpu = Cpu(store)
    for _ in range(5):
        began = time.perf_counter()
        with store.reading() as session:
            read_overview(session, study)
        spent.append(1000 * (time.perf_counter() - began))
    add("overview", median_ms=sorted(spent)[2], worst_ms=max(spent), cpu_ms=cpu.ms() / 5)
    for share in (1.0, 0.5, 0.001):
        free(store, share)
        add(f"next batch, {share:.1%} of documents have a place", **batches(store, campaign))
    for kind in ("csv", "jsonl", "parquet"):
        done = subprocess.run(
            [sys.executable, "-c", EXPORT, url, study, kind],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        count, cpu, seconds, memory = map(float, done.stdout.split())
        add(
            f"raw export as {kind}",
            rows=count,
            seconds=seconds,
            cpu_ms=1000 * cpu,
            memory_mb=memory,
        )
    store.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    folder = tempfile.mkdtemp(prefix="venire-bench-")
    try:
        if options.database != "postgresql":
            rows += measure(f"sqlite:///{folder}/venire.db", options.documents)
        if options.database != "sqlite":
            server = subprocess.Popen(
                [sys.executable, str(ROOT / "tests/postgres_server.py"), f"{folder}/pg"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            try:
                rows += measure(server.stdout.readline().strip(), options.documents)
            finally:
                server.communicate("stop\n", timeout=60)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    OUT.mkdir(exist_ok=True)
    (OUT / "service.json").write_text(json.dumps(rows, indent=2) + "\n")
    with pl.Config(tbl_rows=-1, tbl_width_chars=120, tbl_hide_dataframe_shape=True):
        print(pl.DataFrame(rows))


if __name__ == "__main__":
    main()
