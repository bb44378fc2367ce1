"""What must always hold, seen from a browser, on both databases."""

import re
import shutil
import threading
import uuid

import polars as pl
import pytest
from sqlalchemy import func, select, update
from starlette.testclient import TestClient

from studies_for_tests import AT, add_person, event, judge_batch, make_study
from venire.errors import Conflict
from venire.server.judging.events import record
from venire.server.judging.next_batch import expire, open_next_batch
from venire.server.judging.review import decide
from venire.server.store.judging import Batch, Event, Judgment, Lease
from venire.server.store.session import Store
from venire.server.store.studies import Document
from venire.server.studies import accounts
from venire.server.studies.campaigns import change_campaign, create_campaign
from venire.server.studies.documents import put_documents
from venire.server.web.app import create_app, from_environment


@pytest.fixture
def browser(store, tmp_path):
    """A function that gives a browser of somebody, at a server that has just started."""
    opened = []

    def enter(user_id):
        app = create_app(store, media=tmp_path / "media")
        secret = store.write(lambda session: accounts.sign_in(session, user_id))
        client = TestClient(app, base_url="http://venire.test", follow_redirects=False)
        client.cookies.set("venire_session", secret)
        opened.append(client)
        return client

    yield enter
    for client in opened:
        client.close()


def label(lease, grade=1):
    return {"id": str(uuid.uuid4()), "kind": "label", "lease": lease, "label": grade}


def count(store, table):
    with store.reading() as session:
        return session.scalar(select(func.count()).select_from(table))


def test_two_sends_of_one_event_at_once_are_one_event_with_one_answer(store):
    _, campaign, (ann, *_) = make_study(store)
    batch = store.write(lambda s: open_next_batch(s, campaign, ann, AT)).batch_id
    with store.reading() as session:
        lease = session.scalar(select(Lease.id).where(Lease.batch_id == batch).limit(1))
    for _ in range(5):
        one = event("label", lease, label=1)
        gate, answers = threading.Barrier(4), []

        def send(one=one, gate=gate, answers=answers):
            gate.wait()
            answers.append(store.write(lambda s: record(s, batch, ann, [one], AT)))

        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 4
        assert all(answer == answers[0] for answer in answers)
    assert count(store, Event) == count(store, Judgment) == 5


def test_two_tabs_that_ask_at_once_get_the_same_batch(store):
    _, campaign, (ann, *_) = make_study(store, documents=20)
    gate, found = threading.Barrier(4), []

    def ask():
        gate.wait()
        found.append(store.write(lambda s: open_next_batch(s, campaign, ann, AT)))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len({one.batch_id for one in found}) == 1
    assert count(store, Batch) == 1


def test_signing_in_again_at_a_new_server_shows_the_same(store, browser):
    _, campaign, (ann, *_) = make_study(store)
    first = browser(ann)
    batch = first.post(f"/judge/{campaign}/next", json={}).json()["batch"]
    path = f"/judge/batches/{batch['batch']}/events"
    kept = label(batch["items"][0]["lease"])
    assert first.post(path, json={"events": [kept]}).status_code == 200
    first.post("/sign-out")
    again = browser(ann).post(f"/judge/{campaign}/next", json={}).json()["batch"]
    expected = [item | ({"state": "judged", "label": 1} if place == 0 else {})
                for place, item in enumerate(batch["items"])]  # fmt: skip
    assert again["items"] == expected


