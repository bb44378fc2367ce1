"""The link of a campaign: who may be which worker, what made-up workers get. The attacks."""

import hashlib
import hmac
from datetime import timedelta

import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from studies_for_tests import AT, event, judge_batch, make_study
from venire.errors import NotAllowed
from venire.server.judging.events import record
from venire.server.judging.newcomers import MINUTES
from venire.server.judging.next_batch import NextState, open_next_batch
from venire.server.store.judging import Batch, Campaign, Lease, Task
from venire.server.store.people import User
from venire.server.store.studies import Gold
from venire.server.studies import invitations
from venire.server.studies.alarms import BURST
from venire.server.studies.overview import read_overview
from venire.server.studies.workers import (
    Visit,
    add_worker,
    admit_worker,
    release_worker,
    sign_visit,
)


def make_link(store, study, campaign):
    with store.writing() as session:
        secret = invitations.create_invitation(session, study, "annotator", campaign_id=campaign)
        return secret, invitations.read_signing_key(session, secret)


def browser(client):
    """Another browser: the same server, no cookie."""
    return TestClient(client.app, base_url=client.base_url, follow_redirects=False)


def sign(key, study, worker, assignment=""):
    """The signature as the docs describe it, without code of ours."""
    message = f"{study}\n{worker}\n{assignment}".encode()
    return hmac.new(key.encode(), message, hashlib.sha256).hexdigest()


def test_a_second_browser_cannot_be_the_same_worker_until_the_owner_releases_it(client, own_store):
    study, campaign, _ = make_study(own_store)
    secret, _ = make_link(own_store, study, campaign)
    link = f"/c/{secret}?workerId=W1"
    assert client.get(link).status_code == 303
    assert client.get(link).status_code == 303  # the same browser again
    thief = browser(client)
    refused = thief.get(link)
    assert (refused.status_code, refused.json()["code"]) == (403, "worker-elsewhere")
    assert "set-cookie" not in refused.headers
    assert thief.get("/work").status_code == 401
    with own_store.writing() as session:
        worker = session.scalars(select(User).where(User.worker == "W1")).one()
        release_worker(session, study, worker.id, None)
    assert thief.get(link).status_code == 303
    assert client.get(link).status_code == 403


def test_a_signed_link_is_the_worker_s_in_any_browser(client, own_store):
    study, campaign, _ = make_study(own_store, campaign={"signed_links": True})
    secret, key = make_link(own_store, study, campaign)
    assert key is not None
    address = f"/c/{secret}?workerId=W1&assignmentId=A1"
    assert client.get(address).json()["code"] == "wrong-signature"
    for wrong in ("0" * 64, sign(key, study, "W2", "A1"), sign("key", study, "W1", "A1"), "é"):
        assert client.get(f"{address}&signature={wrong}").json()["code"] == "wrong-signature"
    signature = sign(key, study, "W1", "A1")
    assert signature == sign_visit(key, study, "W1", "A1")
    for visitor in (client, browser(client)):
        assert visitor.get(f"{address}&signature={signature}").status_code == 303
    with own_store.reading() as session:
        assert session.scalar(select(func.count()).where(User.worker == "W1")) == 1


def test_made_up_workers_are_few_per_address_and_hour_and_raise_an_alarm(own_store):
    study, campaign, _ = make_study(own_store, campaign={"new_workers_per_hour": BURST})
    secret, _ = make_link(own_store, study, campaign)
    for number in range(BURST + 5):
        visit = Visit(f"H{number}", address="10.0.0.1")
        if number < BURST:
            own_store.write(lambda s, v=visit: admit_worker(s, secret, v))
            continue
        with pytest.raises(NotAllowed) as refused:
            own_store.write(lambda s, v=visit: admit_worker(s, secret, v))
        assert refused.value.code == "too-many-workers"
    own_store.write(lambda s: admit_worker(s, secret, Visit("other", address="10.0.0.2")))
    with own_store.reading() as session:
        kinds = [alarm["kind"] for alarm in read_overview(session, study)["alarms"]]
        addresses = session.scalars(select(User.address_hash)).all()
    assert "workers" in kinds
    assert not any(address and "10.0" in address for address in addresses)


def add_workers(store, campaign, number):
    with store.writing() as session:
        row = session.get(Campaign, campaign)
        return [add_worker(session, row, f"G{n}").id for n in range(number)]


def test_workers_who_have_judged_nothing_cannot_hold_the_whole_campaign(own_store):
    _, campaign, (ann, *_) = make_study(
        own_store, topics=1, documents=200, campaign={"overlap": 1, "batch_size": 10, "minutes": 60}
    )
    states = [
        own_store.write(lambda s, w=worker: open_next_batch(s, campaign, w, AT)).state
        for worker in add_workers(own_store, campaign, 16)
    ]
    assert states == [NextState.BATCH] * 4 + [NextState.WAIT] * 12  # a fifth of 200 places
    with own_store.reading() as session:
        assert session.scalar(select(func.sum(Task.taken))) == 40
        ends = session.scalars(select(Batch.expires_at)).all()
    assert set(ends) == {AT + timedelta(minutes=MINUTES)}
    # Somebody invited in person is not held up.
    step = own_store.write(lambda session: open_next_batch(session, campaign, ann, AT))
    assert step.state == NextState.BATCH


