"""Accounts, invitations, sessions, links of platforms; and who is kept out."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from studies_for_tests import AT, add_person, judge_batch, make_study
from venire.server.store.base import new_code, now
from venire.server.store.judging import Batch, Campaign
from venire.server.store.people import Invitation, Membership, SignIn, Token, User
from venire.server.studies import accounts, invitations, members

PASSWORD = "correct horse"


def account(client, path, name="Ann", login="ann", password=PASSWORD):
    body = {"name": name, "login": login, "password": password}
    return client.post(f"/invite/{path.rsplit('/', 1)[-1]}", json=body)


def test_the_first_link_makes_one_account_and_that_owns_what_is_there(app, client, own_store):
    study, _, _ = make_study(own_store)
    first = app.state.first
    assert client.get(first).status_code == 200
    assert account(client, first).status_code == 200
    assert client.get("/work").status_code == 200
    with own_store.reading() as session:
        user = session.scalar(select(User).where(User.login == "ann"))
        assert members.find_role(session, study, user.id) == "owner"
        assert user.may_create
        assert invitations.create_first_link(session) is None
    again = account(client, first, login="bob")
    assert again.status_code == 409
    assert "already used" in again.json()["error"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"password": "short"}, "must have 10 to 1,000 characters"),
        ({"name": "  "}, "`name` is empty. Enter a name."),
        ({"password": "x" * 5000}, "must have 10 to 1,000 characters"),
    ],
)
def test_an_account_needs_a_name_and_a_password(app, client, values, words):
    answer = account(client, app.state.first, **values)
    assert answer.status_code == 422
    assert words in answer.json()["error"]


def test_an_invitation_lets_in_one_person_once_with_its_role(client, own_store):
    study, _, _ = make_study(own_store)
    with own_store.writing() as session:
        secret = invitations.create_invitation(session, study, "viewer")
    assert account(client, secret).status_code == 200
    assert account(client, secret, login="eve").status_code == 409
    with own_store.reading() as session:
        user = session.scalar(select(User).where(User.login == "ann"))
        assert members.find_role(session, study, user.id) == "viewer"
        assert not user.may_create


def test_a_link_that_was_revoked_or_ran_out_does_not_work(client, own_store):
    study, _, _ = make_study(own_store)
    with own_store.writing() as session:
        one = invitations.create_invitation(session, study, "annotator")
        invitations.revoke_invitation(
            session, study, invitations.list_invitations(session, study)[0].id
        )
        two = invitations.create_invitation(session, study, "annotator")
        found = invitations.find_invitation(session, two)
        found.expires_at = now() - timedelta(seconds=1)
    assert account(client, one).status_code == 404
    assert account(client, two).status_code == 409
    lost = account(client, "made-up")
    assert lost.status_code == 404
    assert lost.json()["error"] == ("This link is incomplete or was revoked. Ask for a new link.")
    for path in ("/invite/made-up", "/c/made-up?workerId=W1"):
        answer = client.get(path, headers={"accept": "text/html"})
        assert answer.status_code == 404
        assert "This link is incomplete or was revoked" in answer.text


def test_a_worker_of_a_platform_is_the_same_person_each_time(client, own_store):
    study, campaign, _ = make_study(own_store)
    with own_store.writing() as session:
        secret = invitations.create_invitation(session, study, "annotator", campaign_id=campaign)
    for _ in range(2):
        answer = client.get(f"/c/{secret}?workerId=W1")
        assert answer.status_code == 303
        assert answer.headers["location"] == f"/judge/{campaign}"
    client.get(f"/c/{secret}?PROLIFIC_PID=W2")
    assert client.get(f"/c/{secret}").status_code == 422
    preview = client.get(f"/c/{secret}?workerId=W3&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
    assert preview.status_code == 200
    with own_store.reading() as session:
        workers = session.scalars(select(User.worker).where(User.worker.is_not(None))).all()
    assert sorted(workers) == ["W1", "W2"]


@pytest.mark.parametrize(
    "query",
    [
        # As Prolific, MTurk and Toloka write them, as they are when nobody fills them in.
        "PROLIFIC_PID={{%PROLIFIC_PID%}}",
        "PROLIFIC_PID=%7B%7B%25PROLIFIC_PID%25%7D%7D",
        "workerId=${workerId}",
        "workerId=$%7BworkerId%7D",
        "workerId=%workerId%",
        "worker={{workerId}}",
        "worker=[worker]",
        "worker=<worker id>",
        "worker_id=$workerId",
        "workerId=…",
        "workerId=...",
        "workerId=workerId",
        "PROLIFIC_PID=PROLIFIC_PID",
        "workerId=ASSIGNMENT_ID_NOT_AVAILABLE",
        "workerId=%20${workerId}%20",
    ],
)
def test_a_placeholder_is_nobody_s_id(client, own_store, query):
    study, campaign, _ = make_study(own_store)
    with own_store.writing() as session:
        secret = invitations.create_invitation(session, study, "annotator", campaign_id=campaign)
    answer = client.get(f"/c/{secret}?{query}")
    assert answer.status_code == 422
    assert "in place of your worker ID" in answer.json()["error"]
    assert "set-cookie" not in answer.headers
    with own_store.reading() as session:
        assert session.scalars(select(User.worker).where(User.worker.is_not(None))).all() == []


@pytest.mark.parametrize(
    "query",
    [
        "PROLIFIC_PID=5f4d6c2b9e1a3b000a7c1d2e",
        "workerId=A2XJMS2J2FMVXK",
        "worker=0000A1B2C3D4E5F60718293A4B5C6D7E",
        "worker=user17",
        "worker=pid-9",
        "worker=ann@example.org",
        "worker=worker-1",
    ],
)
def test_ids_of_workers_are_no_placeholders(client, own_store, query):
    study, campaign, _ = make_study(own_store)
    with own_store.writing() as session:
        secret = invitations.create_invitation(session, study, "annotator", campaign_id=campaign)
    assert client.get(f"/c/{secret}?{query}").status_code == 303


@pytest.mark.parametrize("name", ["assignmentId", "assignment_id"])
def test_a_preview_begins_nothing(client, own_store, name):
    study, campaign, _ = make_study(own_store)
    with own_store.writing() as session:
        secret = invitations.create_invitation(session, study, "annotator", campaign_id=campaign)
    answer = client.get(f"/c/{secret}?workerId=W3&{name}=ASSIGNMENT_ID_NOT_AVAILABLE")
    assert answer.status_code == 200
    assert "Accept the work on your platform to start" in answer.text
    with own_store.reading() as session:
        assert session.scalars(select(User.worker).where(User.worker.is_not(None))).all() == []


def test_a_worker_finds_earlier_codes_again(client, own_store):
    """Opening the link again shows the codes, and takes no batch by itself."""
    study, campaign, _ = make_study(own_store, documents=20, campaign={"overlap": 2})
    with own_store.writing() as session:
        secret = invitations.create_invitation(session, study, "annotator", campaign_id=campaign)
    link = f"/c/{secret}?workerId=W1"
    assert client.get(link).headers["location"] == f"/judge/{campaign}"
    assert "Your completion codes" not in client.get("/work").text
    with own_store.reading() as session:
        worker = session.scalars(select(User).where(User.worker == "W1")).one().id
    judge_batch(own_store, campaign, worker, gold=True)
    assert client.get(link).headers["location"] == "/work"
    judge_batch(own_store, campaign, worker, gold=False, at=AT + timedelta(minutes=5))
    with own_store.reading() as session:
        one = session.get(Campaign, campaign)
        done, failed, name = one.code_done, one.code_failed, one.name
        batches = session.scalar(select(func.count()).select_from(Batch))
    shown = client.get("/work").text
    assert shown.index(f"Batch 2 of {name}") < shown.index(failed)
    assert shown.index(failed) < shown.index(f"Batch 1 of {name}") < shown.index(done)
    assert shown.count("data-copy") == 2
    assert "gold" not in shown
    # A batch that is open is gone on with.
    client.post(f"/judge/{campaign}/next", json={})
    assert client.get(link).headers["location"] == f"/judge/{campaign}"
    with own_store.reading() as session:
        assert session.scalar(select(func.count()).select_from(Batch)) == batches + 1
    # Nobody else sees them, neither another worker nor an annotator with an account.
    client.get(f"/c/{secret}?workerId=W2")
    assert done not in client.get("/work").text


def test_a_code_can_be_copied_by_hand(own_store):
    made = {new_code() for _ in range(2000)}
    assert len(made) == 2000
    assert all(re.fullmatch("[A-Z0-9]{12}", one) for one in made)
    # None of two that look alike.
    assert not set("".join(made)) & set("0O1IL2Z5S8B")
    _, campaign, _ = make_study(own_store)
    with own_store.reading() as session:
        one = session.get(Campaign, campaign)
        assert one.code_done != one.code_failed
        assert all(re.fullmatch("[A-Z0-9]{12}", code) for code in (one.code_done, one.code_failed))


def test_a_worker_gets_a_code_that_says_whether_the_work_counts(client, own_store):
    study, campaign, _ = make_study(own_store, documents=20, campaign={"overlap": 2})
    with own_store.writing() as session:
        secret = invitations.create_invitation(session, study, "annotator", campaign_id=campaign)
    import uuid

    from venire.server.store.judging import Lease

    codes = []
    for right in (True, False):
        client.get(f"/c/{secret}?workerId={right}")
        batch = client.post(f"/judge/{campaign}/next", json={}).json()["batch"]
        with own_store.reading() as session:
            known = dict(
                session.execute(
                    select(Lease.id, Lease.gold_grade).where(Lease.batch_id == batch["batch"])
                ).all()
            )
        events = [
            {
                "id": str(uuid.uuid4()),
                "kind": "label",
                "lease": lease,
                "label": grade if right and grade is not None else 0,
            }
            for lease, grade in known.items()
        ]
        events.append({"id": str(uuid.uuid4()), "kind": "finish"})
        path = f"/judge/batches/{batch['batch']}/events"
        first = client.post(path, json={"events": events}).json()
        assert client.post(path, json={"events": events}).json() == first
        codes.append(first["code"])
    with own_store.reading() as session:
        one = session.get(Campaign, campaign)
        assert codes == [one.code_done, one.code_failed]


def test_signing_in_gives_a_new_cookie_whatever_was_there(client, own_store):
    with own_store.writing() as session:
        accounts.create_user(session, "Ann", "ann", PASSWORD)
    client.cookies.set("venire_session", "chosen-by-somebody-else")
    answer = client.post("/sign-in", json={"login": "ANN ", "password": PASSWORD})
    assert answer.status_code == 200
    cookie = answer.headers["set-cookie"]
    assert "chosen-by-somebody-else" not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    second = client.post("/sign-in", json={"login": "ann", "password": PASSWORD})
    assert second.headers["set-cookie"].split(";")[0] != cookie.split(";")[0]


def test_secrets_are_kept_as_hashes_only(client, own_store):
    with own_store.writing() as session:
        user = accounts.create_user(session, "Ann", "ann", PASSWORD)
        secrets = [
            accounts.sign_in(session, user.id),
            accounts.create_token(session, user.id, "x")[1],
        ]
        study, _, _ = user.id, None, None
    with own_store.reading() as session:
        held = [
            *session.scalars(select(SignIn.token_hash)),
            *session.scalars(select(Token.token_hash)),
            *session.scalars(select(User.password_hash)),
            *session.scalars(select(Invitation.token_hash)),
        ]
    assert study
    assert not any(secret in text for secret in [*secrets, PASSWORD] for text in held)


def test_who_is_wrong_is_not_told_what_was_wrong(client, own_store):
    with own_store.writing() as session:
        accounts.create_user(session, "Ann", "ann", PASSWORD)
    answers = {
        client.post("/sign-in", json={"login": login, "password": password}).json()["error"]
        for login, password in (("ann", "not this one"), ("nobody", PASSWORD))
    }
    assert len(answers) == 1


def test_a_signed_out_or_old_cookie_opens_nothing(client, own_store, signed_in):
    _, _, (ann, *_) = make_study(own_store)
    browser = signed_in(ann)
    assert browser.get("/work").status_code == 200
    browser.post("/sign-out")
    assert browser.get("/work", headers={"accept": "application/json"}).status_code == 401
    old = signed_in(ann)
    with own_store.writing() as session:
        for one in session.scalars(select(SignIn)):
            one.expires_at = now() - timedelta(seconds=1)
    assert old.get("/work", headers={"accept": "application/json"}).status_code == 401


def test_a_write_from_another_site_is_refused(own_store, signed_in):
    _, campaign, (ann, *_) = make_study(own_store)
    browser = signed_in(ann)
    path = f"/judge/{campaign}/next"
    for headers in (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.test"},
        {"origin": "null"},
    ):
        assert browser.post(path, json={}, headers=headers).status_code == 403
    for headers in ({"sec-fetch-site": "same-origin"}, {"origin": "http://venire.test"}, {}):
        assert browser.post(path, json={}, headers=headers).status_code == 200


def test_where_to_go_after_signing_in_is_on_this_server(client):
    bad = ("https://evil.test", "//evil.test", "/\\evil.test", "/\t/evil.test", "javascript:x()")
    for path in bad:
        page = client.get("/sign-in", params={"next": path}).text
        assert 'data-next="/"' in page
    assert 'data-next="/work"' in client.get("/sign-in", params={"next": "/work"}).text


def test_what_people_write_is_text_on_every_page(client, own_store):
    study, _, _ = make_study(own_store)
    evil = "<script>alert(1)</script>'; DROP TABLE user; --"
    with own_store.writing() as session:
        secret = invitations.create_invitation(session, study, "annotator", name=evil)
    page = client.get(f"/invite/{secret}").text
    assert "<script>alert" not in page
    account(client, secret, name=evil, login=evil)
    assert "<script>alert" not in client.get("/work").text
    with own_store.reading() as session:
        assert session.scalar(select(User.name).where(User.login == evil.casefold())) == evil


def test_an_annotator_reaches_nobody_else_s_work(own_store, signed_in):
    study, campaign, (ann, bob, *_) = make_study(own_store)
    with own_store.writing() as session:
        viewer = add_person(session, study, "v", "viewer")
        stranger = User(name="stranger")
        session.add(stranger)
    first = signed_in(ann).post(f"/judge/{campaign}/next", json={}).json()["batch"]
    lease = first["items"][0]["lease"]
    for user in (bob, viewer, stranger.id):
        other = signed_in(user)
        assert other.get(f"/judge/batches/{first['batch']}").status_code == 404
        assert other.get(f"/judge/documents/{lease}").status_code == 404
        assert other.get(f"/judge/images/{lease}").status_code == 404
        answer = other.post(f"/judge/batches/{first['batch']}/events", json={"events": []})
        assert answer.status_code == 404
    assert signed_in(viewer).post(f"/judge/{campaign}/next", json={}).status_code == 403
    assert signed_in(stranger.id).post(f"/judge/{campaign}/next", json={}).status_code == 403


def test_the_media_folder_is_reached_by_hash_only(app, own_store, signed_in, tmp_path):
    from venire.server.store.studies import Document

    _, campaign, (ann, *_) = make_study(own_store)
    (tmp_path / "secret.txt").write_text("secret")
    media = tmp_path / "media"
    (media / "aa").mkdir(parents=True)
    good = "aa/" + "a" * 64 + ".png"  # where an import keeps its pictures
    (media / good).write_bytes(b"png")
    browser = signed_in(ann)
    lease = browser.post(f"/judge/{campaign}/next", json={}).json()["batch"]["items"][0]["lease"]
    for key, status in (
        ("../secret.txt", 404),
        (str(tmp_path / "secret.txt"), 404),
        ("..%2fsecret.txt", 404),
        ("../" + "a" * 64 + ".png", 404),
        (good + "\x00", 200),  # no NUL reaches the database: this is the key itself
        (good, 200),
    ):
        with own_store.writing() as session:
            for document in session.scalars(select(Document)):
                document.media = key
        assert browser.get(f"/judge/images/{lease}").status_code == status
    for path in ("/static/../deps.py", "/static/%2e%2e/deps.py", "/static//etc/passwd"):
        assert browser.get(path).status_code == 404


def test_ids_cannot_be_guessed(own_store, signed_in):
    _, campaign, (ann, *_) = make_study(own_store)
    batch = signed_in(ann).post(f"/judge/{campaign}/next", json={}).json()["batch"]
    ids = [campaign, ann, batch["batch"], *(item["lease"] for item in batch["items"])]
    assert all(len(one) == 22 for one in ids)
    assert len(set(ids)) == len(ids)


def test_a_body_that_is_too_long_is_refused(client):
    answer = client.post("/sign-in", content=b"x" * 5_000_000)
    assert answer.status_code == 413

    def drops():
        for _ in range(60):
            yield b"x" * 100_000

    answer = client.post("/sign-in", content=drops(), headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_each_answer_has_its_policy(client):
    for path in ("/sign-in", "/static/judge/main.js", "/nothing"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_events_that_make_no_sense_are_one_line(own_store, signed_in):
    _, campaign, (ann, *_) = make_study(own_store)
    browser = signed_in(ann)
    batch = browser.post(f"/judge/{campaign}/next", json={}).json()["batch"]
    path = f"/judge/batches/{batch['batch']}/events"
    good = {"id": "b3b1e9a2-58a9-4c0c-a9a5-5f5d7d9a0001", "kind": "label"}
    lease = batch["items"][0]["lease"]
    for event, status in (
        ({}, 422),
        ({"id": "1", "kind": "label"}, 422),
        ({**good, "kind": "drop"}, 422),
        ({**good, "lease": "made-up", "label": 1}, 404),
        ({**good, "lease": lease, "label": "1"}, 422),
        ({**good, "lease": lease, "label": True}, 422),
        ({**good, "lease": 5, "label": 1}, 422),
        ({**good, "lease": lease, "label": 1, "at": "yesterday"}, 422),
        ({**good, "lease": lease, "label": 1, "at": "99999-01-01T00:00:00Z"}, 422),
        ({**good, "lease": lease, "label": 1, "text": "x" * 20_000}, 422),
    ):
        answer = browser.post(path, json={"events": [event]})
        assert answer.status_code == status, (event, answer.text)
        assert "\n" not in answer.json()["error"]
    assert browser.post(path, json={"events": [good] * 501}).status_code == 422
    assert browser.post(path, content=b"{").status_code == 422
    answer = browser.post(path, json={"events": [{**good, "lease": lease, "label": 99}]})
    assert answer.json()["answers"][0]["status"] == "refused"
    with own_store.reading() as session:
        assert session.get(Membership, (make_study_of(session, campaign), ann)).role == "annotator"


def make_study_of(session, campaign):
    return session.get(Campaign, campaign).study_id


def test_a_password_costs_an_attacker_memory_and_time(production_hasher):
    # RFC 9106, section 4: the second recommended option, 64 MiB and three passes.
    hashed = production_hasher.hash(PASSWORD)
    assert hashed.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert production_hasher.verify(PASSWORD, hashed)


def test_passwords_are_not_tried_without_end(app, client, own_store):
    from venire.server.web import sign_in_limit as tries

    with own_store.writing() as session:
        accounts.create_user(session, "Ann", "ann", PASSWORD)
        accounts.create_user(session, "Bob", "bob", PASSWORD)

    def enter(login, password):
        return client.post("/sign-in", json={"login": login, "password": password})

    clock = [AT]
    app.state.tries = tries.Tries(own_store, lambda: clock[0])
    for _ in range(tries.MOST - 1):
        assert enter("ann", "not this one").status_code == 401
    assert enter("ann", PASSWORD).status_code == 200  # the right one begins the count anew
    for _ in range(tries.MOST):
        assert enter(" ANN", "not this one").status_code == 401
    answer = enter("ann", PASSWORD)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == str(tries.SECONDS + 1)
    assert "15 minutes" in answer.json()["error"] or "16 minutes" in answer.json()["error"]
    assert enter("bob", PASSWORD).status_code == 200
    clock[0] += timedelta(seconds=tries.SECONDS)
    assert enter("ann", PASSWORD).status_code == 200


def test_one_address_cannot_try_many_logins(own_store):
    from starlette.exceptions import HTTPException
    from starlette.requests import Request

    from venire.errors import NotAllowed
    from venire.server.web import sign_in_limit as tries

    request = Request({"type": "http", "client": ("192.0.2.1", 1), "headers": []})
    for place in range(tries.MOST_OF_ADDRESS):
        counting = tries.Tries(own_store, lambda: AT)  # of one process or of another
        with pytest.raises(NotAllowed), counting.count_try(request, f"login{place}"):
            raise NotAllowed("wrong")
    with pytest.raises(HTTPException), counting.count_try(request, "another"):
        pass
    other = Request({"type": "http", "client": ("192.0.2.2", 1), "headers": []})
    with counting.count_try(other, "another"):
        pass


def test_an_upload_s_length_is_for_uploads_only(client):
    for kind in ("application/octet-stream", "multipart/form-data; boundary=x"):
        answer = client.post("/sign-in", content=b"x" * 5_000_000, headers={"content-type": kind})
        assert answer.status_code == 413


def test_a_page_that_asks_to_sign_in_is_come_back_to(client):
    path = "/studies/x/document?doc_id=a%26b&query_id=1"
    answer = client.get(path, headers={"accept": "text/html"})
    assert answer.status_code == 303
    page = client.get(answer.headers["location"]).text
    assert 'data-next="/studies/x/document?doc_id=a%26b&amp;query_id=1"' in page


def test_a_link_is_not_used_up_by_who_is_in_the_study(own_store, signed_in):
    study, _, (ann, *_) = make_study(own_store)
    with own_store.writing() as session:
        secret = invitations.create_invitation(session, study, "viewer")
    answer = signed_in(ann).post(f"/invite/{secret}/join")
    assert answer.status_code == 409
    with own_store.reading() as session:
        assert invitations.find_invitation(session, secret).used_at is None
