"""A small study with its people, and browsers signed in as each of them."""

import uuid as library

import polars as pl
from starlette.testclient import TestClient

from venire.server.judging.events import record
from venire.server.judging.next_batch import open_next_batch
from venire.server.store.base import now
from venire.server.store.judging import Lease
from venire.server.store.people import Membership
from venire.server.store.session import Store
from venire.server.studies import accounts
from venire.server.studies.accounts import create_user
from venire.server.studies.campaigns import create_campaign, open_campaign
from venire.server.studies.documents import put_documents
from venire.server.studies.files import put_file
from venire.server.studies.gold import put_gold
from venire.server.studies.pools import build_pool
from venire.server.studies.studies import create_study
from venire.server.studies.topics import put_topics
from venire.server.web.app import create_app
from venire.tables.qrels import Qrels

PASSWORD = "correct horse"
PEOPLE = {"ada": "owner", "vera": "viewer", "ben": "annotator", "chi": "annotator", "eve": None}


class World:
    """The study, by its ids; made once, and copied for each test."""

    def __init__(self, folder, made=None):
        self.store = Store.at(folder)
        self.app = create_app(self.store, media=folder / "media")
        vars(self).update(made or self.make())
        self.api = f"/api/studies/{self.study}"
        self.here = f"/studies/{self.study}"

    def make(self):
        """Users, the study, one open campaign, a batch judged by each of two annotators."""
        with self.store.writing() as session:
            self.users = {
                name: create_user(session, name, name, PASSWORD, may_create=name == "ada").id
                for name in PEOPLE
            }
            self.study = make_study(session, self.users)
            self.other = create_study(session, "Another study", owner_id=self.users["eve"]).id
            wave = create_campaign(session, self.study, "Wave 1", RULES)
            self.campaign = wave.id
            open_campaign(session, wave.id)
        self.batches = [self.judge("ben", 0), self.judge("chi", 2)]
        names = ("users", "study", "other", "campaign", "batches")
        return {name: getattr(self, name) for name in names}

    def judge(self, name, label):
        """Judge a whole batch with one label for all, or by a function of the pair's id."""
        who = self.users[name]
        batch = self.store.write(lambda s: open_next_batch(s, self.campaign, who, now())).batch_id
        with self.store.reading() as session:
            leases = [
                (one.id, one.pair_id) for one in session.query(Lease).filter_by(batch_id=batch)
            ]
        given = label if callable(label) else lambda _: label
        events = [
            {"id": f"{lease}-1", "kind": "label", "lease": lease, "label": given(pair),
             "active_ms": 900}
            for lease, pair in leases
        ]  # fmt: skip
        events = [{**one, "id": uuid(one["id"])} for one in events]
        events.append({"id": uuid(batch), "kind": "finish"})
        self.store.write(lambda s: record(s, batch, who, events, now()))
        return batch

    def client(self, name=None):
        """A browser, signed in."""
        client = TestClient(self.app, base_url="http://localhost")
        if name is not None:
            secret = self.store.write(lambda session: accounts.sign_in(session, self.users[name]))
            client.cookies.set("venire_session", secret)
        return client


RULES = {"practice_size": 0, "gold_size": 0, "overlap": 2, "batch_size": 4}


def uuid(text):
    return str(library.uuid5(library.NAMESPACE_OID, text))


def make_study(session, users):
    study = create_study(
        session, "Winds & <b>waves</b>", instructions="Be **fair**.", owner_id=users["ada"]
    )
    for name in ("vera", "ben", "chi"):
        session.add(Membership(study_id=study.id, user_id=users[name], role=PEOPLE[name]))
    topics = pl.DataFrame({"query_id": ["q1", "q/2"], "title": ["wind", "<i>rain</i>"]})
    put_topics(session, study.id, topics)
    names = [f"d{i}" for i in range(6)] + ["g&1"]
    documents = pl.DataFrame({"doc_id": names, "kind": "text", "title": names, "body": "a wind"})
    put_documents(session, study.id, documents)
    put_gold(session, study.id, Qrels.from_dict({"q1": {"g&1": 2}}))
    for run, order in (("good", 1), ("poor", -1)):
        rows = [(q, d, order * s, run) for q in ("q1", "q/2") for s, d in enumerate(names)]
        frame = pl.DataFrame(
            rows, schema=["query_id", "doc_id", "score", "run_id"], orient="row"
        ).with_columns(pl.col("score").cast(pl.Float64))
        put_file(session, study.id, "run", run, frame, [])
    put_file(session, study.id, "qrels", "old", Qrels.from_dict({"q1": {"d1": 1}}).frame, [])
    build_pool(session, study.id, "all", {})
    return study.id