def test_the_first_judgment_gives_a_worker_the_whole_time_and_the_whole_campaign(own_store):
    _, campaign, _ = make_study(
        own_store, topics=1, documents=60, campaign={"overlap": 1, "batch_size": 10, "minutes": 60}
    )
    first, second, third = add_workers(own_store, campaign, 3)
    batch = own_store.write(lambda s: open_next_batch(s, campaign, first, AT)).batch_id
    own_store.write(lambda s: open_next_batch(s, campaign, second, AT))
    later = AT + timedelta(minutes=2)
    look = event("look")
    own_store.write(lambda s: record(s, batch, first, [look], later))
    with own_store.reading() as session:
        assert session.get(Batch, batch).expires_at == AT + timedelta(minutes=MINUTES)
        lease = session.scalars(
            select(Lease.id).where(Lease.batch_id == batch, Lease.task_id.is_not(None))
        ).first()
    assert own_store.write(lambda s: open_next_batch(s, campaign, third, AT)).state == "wait"
    label = event("label", lease, label=1)
    own_store.write(lambda s: record(s, batch, first, [label], later))
    with own_store.reading() as session:
        assert session.get(Batch, batch).expires_at == later + timedelta(minutes=60)
    assert own_store.write(lambda s: open_next_batch(s, campaign, third, AT)).state == "batch"


def test_gold_of_practice_is_in_no_other_batch(own_store):
    settings = {"practice_size": 2, "qualification_size": 2, "qualification_needed": 0,
                "overlap": 8, "batch_size": 5}  # fmt: skip
    _, campaign, people = make_study(
        own_store, topics=1, documents=20, gold=10, people=8, campaign=settings
    )
    for person in people:
        for hour in range(4):  # practice, qualification, work, work
            judge_batch(own_store, campaign, person, at=AT + timedelta(hours=hour))
    with own_store.reading() as session:
        shown = session.execute(
            select(Batch.kind, Lease.pair_id)
            .join(Batch, Batch.id == Lease.batch_id)
            .where(Lease.gold_grade.is_not(None))
        ).all()
        practice = set(session.scalars(select(Gold.pair_id).where(Gold.practice)))
    of_kind = {kind: {pair for k, pair in shown if k == kind} for kind, _ in shown}
    assert set(of_kind) == {"practice", "qualification", "work"}
    assert of_kind["practice"] == practice
    assert len(practice) == 2
    assert not practice & (of_kind["qualification"] | of_kind["work"])


def test_harvesting_practice_with_made_up_workers_gives_two_documents(
    own_store,
):
    """Before, eight made-up IDs were shown 12 gold documents with their grades."""
    _, campaign, _ = make_study(
        own_store, topics=1, documents=20, gold=24, campaign={"practice_size": 2}
    )
    harvested = set()
    for worker in add_workers(own_store, campaign, 8):
        batch = own_store.write(lambda s, w=worker: open_next_batch(s, campaign, w, AT)).batch_id
        with own_store.reading() as session:
            assert session.get(Batch, batch).kind == "practice"
            harvested |= set(session.scalars(select(Lease.pair_id).where(Lease.batch_id == batch)))
    assert len(harvested) == 2


def test_the_link_never_replaces_the_session_of_an_account(client, own_store):
    from venire.server.studies import accounts

    study, campaign, _ = make_study(own_store)
    secret, _ = make_link(own_store, study, campaign)
    with own_store.writing() as session:
        owner = accounts.create_user(session, "Ada", "ada", "a long password")
        cookie = accounts.sign_in(session, owner.id)
    client.cookies.set("venire_session", cookie)
    answer = client.get(f"/c/{secret}?workerId=W1", headers={"sec-fetch-site": "cross-site"})
    assert (answer.status_code, answer.json()["code"]) == (409, "signed-in")
    assert "set-cookie" not in answer.headers
    picture = browser(client).get(
        f"/c/{secret}?workerId=W1", headers={"sec-fetch-dest": "image", "accept": "image/*"}
    )
    assert (picture.status_code, "set-cookie" in picture.headers) == (403, False)


@pytest.mark.parametrize("role", ["viewer", "annotator"])
def test_only_owners_release_workers(client, own_store, role):
    from venire.server.store.people import Membership
    from venire.server.studies import accounts

    study, campaign, _ = make_study(own_store)
    (worker,) = add_workers(own_store, campaign, 1)
    with own_store.writing() as session:
        user = accounts.create_user(session, "Ben", "ben", "a long password")
        session.add(Membership(study_id=study, user_id=user.id, role=role))
        client.cookies.set("venire_session", accounts.sign_in(session, user.id))
    answer = client.post(f"/api/studies/{study}/annotators/{worker}/release", json={})
    assert answer.status_code in (403, 404)
