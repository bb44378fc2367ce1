"""A pilot: two people of known accuracy judge five queries over HTTP; their types recover it."""

import hashlib
import shutil
import uuid

import polars as pl
import pytest
from starlette.testclient import TestClient

from studies_for_tests import add_person
from venire.server.store.session import Store
from venire.server.studies import accounts, pools
from venire.server.studies.campaigns import create_campaign, open_campaign
from venire.server.studies.documents import put_documents
from venire.server.studies.files import put_file
from venire.server.studies.studies import create_study
from venire.server.studies.topics import put_topics
from venire.server.web.app import create_app
from venire.tables.qrels import Qrels

QUERIES, DOCUMENTS = 5, 40
TRUTH = {f"q{q}": {f"d{q}-{d}": int(d % 3 == 0) for d in range(DOCUMENTS)} for q in range(QUERIES)}
PEOPLE = {"Ann": (0.7, 4000), "Bob": (0.9, 9000)}
RULES = {"practice_size": 0, "gold_size": 0, "overlap": 2, "batch_size": 20}


def right(name, doc_id, accuracy):
    """Whether somebody sees a document as what it is: a draw of theirs for each."""
    digest = hashlib.sha256(f"{name} {doc_id}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32 < accuracy


@pytest.fixture(scope="module")
def piloted(tmp_path_factory, empty_sqlite):
    """The study with its pilot, judged by both; its address and the owner's browser."""
    folder = tmp_path_factory.mktemp("pilot")
    shutil.copy(empty_sqlite, folder / "venire.db")
    store = Store(f"sqlite:///{folder / 'venire.db'}")
    app = create_app(store, media=folder / "media")

    def signed_in(user):
        with store.writing() as session:
            secret = accounts.sign_in(session, user)
        client = TestClient(app, base_url="http://venire.test", follow_redirects=False)
        client.cookies.set("venire_session", secret)
        return client

    with store.writing() as session:
        study = create_study(
            session,
            "Pilot",
            settings={"grades": [{"value": 0, "name": "no"}, {"value": 1, "name": "yes"}]},
        ).id
        topics = pl.DataFrame({"query_id": list(TRUTH), "title": list(TRUTH)})
        put_topics(session, study, topics)
        names = [name for one in TRUTH.values() for name in one]
        frame = pl.DataFrame({"doc_id": names, "kind": "text", "title": names, "body": names})
        put_documents(session, study, frame)
        put_file(session, study, "qrels", "truth", Qrels.from_dict(TRUTH).frame, ())
        pools.build_pool(session, study, "qrels", {"qrels": "truth"})
        campaign = create_campaign(session, study, "Pilot", RULES)
        open_campaign(session, campaign.id)
        judges = {name: add_person(session, study, name) for name in PEOPLE}
        owner = add_person(session, study, "Ada", "owner")
    for name, user in judges.items():
        with signed_in(user) as client:
            judge(client, campaign.id, name, *PEOPLE[name])
    with signed_in(owner) as ada:
        yield f"/api/studies/{study}", f"/studies/{study}", ada
    store.close()


def judge(client, campaign, name, accuracy, ms):
    """Read every document, and label it as one of that accuracy would."""
    while True:
        found = client.post(f"/judge/{campaign}/next", json={}).json()
        if found["state"] != "batch":
            assert found["state"] == "done"
            return
        batch, events = found["batch"], []
        for item in batch["items"]:
            shown = client.get(f"/judge/documents/{item['lease']}").json()
            doc_id = "".join(text for text, _ in shown["title"])
            truth = TRUTH[doc_id.split("-")[0].replace("d", "q")][doc_id]
            label = truth if right(name, doc_id, accuracy) else 1 - truth
            events.append(event("label", item["lease"], label=label, active_ms=ms))
        events.append(event("finish"))
        path = f"/judge/batches/{batch['batch']}/events"
        answers = client.post(path, json={"events": events}).json()["answers"]
        assert all(answer["status"] == "saved" for answer in answers)


def event(kind, lease=None, **values):
    return {"id": str(uuid.uuid4()), "kind": kind, "lease": lease, **values}


def test_pilot_types_recover_known_accuracies_within_their_interval(piloted):
    api, _, ada = piloted
    start = ada.get(f"{api}/simulation", params={"truth": "qrels:truth"}).json()
    assert (start["queries"], start["labels"]) == (QUERIES, QUERIES * DOCUMENTS)
    pilots = {one["values"]["name"]: one for one in start["pilots"]}
    assert list(pilots) == ["pilot Ann", "pilot Bob"]
    for name, (accuracy, ms) in PEOPLE.items():
        one = pilots[f"pilot {name}"]
        counts = {side: [0, 0] for side in (0, 1)}
        for docs in TRUTH.values():
            for doc_id, side in docs.items():
                counts[side][0] += right(name, doc_id, accuracy)
                counts[side][1] += 1
        for key, side in (("relevant", 1), ("not_relevant", 0)):
            share = one[key]
            assert [share["right"], share["total"]] == counts[side]
            assert share["low"] <= accuracy <= share["high"]
            assert one["values"][f"accuracy_{key}"] == share["value"]
        assert one["values"]["judge_seconds"] == ms / 1000
        # All other values are Typical's; times change in proportion.
        assert one["values"]["check_all"] == 8
        assert one["values"]["label_seconds"] == pytest.approx(3.0 * ms / 5000)


def test_the_majority_of_a_pilot_is_a_truth(piloted):
    api, here, ada = piloted
    page = ada.get(f"{here}/simulation").text
    assert "Majority vote of the pilot (2 annotators)" in page
    assert f"({QUERIES * DOCUMENTS} labels)" in page
    start = ada.get(f"{api}/simulation", params={"truth": "pilot"}).json()
    ties = sum(  # of two, who disagree: relevant
        label or right("Ann", name, 0.7) != right("Bob", name, 0.9) or not right("Ann", name, 0.7)
        for docs in TRUTH.values()
        for name, label in docs.items()
        if not (label and not right("Ann", name, 0.7) and not right("Bob", name, 0.9))
    )
    assert start["relevant"] == ties


def test_what_is_not_there_is_said(piloted):
    api, _, ada = piloted
    answer = ada.get(f"{api}/simulation", params={"truth": "qrels:old"})
    assert answer.status_code == 404
    answer = ada.get(f"{api}/simulation", params={"truth": "guess"})
    assert answer.status_code == 422
    assert "qrels:NAME" in answer.json()["error"]
    plan = ada.post(f"{api}/simulation/plan", json={"truth": "pilot"})
    assert plan.status_code == 422
    assert "encoder" in plan.json()["error"]
