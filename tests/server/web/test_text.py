"""Text that cannot be written again takes nothing down. The attack: a comment with half a pair."""

import io
import json
import uuid
import zipfile

import pytest
from sqlalchemy import text

from studies_for_tests import add_person, make_study
from venire.server.store.judging import Event
from venire.server.store.people import Membership
from venire.server.store.text import REPLACEMENT, mend_text, mend_value
from venire.server.studies import accounts

HALF = chr(0xD800)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("plain", "plain"),
        ("é 日本 \U0001f600", "é 日本 \U0001f600"),
        ("\ufeffa", "\ufeffa"),
        (HALF, REPLACEMENT),
        (f"{HALF}x", f"{REPLACEMENT}x"),
        (f"x{chr(0xDC00)}y", f"x{REPLACEMENT}y"),
        (chr(0xD83D) + chr(0xDE00), "\U0001f600"),
        ("a\x00b", "ab"),
        (f"\x00{HALF}", REPLACEMENT),
    ],
)
def test_text_is_mended_and_whole_text_stays(before, after):
    assert mend_text(before) == after
    mend_text(before).encode()
    assert mend_value({before: [before, 1, None, {"a": before}]}) == {
        after: [after, 1, None, {"a": after}]
    }


@pytest.fixture
def study(own_store):
    return make_study(own_store, topics=1, documents=6, campaign={"gold_errors": 9})


@pytest.fixture
def owner(client, own_store, study):
    with own_store.writing() as session:
        user = accounts.create_user(session, "Ada", "ada", "a long password")
        session.add(Membership(study_id=study[0], user_id=user.id, role="owner"))
        client.cookies.set("venire_session", accounts.sign_in(session, user.id))
    return client


def send(client, path, body):
    """Post JSON as an attacker writes it: with the escape of half a pair."""
    headers = {"content-type": "application/json"}
    return client.post(path, content=json.dumps(body).encode(), headers=headers)


def check_everything(client, study):
    """Every page and export of a study works."""
    api = f"/api/studies/{study}"
    for path in ("annotators", "overview", "adjudication", "campaigns", "batches",
                 "history?query_id=q0", "pair?query_id=q0&doc_id=d0", "members"):  # fmt: skip
        assert client.get(f"{api}/{path}").status_code == 200, path
    for page in ("annotators", "adjudication", "topic?query_id=q0", "document?doc_id=d0"):
        answer = client.get(f"/studies/{study}/{page}", headers={"accept": "text/html"})
        assert answer.status_code < 500, page
    for kind in ("raw-csv", "raw-jsonl", "raw-parquet"):
        made = client.post(f"{api}/exports", json={"kinds": [kind]})
        assert made.status_code == 200, made.text
        file = client.get(f"{api}/exports/{made.json()['export_id']}/file")
        assert zipfile.ZipFile(io.BytesIO(file.content)).testzip() is None


def test_a_comment_with_half_a_pair_takes_nothing_down(client, own_store, study, owner):
    study_id, campaign, _ = study
    judge = client.post(f"/judge/{campaign}/next", json={}).json()["batch"]
    events = []
    for item in judge["items"]:
        lease = item["lease"]
        events += [
            {"id": str(uuid.uuid4()), "kind": "label", "lease": lease, "label": 1},
            {"id": str(uuid.uuid4()), "kind": "comment", "lease": lease, "text": f"bad {HALF}"},
        ]
    events.append({"id": str(uuid.uuid4()), "kind": "finish"})
    path = f"/judge/batches/{judge['batch']}/events"
    assert send(client, path, {"events": events}).status_code == 200
    check_everything(client, study_id)


def test_a_study_that_holds_such_text_already_is_read_mended(client, own_store, study, owner):
    study_id, campaign, _ = study
    judge = client.post(f"/judge/{campaign}/next", json={}).json()["batch"]
    lease = judge["items"][0]["lease"]
    values = {
        "id": str(uuid.uuid4()), "batch": judge["batch"], "lease": lease, "payload":
        json.dumps({"text": f"bad {HALF}"}),
    }  # fmt: skip
    with own_store.writing() as session:
        person = session.execute(
            text("SELECT annotator_id FROM batch WHERE id = :batch"), values
        ).scalar()
        session.execute(
            text(
                "INSERT INTO event (id, batch_id, lease_id, annotator_id, kind, payload, outcome, "
                "received_at) VALUES (:id, :batch, :lease, :person, 'comment', :payload, '{}', "
                "'2026-01-05 12:00:00+00')"
            ),
            {**values, "person": person},
        )
    with own_store.reading() as session:
        (payload,) = session.query(Event.payload).filter(Event.kind == "comment").one()
    assert payload == {"text": f"bad {REPLACEMENT}"}
    check_everything(client, study_id)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/sign-in", {"login": HALF, "password": "x"}),
        ("/sign-in", {"login": "ada", "password": HALF}),
        ("/invite/made-up", {"name": HALF, "login": HALF, "password": HALF * 12}),
        ("/api/tokens", {"name": HALF}),
        ("/api/account/password", {"old": HALF, "new": HALF * 12}),
        ("/api/studies", {"name": HALF, "instructions": HALF}),
        ("/api/studies/{study}/campaigns", {"name": HALF}),
        ("/api/studies/{study}/invitations", {"role": "viewer", "name": HALF}),
        ("/api/studies/{study}/invitations", {"role": HALF}),
        ("/api/studies/{study}/jobs", {"kind": HALF, "settings": {HALF: HALF}}),
        ("/api/studies/{study}/jobs", {"kind": "aggregate", "settings": {"model": HALF}}),
        ("/judge/{campaign}/next", {HALF: HALF}),
    ],
)
def test_no_body_with_half_a_pair_is_an_error_of_the_server(owner, study, path, body):
    filled = path.format(study=study[0], campaign=study[1])
    answer = send(owner, filled, body)
    assert answer.status_code < 500, answer.text
    answer.content.decode()


def test_a_body_that_is_nested_too_deeply_is_refused(owner):
    deep = b'{"name": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    answer = owner.post("/api/tokens", content=deep, headers={"content-type": "application/json"})
    assert 400 <= answer.status_code < 500


def test_names_that_are_looked_for_are_mended_too(own_store, study):
    person = own_store.write(lambda session: add_person(session, study[0], f"Ann {HALF}"))
    with own_store.reading() as session:
        name = session.execute(
            text('SELECT name FROM "user" WHERE id = :id'), {"id": person}
        ).scalar()
    assert name == f"Ann {REPLACEMENT}"