def test_what_is_sent_after_signing_in_again_counts_once(store, browser):
    _, campaign, (ann, *_) = make_study(store)
    first = browser(ann)
    batch = first.post(f"/judge/{campaign}/next", json={}).json()["batch"]
    path = f"/judge/batches/{batch['batch']}/events"
    kept = {"events": [label(batch["items"][0]["lease"])]}
    secret = first.cookies["venire_session"]
    store.write(lambda session: accounts.sign_out(session, secret))
    assert first.post(path, json=kept).status_code == 401
    assert count(store, Event) == 0
    again = browser(ann)
    answers = [again.post(path, json=kept).json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert count(store, Event) == count(store, Judgment) == 1


def test_events_of_one_person_are_never_another_s(store, browser):
    _, campaign, (ann, bob, *_) = make_study(store)
    batch = browser(ann).post(f"/judge/{campaign}/next", json={}).json()["batch"]
    path = f"/judge/batches/{batch['batch']}/events"
    answer = browser(bob).post(path, json={"events": [label(batch["items"][0]["lease"])]})
    assert answer.status_code == 404
    refused = answer.json()  # the judge page goes by code and kind
    assert (refused["code"], refused["facts"]["kind"]) == ("not-found", "batch")
    assert count(store, Event) == 0


@pytest.mark.parametrize("kind", ["text", "html", "entity", "image", "none"])
def test_gold_is_sent_as_real_documents_are(store, browser, tmp_path, kind):
    _, campaign, (ann, *_) = make_study(store, topics=1)
    body = {"html": "<p>wind</p>", "entity": "<urn:a> <urn:b> <urn:c> .", "text": "wind"}.get(kind)
    key = "aa/" + "a" * 64 + ".png"
    media = tmp_path / "media"
    (media / "aa").mkdir(parents=True)
    (media / key).write_bytes(b"png")
    shutil.copy(media / key, (media / key).with_suffix(".thumb.webp"))
    values = {"kind": "text" if kind == "none" else kind, "title": "wind", "body": body}
    with store.writing() as session:
        session.execute(update(Document).values(**values, media=key if kind == "image" else None))
    client = browser(ann)
    answer = client.post(f"/judge/{campaign}/next", json={}).json()
    with store.reading() as session:
        query = select(Lease.id).where(Lease.gold_grade.is_not(None))
        gold = set(session.scalars(query))
    assert 0 < len(gold) < len(answer["batch"]["items"])
    told = {True: set(), False: set()}
    for item in answer["batch"]["items"]:
        lease = item["lease"]
        seen = [str({**item, "lease": ""})]
        paths = [f"/judge/documents/{lease}"]
        if kind == "image":
            paths += [f"/judge/images/{lease}", f"/judge/images/{lease}?size=small"]
        for path in paths:
            found = client.get(path)
            assert found.status_code == 200
            headers = sorted((k, v) for k, v in found.headers.items())
            seen.append(str(headers) + found.text.replace(lease, ""))
        (said,) = client.post(
            f"/judge/batches/{answer['batch']['batch']}/events", json={"events": [label(lease)]}
        ).json()["answers"]
        seen.append(str({**said, "id": "", "lease": ""}))
        # An entity is shown under its own id, which is the document's content.
        told[lease in gold].add(re.sub(r"\b[dg]\d\b", "", "\n".join(seen)))
    assert told[True] == told[False]
    assert len(told[True]) == 1


def test_hostile_documents_are_sent_as_words(store, browser):
    _, campaign, (ann, *_) = make_study(store)
    evil = "<script>x()</script><img src=x onerror=x()><a href='javascript:x()'>go</a> wind"
    client = browser(ann)
    lease = client.post(f"/judge/{campaign}/next", json={}).json()["batch"]["items"][0]["lease"]
    for kind in ("text", "html"):
        with store.writing() as session:
            session.execute(update(Document).values(kind=kind, title=evil, body=evil))
        found = client.get(f"/judge/documents/{lease}")
        assert found.headers["content-type"].startswith("application/json")
        assert found.headers["content-security-policy"].startswith("default-src 'self'")
        data = found.json()
        if kind == "html":
            for bad in ("<script", "onerror", "javascript:", "href"):
                assert bad not in data["html"]
            assert "default-src 'none'" in data["html"]
        else:
            words = "".join(piece for one in data["paragraphs"] for piece, _ in one)
            assert "<script>x()</script>" in words


def test_ids_that_differ_in_case_are_two_on_every_page(store, browser):
    study, _, _ = make_study(store)
    owner = store.write(lambda session: add_person(session, study, "o", "owner"))
    frame = pl.DataFrame({"doc_id": ["Nike", "nike"], "kind": "text", "body": ["upper", "lower"]})
    store.write(lambda session: put_documents(session, study, frame))
    client = browser(owner)
    for doc_id, words in (("Nike", "upper"), ("nike", "lower")):
        page = client.get(f"/studies/{study}/document", params={"doc_id": doc_id})
        assert words in page.text
    assert client.get(f"/studies/{study}/document", params={"doc_id": "NIKE"}).status_code == 404


def test_many_requests_at_once_do_not_wait_for_each_other_s_connections(database, tmp_path):
    own = Store(database, connections=2)
    own.engine.pool._timeout = 3
    study, campaign, users = make_study(own, people=30)
    app = create_app(own, media=tmp_path / "media")
    with own.writing() as session:
        cookies = [accounts.sign_in(session, one) for one in users]
    gate, statuses = threading.Barrier(30), []
    with TestClient(app, base_url="http://venire.test") as client:

        def ask(cookie):
            gate.wait()
            headers = {"cookie": f"venire_session={cookie}"}
            answer = client.post(f"/judge/{campaign}/next", json={}, headers=headers)
            statuses.append(answer.status_code)

        threads = [threading.Thread(target=ask, args=(one,)) for one in cookies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert study
    assert statuses == [200] * 30
    own.close()


def test_late_work_does_not_overrule_the_owner(store):
    study, campaign, (ann, *_) = make_study(store, topics=1, documents=12, campaign={"overlap": 2})
    owner = store.write(lambda session: add_person(session, study, "o", "owner"))
    later = AT.replace(hour=20)
    for accept in (False, True):
        batch = store.write(lambda s: open_next_batch(s, campaign, ann, AT)).batch_id
        with store.reading() as session:
            query = select(Lease).where(Lease.batch_id == batch).order_by(Lease.position)
            leases = list(session.scalars(query))
        gold = [one for one in leases if one.gold_grade is not None]
        real = [one for one in leases if one.gold_grade is None]
        given = {one.id: one.gold_grade if not accept else 2 - one.gold_grade for one in gold}
        events = [event("label", lease, label=grade) for lease, grade in given.items()]
        events.append(event("label", real[0].id, label=1))
        store.write(lambda s, b=batch, e=events: record(s, b, ann, e, AT))
        with store.writing() as session:
            session.get(Batch, batch).expires_at = AT
        assert store.write(lambda s: expire(s, campaign, later)) == 1
        store.write(lambda s, b=batch, a=accept: decide(s, b, a, "I saw it", owner, AT))
        late = event("label", real[1].id, label=1)
        (answer,) = store.write(lambda s, b=batch, e=late, t=later: record(s, b, ann, [e], t))
        assert answer["status"] == ("saved" if accept else "refused")
        with store.reading() as session:
            found = session.get(Batch, batch)
            assert (found.valid, found.reason) == (accept, "I saw it")


def test_who_has_met_all_that_is_left_does_not_wait_for_it(store):
    _, campaign, (ann, bob, *_) = make_study(store, topics=1, documents=5, gold=0,
                                             campaign={"overlap": 2, "gold_size": 0})  # fmt: skip
    assert judge_batch(store, campaign, ann)
    store.write(lambda s: open_next_batch(s, campaign, bob, AT))
    assert store.write(lambda s: open_next_batch(s, campaign, ann, AT)).state == "done"


def test_a_campaign_cannot_take_the_name_of_another(store):
    study, campaign, _ = make_study(store)
    with store.writing() as session:
        other = create_campaign(session, study, "wave 2").id
    with pytest.raises(Conflict, match="wave 1"):
        store.write(lambda s: change_campaign(s, other, {}, "wave 1"))
    store.write(lambda s: change_campaign(s, campaign, {}, "wave 1"))


def test_the_first_link_lives_on_when_workers_start(database, tmp_path, monkeypatch):
    own = Store(database)
    app = create_app(own, media=tmp_path / "media")
    monkeypatch.setenv("VENIRE_DATABASE", database)
    monkeypatch.setenv("VENIRE_MEDIA", str(tmp_path / "media"))
    workers = [from_environment() for _ in range(2)]
    client = TestClient(workers[0], base_url="http://venire.test")
    assert client.get(app.state.first).status_code == 200
    for one in workers:
        one.state.store.close()
    own.close()
