"""Small studies for tests: words as documents, people as names."""

import random
import uuid
from datetime import UTC, datetime

import polars as pl
from sqlalchemy import select

from venire.server.judging.events import record
from venire.server.judging.next_batch import open_next_batch
from venire.server.store.judging import Lease
from venire.server.store.people import Membership, User
from venire.server.studies.campaigns import create_campaign, open_campaign
from venire.server.studies.documents import put_documents
from venire.server.studies.gold import put_gold
from venire.server.studies.pools import build_pool
from venire.server.studies.studies import create_study
from venire.server.studies.topics import put_topics
from venire.tables.qrels import Qrels


def make_study(store, *, topics=2, documents=10, gold=4, people=3, campaign=None):
    """A study with its pool, gold and an open campaign; ids of study, campaign and people."""
    with store.writing() as session:
        study = create_study(session, "Study")
        put_topics(
            session,
            study.id,
            pl.DataFrame({"query_id": [f"q{i}" for i in range(topics)], "title": "wind"}),
        )
        names = [f"d{i}" for i in range(documents)] + [f"g{i}" for i in range(gold)]
        put_documents(
            session,
            study.id,
            pl.DataFrame({"doc_id": names, "kind": "text", "title": names, "body": names}),
        )
        if gold:
            put_gold(
                session,
                study.id,
                Qrels.from_dict(
                    {f"q{t}": {f"g{i}": 2.0 * (i % 2) for i in range(gold)} for t in range(topics)}
                ),
            )
        build_pool(session, study.id, "all", {})
        settings = {"practice_size": 0, **(campaign or {})}
        wave = create_campaign(session, study.id, "wave 1", settings)
        open_campaign(session, wave.id)
        users = [add_person(session, study.id, f"p{i}") for i in range(people)]
        return study.id, wave.id, users


def add_person(session, study_id, name, role="annotator"):
    user = User(name=name)
    session.add(user)
    session.flush()
    session.add(Membership(study_id=study_id, user_id=user.id, role=role))
    session.flush()
    return user.id


def event(kind, lease=None, **values):
    return {"id": str(uuid.uuid4()), "kind": kind, "lease": lease, **values}


def rng(seed=0):
    return random.Random(seed)


AT = datetime(2026, 1, 5, 12, tzinfo=UTC)


def judge_batch(store, campaign, person, label=1, *, gold=True, at=AT, ms=3000, before_finish=()):
    """Take a batch and judge all of it; ``label`` is a grade or a function of the pair's id.

    ``gold`` says whether gold is answered rightly. Returns the batch's id, or None.
    """
    found = store.write(lambda session: open_next_batch(session, campaign, person, at))
    if found.batch_id is None:
        return None
    with store.reading() as session:
        query = select(Lease).where(Lease.batch_id == found.batch_id).order_by(Lease.position)
        leases = list(session.scalars(query))
    events = []
    for lease in leases:
        if lease.gold_grade is not None:
            given = lease.gold_grade if gold else 2 - lease.gold_grade
        else:
            given = label(lease.pair_id) if callable(label) else label
        events.append(event("label", lease.id, label=given, active_ms=ms))
    for extra in before_finish:
        events.append(extra(leases))
    events.append(event("finish"))
    answers = store.write(lambda session: record(session, found.batch_id, person, events, at))
    assert all(answer["status"] == "saved" for answer in answers), answers
    return found.batch_id
