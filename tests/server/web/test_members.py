"""Members, passwords and tokens: what owners can do, and what a token cannot."""

import uuid
from datetime import timedelta

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from studies_for_tests import AT, add_person, make_study
from venire.server.judging.next_batch import open_next_batch
from venire.server.store.base import now
from venire.server.store.judging import Lease
from venire.server.store.people import Membership, Token, User
from venire.server.studies import accounts, members

PASSWORD = "a long password"


def add_account(store, study, login, role):
    with store.writing() as session:
        user = accounts.create_user(session, login.title(), login, PASSWORD)
        if role is not None:
            session.add(Membership(study_id=study, user_id=user.id, role=role))
        return user.id, accounts.sign_in(session, user.id)


def browser(client, cookie=None, token=None):
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    new = TestClient(client.app, base_url=client.base_url, follow_redirects=False, headers=headers)
    if cookie is not None:
        new.cookies.set("venire_session", cookie)
    return new


@pytest.fixture
def study(own_store):
    return make_study(own_store)[:2]


@pytest.fixture
def owner(client, own_store, study):
    _, cookie = add_account(own_store, study[0], "ada", "owner")
    return browser(client, cookie)


def test_an_owner_changes_roles_and_removes_members(client, own_store, study, owner):
    ben, cookie = add_account(own_store, study[0], "ben", "viewer")
    viewer = browser(client, cookie)
    address = f"/api/studies/{study[0]}"
    assert viewer.get(f"{address}/members").status_code == 200
    assert viewer.patch(f"{address}/members/{ben}", json={"role": "owner"}).status_code == 403
    assert viewer.delete(f"{address}/members/{ben}").status_code == 403
    assert owner.patch(f"{address}/members/{ben}", json={"role": "owner"}).status_code == 200
    assert viewer.patch(f"{address}/members/{ben}", json={"role": "viewer"}).status_code == 200
    assert owner.patch(f"{address}/members/{ben}", json={"role": "king"}).status_code == 422
    paused = owner.post(f"{address}/annotators/{ben}/pause", json={"paused": True})
    assert paused.status_code == 200
    assert viewer.get(f"{address}/members").status_code == 404
    owner.post(f"{address}/annotators/{ben}/pause", json={"paused": False})
    assert viewer.get(f"{address}/members").status_code == 200
    assert owner.delete(f"{address}/members/{ben}").status_code == 200
    assert viewer.get(f"{address}/members").status_code == 404
    assert owner.delete(f"{address}/members/{ben}").status_code == 404


