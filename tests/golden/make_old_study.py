"""Make a small study with the code of Venire 0.1.0, and record the facts about it.

Run with the Python of an installed 0.1.0 (commit 64abee0), from any folder::

    OLD/.venv/bin/python tests/golden/make_old_study.py

It writes `study-0.1.0.db.gz`, a SQLite database as that version leaves it (migration 0003), and
`study-0.1.0.json.gz` with what that version reads from it. `tests/server/store/test_old_study.py`
opens the database with the code of today. Made once; ids and times differ in every run.
"""

import csv
import gzip
import io
import json
import random
import sqlite3
import sys
import tempfile
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import polars as pl
from sqlalchemy import select

sys.path.insert(0, str(Path(__file__).parent))
from study_facts import read_facts
from venire.judging.batches import expire, open_next_batch
from venire.judging.events import record
from venire.judging.review import HELD, decide, set_payment
from venire.platforms.export import export_batches
from venire.platforms.importing import import_results
from venire.service import adjudication, campaigns, exports, jobs, overview, people, results
from venire.service.pools import build
from venire.service.studies import create_study, put_documents, put_file, put_gold, put_topics
from venire.store import judging, work
from venire.store.people import Membership, User
from venire.store.schema import upgrade
from venire.store.session import Store
from venire.store.studies import Document, Pair, Topic

from venire.tables.qrels import Qrels

HERE = Path(__file__).parent
START = datetime(2026, 1, 5, 12, tzinfo=UTC)
PEOPLE = ("ann", "bob", "cid", "dora", "eve", "fay", "gus", "hal", "ida")
SETTINGS = {
    "grades": [
        {"value": 0, "name": "Off topic", "definition": "Something else."},
        {"value": 1, "name": "Related", "definition": ""},
        {"value": 2, "name": "On topic", "definition": "Answers the question."},
    ],
    "cannot_judge": ["broken", "wrong language"],
    "languages": ["en", "de"],
    "campaign": {"overlap": 2, "batch_size": 4, "gold_size": 1},
}
RULES = {"practice_size": 1, "min_seconds": 1.0, "max_same_share": 0.9, "minutes": 30}


class Maker:
    """The study while it is made: the store, its ids, and what its people do."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.rng = random.Random(7)
        self.clock = START

    def write(self, function):
        """Call a function with a session that writes."""
        return self.store.write(function)

    def take(self, campaign: str, person: str) -> str | None:
        """Take the next batch of a person."""
        who = self.people[person]
        return self.write(lambda s: open_next_batch(s, campaign, who, self.clock)).batch_id

    def leases(self, batch: str) -> list[judging.Lease]:
        """Return the documents of a batch, in order."""
        query = select(judging.Lease).where(judging.Lease.batch_id == batch)
        with self.store.reading() as session:
            return list(session.scalars(query.order_by(judging.Lease.position)))

    def send(self, person: str, batch: str, *events: dict) -> list[dict]:
        """Send events, a minute after the last."""
        self.clock += timedelta(minutes=1)
        who = self.people[person]
        return self.write(lambda s: record(s, batch, who, events, self.clock))

    def label(self, lease: judging.Lease, *, right: bool = True, ms: int = 4000) -> dict:
        """Return a label: on gold the known grade, or one of the other side."""
        grade = lease.gold_grade
        if grade is None:
            value = (lease.pair_id * 7 + self.rng.randrange(2)) % 3
        else:
            value = grade if right else 2 - grade
        return event("label", lease.id, label=value, active_ms=ms, idle_ms=self.rng.randrange(900))

    def judge(self, campaign: str, person: str, *, right: bool = True, ms: int = 4000) -> str:
        """Judge a whole batch and hand it in."""
        batch = self.take(campaign, person)
        labels = [self.label(lease, right=right, ms=ms) for lease in self.leases(batch)]
        answers = self.send(person, batch, *labels, event("finish"))
        assert {answer["status"] for answer in answers} == {"saved"}, answers
        return batch


def event(kind: str, lease: str | None = None, **values) -> dict:
    """Return an event as the judge page sends it."""
    return {"id": str(uuid.uuid4()), "kind": kind, "lease": lease, **values}


def put_in(maker: Maker) -> None:
    """Put topics, documents, runs, qrels, gold and people into the study, and build the pool."""
    with maker.store.writing() as session:
        owner = people.create_user(session, "Olga", "olga", "correct horse", may_create=True)
        study = create_study(
            session, "Wind tunnels", settings=SETTINGS, instructions="Be **fair**.",
            owner_id=owner.id,
        )  # fmt: skip
        maker.owner, maker.study, maker.people = owner.id, study.id, {}
        topics = pl.DataFrame(
            {
                "query_id": ["q1", "q2", "q/3"],
                "title": ["wind tunnels", "boundary layers", "heat"],
                "description": ["Which ones are there?", "", "How is it measured?"],
                "narrative": ["", "Only on flat plates.", ""],
            }
        )
        put_topics(session, study.id, topics)
        names = [f"d{number}" for number in range(14)]
        kinds = ["html" if number % 7 == 3 else "text" for number in range(14)]
        bodies = [f"<p>Document {name} on wind</p>" for name in names]
        frame = pl.DataFrame({"doc_id": names, "kind": kinds, "title": names, "body": bodies})
        put_documents(session, study.id, frame)
        for run, sign in (("good", 1), ("poor", -1)):
            rows = [
                (query, name, float(sign * place), run)
                for query in topics["query_id"]
                for place, name in enumerate(names)
            ]
            columns = ["query_id", "doc_id", "score", "run_id"]
            put_file(session, study.id, "run", run, pl.DataFrame(rows, columns, orient="row"), [])
        old = {query: {"d1": 1, "d5": 2} for query in topics["query_id"]}
        put_file(session, study.id, "qrels", "old", Qrels.from_dict(old).frame, [])
        gold = {
            query: {f"d{place}": 2 * (place % 2) for place in range(6)}
            for query in topics["query_id"]
        }
        put_gold(session, study.id, Qrels.from_dict(gold), {("q1", "d1"): "It is all about it."})
        build(session, study.id, "depth", {"depth": 10}, owner.id, 3)
        for name in PEOPLE:
            user = User(name=name)
            session.add(user)
            session.flush()
            session.add(Membership(study_id=study.id, user_id=user.id, role="annotator"))
            maker.people[name] = user.id
        maker.people["olga"] = owner.id
        people.invite(session, study.id, "annotator", name="zoe", by=owner.id)
        people.make_token(session, owner.id, "a script")


def first_wave(maker: Maker) -> None:
    """Batches finished, rejected, held, returned, run out and open; late work; decisions."""
    wave = maker.wave = maker.write(
        lambda s: campaigns.create_campaign(s, maker.study, "Wave 1", RULES)
    ).id
    maker.write(lambda s: campaigns.open_campaign(s, wave))
    maker.write(lambda s: people.invite(s, maker.study, "annotator", campaign_id=wave))
    for person in PEOPLE:
        maker.judge(wave, person)  # practice
    # Ann changes her mind, cannot judge one, skips one, comments, splits, and hands in.
    batch = maker.take(wave, "ann")
    leases = maker.leases(batch)
    real = [lease for lease in leases if lease.gold_grade is None]
    gold = [lease for lease in leases if lease.gold_grade is not None]
    maker.send("ann", batch, event("look", real[0].id), maker.label(real[0]))
    maker.send("ann", batch, event("undo", None, leases=[real[0].id]), maker.label(real[0], ms=99))
    maker.send(
        "ann", batch,
        event("comment", real[0].id, text="Hard to read, é"),
        event("cannot", real[1].id, reason="broken", active_ms=2500),
        event("skip", real[2].id, active_ms=700),
        event("label", real[3].id, label=9),
        event("split", None, leases=[real[0].id, real[3].id]),
        event("group", None, leases=[real[3].id], label=2, active_ms=5000),
        *(maker.label(lease) for lease in gold),
        event("finish"),
    )  # fmt: skip
    maker.send("ann", batch, maker.label(real[0]))  # refused: the batch is finished
    # Bob fails gold twice: once it stands, once the owner accepts it.
    maker.judge(wave, "bob", right=False)
    batch = maker.judge(wave, "bob", right=False)
    maker.judge(wave, "gus")
    maker.judge(wave, "hal")
    maker.write(lambda s: decide(s, batch, True, "the gold was wrong", maker.owner, maker.clock))
    maker.write(lambda s: set_payment(s, batch, "approved", maker.owner, maker.clock))
    # Gus is too fast; the owner rejects work that passed, and does not pay.
    maker.judge(wave, "gus", ms=200)
    batch = maker.judge(wave, "hal")
    maker.write(lambda s: decide(s, batch, False, "copied", maker.owner, maker.clock))
    maker.write(lambda s: set_payment(s, batch, "refused", maker.owner, maker.clock))
    # Cid leaves before the gold: held. Eve too, and her gold comes late.
    for person in ("cid", "eve", "dora"):
        batch = maker.take(wave, person)
        leases = maker.leases(batch)
        real = [lease for lease in leases if lease.gold_grade is None]
        maker.send(person, batch, *(maker.label(lease) for lease in real[:2]))
        if person != "dora":
            maker.send(person, batch, event("leave"))
        if person == "eve":
            late = [lease for lease in leases if lease.gold_grade is not None]
            maker.send(person, batch, *(maker.label(lease) for lease in late))
        maker.held = batch
    # Dora's time runs out: held, and accepted by the owner. Ida's runs out with nothing judged.
    maker.take(wave, "ida")
    maker.clock += timedelta(hours=2)
    maker.write(lambda s: expire(s, wave, maker.clock))
    maker.write(lambda s: decide(s, maker.held, True, "seen", maker.owner, maker.clock))
    batch = maker.take(wave, "cid")
    maker.send("cid", batch, event("note", None, text="left"), event("leave"))
    batch = maker.take(wave, "dora")
    maker.send("dora", batch, *(maker.label(lease) for lease in maker.leases(batch)[:2]))
    # One place more where owners want it, and a person paused.
    with maker.store.reading() as session:
        pairs = session.execute(
            select(Topic.query_id, Document.doc_id)
            .join(Pair, Pair.topic_id == Topic.id)
            .join(Document, Document.id == Pair.document_id)
            .join(judging.Task, judging.Task.pair_id == Pair.id)
            .where(judging.Task.campaign_id == wave)
            .order_by(Pair.id)
            .limit(3)
        ).all()
    wanted = [tuple(pair) for pair in pairs]
    maker.write(lambda s: campaigns.raise_overlap(s, wave, wanted, by=maker.owner, reason="unsure"))
    bob = maker.people["bob"]
    maker.write(lambda s: people.pause(s, maker.study, bob, True, "too fast", maker.owner))


def second_wave(maker: Maker) -> None:
    """A qualification, passed and failed; then work that is open at the end."""
    settings = {
        "practice_size": 0, "qualification_size": 3, "qualification_needed": 2,
        "pause_below": 0.5, "gold_match": "exact", "overlap": 1,
    }  # fmt: skip
    wave = maker.write(lambda s: campaigns.create_campaign(s, maker.study, "Wave 2", settings)).id
    maker.write(lambda s: campaigns.open_campaign(s, wave))
    maker.judge(wave, "ann")
    maker.judge(wave, "gus", right=False)
    # Hal fails gold, others judge his documents, and the owner accepts his batch: surplus.
    maker.judge(wave, "hal")
    hals = maker.judge(wave, "hal", right=False)
    tasks = {lease.task_id for lease in maker.leases(hals)} - {None}
    while not tasks & {lease.task_id for lease in maker.leases(maker.judge(wave, "ann"))}:
        pass
    assert maker.write(lambda s: decide(s, hals, True, "he is right", maker.owner, maker.clock))
    batch = maker.take(wave, "ann")
    maker.send("ann", batch, maker.label(maker.leases(batch)[0]))
    # A page that sends the same events again gets the same answers.
    again = maker.label(maker.leases(batch)[1])
    assert maker.send("ann", batch, again) == maker.send("ann", batch, again)


def on_a_platform(maker: Maker, folder: Path) -> None:
    """Batches that went to MTurk: answered well, badly, in part, and not yet."""
    settings = {"practice_size": 0, "overlap": 2, "gold_size": 1}
    wave = maker.write(lambda s: campaigns.create_campaign(s, maker.study, "MTurk", settings)).id
    maker.write(lambda s: campaigns.open_campaign(s, wave))
    maker.write(lambda s: export_batches(s, wave, "mturk", maker.clock))
    with maker.store.reading() as session:
        batches = list(session.scalars(select(judging.Batch).where(
            judging.Batch.campaign_id == wave).order_by(judging.Batch.id)))  # fmt: skip
    hits = {batch.outside["hit"]: batch.id for batch in batches}
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(["HITId", "Input.hit", "WorkerId", "AssignmentId", "AssignmentStatus",
                     "SubmitTime", "WorkTimeInSeconds", *(f"Answer.grade_{n}" for n in range(1, 6)),
                     "Approve", "Reject"])  # fmt: skip
    for number, (hit, batch) in enumerate(sorted(hits.items())):
        leases = maker.leases(batch)
        for worker in range(2):
            if number == len(hits) - 1:
                continue  # nobody has taken this one yet
            answers = []
            for lease in leases:
                label = maker.label(lease, right=(number + worker) % 3 != 1)["label"]
                answers.append(str(label))
            if number == 2 and worker == 1:  # gold is not answered: held
                answers = [
                    "" if lease.gold_grade is not None else answer
                    for lease, answer in zip(leases, answers, strict=True)
                ]
            answers += [""] * (5 - len(answers))
            status = "Rejected" if number == 1 and worker == 0 else "Submitted"
            writer.writerow(["H", hit, f"W{worker}", f"A{number}-{worker}", status,
                             "Mon Jan 05 07:00:00 PST 2026", "60", *answers, "", ""])  # fmt: skip
    path = folder / "results.csv"
    path.write_text(out.getvalue())
    maker.clock += timedelta(hours=6)
    done = maker.write(lambda s: import_results(s, wave, "mturk", str(path), maker.clock))
    print(done.counts, file=sys.stderr)


def settle(maker: Maker) -> None:
    """Settled grades: decided, changed, and taken back."""
    with maker.store.reading() as session:
        frame = results.judgments(session, maker.study).frame
    rows = frame.select("query_id", "doc_id").unique(maintain_order=True).rows()[:3]
    with maker.store.writing() as session:
        first, second, third = (
            adjudication.find_pair(session, maker.study, query, doc) for query, doc in rows
        )
        adjudication.settle(session, maker.study, first, 2, maker.owner, "between")
        adjudication.settle(session, maker.study, second, 0, maker.owner)
        adjudication.settle(session, maker.study, second, 1, maker.owner, "looked again")
        adjudication.settle(session, maker.study, third, 1, maker.owner)
        adjudication.unsettle(session, maker.study, third, maker.owner, "an error")


def work_in_the_background(maker: Maker) -> None:
    """Jobs: done, stopped, and one that waits."""
    majority = {"model": "majority", "seed": 1}
    for kind, settings in (
        ("aggregate", majority),
        ("agreement", {"bootstrap": 50, "seed": 2}),
        ("evaluate", {"grades": "qrels:old", "measures": ["AP", "nDCG@5"]}),
    ):
        maker.write(lambda s, k=kind, v=settings: jobs.submit(s, maker.study, k, v, maker.owner))
        assert jobs.run_pending(maker.store) == 1
    name = maker.write(lambda s: jobs.submit(s, maker.study, "agreement", {"seed": 9}))
    maker.write(lambda s: jobs.stop(s, name))
    waiting = {**majority, "campaign": maker.wave, "use_gold": True}
    maker.write(lambda s: jobs.submit(s, maker.study, "aggregate", waiting, maker.owner))


def save(path: Path, target: Path) -> None:
    """Write a database into one compressed file."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.execute("VACUUM")
    connection.close()
    target.write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))


def main(steps: Iterable[str] = ()) -> None:
    """Make the study, record the facts, and write both."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        store = Store.at(folder)
        upgrade(store)
        maker = Maker(store)
        put_in(maker)
        first_wave(maker)
        second_wave(maker)
        on_a_platform(maker, folder)
        settle(maker)
        work_in_the_background(maker)
        exports.export(store, maker.study, ["qrels"], folder / "first", by=maker.owner)
        models = {
            model.__name__: model
            for model in (
                judging.Campaign, judging.Task, judging.Batch, judging.Lease, judging.Event,
                judging.Judgment, work.Decision, work.Job, work.JobPart,
            )
        }  # fmt: skip
        room = SimpleNamespace(
            **models,
            results=results,
            overview=overview,
            exports=exports,
            is_held=lambda batch: batch.valid is None and batch.reason == HELD,
        )
        store.close()
        save(folder / "venire.db", HERE / "study-0.1.0.db.gz")
        facts = {
            "study": maker.study,
            "owner": maker.owner,
            **read_facts(Store.at(folder), maker.study, room, folder / "facts"),
        }
        text = json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False)
        (HERE / "study-0.1.0.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        print(len(facts["held"]), facts["alarms"], file=sys.stderr)


if __name__ == "__main__":
    main()