def test_the_last_owner_stays_one(client, own_store, study, owner):
    address = f"/api/studies/{study[0]}"
    (ada,) = [row for row in owner.get(f"{address}/members").json() if row["role"] == "owner"]
    for answer in (
        owner.patch(f"{address}/members/{ada['user_id']}", json={"role": "viewer"}),
        owner.delete(f"{address}/members/{ada['user_id']}"),
        owner.post(f"{address}/annotators/{ada['user_id']}/pause", json={"paused": True}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "last-owner")
    eve, _ = add_account(own_store, study[0], "eve", "owner")
    assert owner.post(f"{address}/annotators/{eve}/pause", json={"paused": True}).status_code == 200
    # A paused owner does not count.
    assert owner.delete(f"{address}/members/{ada['user_id']}").status_code == 409
    owner.post(f"{address}/annotators/{eve}/pause", json={"paused": False})
    assert owner.delete(f"{address}/members/{ada['user_id']}").status_code == 200


@pytest.mark.parametrize("how", ["paused", "removed", "viewer"])
def test_who_is_paused_or_gone_sees_no_document_and_hands_in_nothing(client, own_store, study, how):
    study_id, campaign = study
    person = own_store.write(lambda session: add_person(session, study_id, "Ann"))
    cookie = own_store.write(lambda session: accounts.sign_in(session, person))
    annotator = browser(client, cookie)
    batch = annotator.post(f"/judge/{campaign}/next", json={}).json()["batch"]
    lease = batch["items"][0]["lease"]
    with own_store.writing() as session:
        if how == "paused":
            members.set_paused(session, study_id, person, True, "", None)
        elif how == "removed":
            members.remove_member(session, study_id, person, None)
        else:
            members.set_role(session, study_id, person, "viewer", None)
    label = {"id": str(uuid.uuid4()), "kind": "label", "lease": lease, "label": 1}
    events = f"/judge/batches/{batch['batch']}/events"
    for answer in (
        annotator.get(f"/judge/documents/{lease}"),
        annotator.get(f"/judge/images/{lease}"),
        annotator.get(f"/judge/batches/{batch['batch']}"),
        annotator.post(events, json={"events": [label]}),
        annotator.post(events, json={"events": [{"id": str(uuid.uuid4()), "kind": "finish"}]}),
        annotator.post(f"/judge/{campaign}/next", json={}),
    ):
        assert answer.status_code in ((403,) if how == "paused" else (403, 404)), answer.url
    with own_store.reading() as session:
        assert session.get(Lease, lease).state == "live"


def test_an_owner_s_link_sets_a_new_password_once(client, own_store, study, owner):
    ben, cookie = add_account(own_store, study[0], "ben", "annotator")
    with own_store.writing() as session:
        _, token = accounts.create_token(session, ben, "nightly")
    address = f"/api/studies/{study[0]}/members/{ben}/password-reset"
    first = owner.post(address, json={}).json()["link"]
    link = owner.post(address, json={}).json()["link"]
    path = link.removeprefix("http://venire.test")
    anybody = browser(client)
    assert anybody.get(first.removeprefix("http://venire.test")).status_code == 409  # replaced
    assert "New password for Ben" in anybody.get(path, headers={"accept": "text/html"}).text
    assert anybody.post(path, json={"password": "short"}).status_code == 422
    assert anybody.post(path, json={"password": "another password"}).status_code == 200
    assert anybody.post(path, json={"password": "a third password"}).status_code == 409
    assert anybody.get("/reset/made-up").status_code == 404
    assert browser(client, cookie).get("/work").status_code == 401
    assert browser(client, token=token).get("/api/tokens").status_code == 401
    with own_store.reading() as session:
        assert accounts.check_password(session, "ben", "another password").id == ben


def test_a_link_never_opens_a_study_of_others(client, own_store, study, owner):
    other, *_ = make_study(own_store)
    eve, _ = add_account(own_store, study[0], "eve", "annotator")
    with own_store.writing() as session:
        session.add(Membership(study_id=other, user_id=eve, role="owner"))
    answer = owner.post(f"/api/studies/{study[0]}/members/{eve}/password-reset", json={})
    assert (answer.status_code, answer.json()["code"]) == (403, "other-study")
    stranger, _ = add_account(own_store, study[0], "sam", None)
    answer = owner.post(f"/api/studies/{study[0]}/members/{stranger}/password-reset", json={})
    assert answer.status_code == 404


def test_a_reset_from_the_terminal(own_store, study, capsys):
    from venire.cli.main import main

    add_account(own_store, study[0], "ben", "annotator")
    assert main(["study", "reset-password", "ben", "--database", own_store.url]) == 0
    link = capsys.readouterr().out.split()[-1]
    secret = link.rsplit("/", 1)[1]
    with own_store.writing() as session:
        assert accounts.reset_password(session, secret, "another password").login == "ben"
    assert main(["study", "reset-password", "bne", "--database", own_store.url]) == 2
    assert "bne" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("scope", "reads", "judges", "owns"),
    [("read", 200, 403, 403), ("judge", 200, 200, 403), ("own", 200, 200, 200)],
)
def test_a_token_does_what_its_scope_says(
    client, own_store, study, owner, scope, reads, judges, owns
):
    study_id, campaign = study
    made = owner.post("/api/tokens", json={"name": "nightly", "scope": scope, "days": 5}).json()
    (row,) = owner.get("/api/tokens").json()
    assert row["scope"] == scope
    program = browser(client, token=made["secret"])
    assert program.get(f"/api/studies/{study_id}/members").status_code == reads
    assert program.post(f"/judge/{campaign}/next", json={}).status_code == judges
    answer = program.patch(f"/api/studies/{study_id}", json={"name": "Renamed"})
    assert answer.status_code == owns
    # No token makes, revokes or outlives tokens.
    assert program.post("/api/tokens", json={"name": "more"}).status_code == 403
    assert program.delete(f"/api/tokens/{made['token_id']}").status_code == 403
    change = {"old": PASSWORD, "new": "another password"}
    assert program.post("/api/account/password", json=change).status_code == 403
    with own_store.writing() as session:
        token = session.get(Token, made["token_id"])
        assert now() + timedelta(days=4) < token.expires_at < now() + timedelta(days=5, seconds=1)
        token.expires_at = now() - timedelta(seconds=1)
    assert program.get("/api/tokens").status_code == 401


def test_a_new_password_revokes_the_tokens(client, own_store, owner):
    made = owner.post("/api/tokens", json={"name": "nightly"}).json()
    program = browser(client, token=made["secret"])
    assert program.get("/api/tokens").status_code == 200
    change = {"old": PASSWORD, "new": "another password"}
    assert owner.post("/api/account/password", json=change).status_code == 200
    assert program.get("/api/tokens").status_code == 401


def test_a_forged_host_makes_no_link(client, own_store, study, owner):
    address = f"/api/studies/{study[0]}/invitations"
    client.app.state.address = None
    forged = owner.post(address, json={"role": "viewer"}, headers={"host": "evil.test"})
    assert (forged.status_code, forged.json()["code"]) == (409, "unknown-address")
    local = owner.post(address, json={"role": "viewer"}, headers={"host": "localhost:8000"})
    assert local.json()["link"].startswith("http://localhost:8000/invite/")
    client.app.state.address = "https://venire.example.org/"
    answer = owner.post(address, json={"role": "viewer"}, headers={"host": "evil.test"})
    assert answer.json()["link"].startswith("https://venire.example.org/invite/")


def test_the_next_batch_of_a_removed_annotator_is_refused(own_store, study):
    study_id, campaign = study
    person = own_store.write(lambda session: add_person(session, study_id, "Ann"))
    own_store.write(lambda session: members.remove_member(session, study_id, person, None))
    with pytest.raises(Exception, match="not an annotator"):
        own_store.write(lambda session: open_next_batch(session, campaign, person, AT))
    with own_store.reading() as session:
        assert session.scalar(select(User.name).where(User.id == person)) == "Ann"
