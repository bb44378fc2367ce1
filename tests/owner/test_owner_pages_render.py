"""Every owner page renders for those who may see it, and for nobody else."""

import re

import pytest

from venire.pages.common import TABS
from venire.service.jobs import run_pending, submit

PAGES = [
    *(f"/{tab}" if tab else "" for tab in TABS),
    *(f"/data?part={part}" for part in ("topics", "documents", "files", "gold")),
    "/data?part=topics&search=wind",
    "/topic?query_id=q%2F2",
    "/document?doc_id=g%261",
    "/document?doc_id=d1&query_id=q1",
    "/annotators?state=rejected",
    "/adjudication?settled=true",
]
HTML = {"accept": "text/html"}


@pytest.mark.parametrize("name", ["ada", "vera"])
def test_owner_and_viewer_see_every_page(world, name):
    client = world.client(name)
    for path in PAGES:
        answer = client.get(world.here + path, headers=HTML)
        assert answer.status_code == 200, (path, answer.text[:300])
        assert "<b>waves</b>" not in answer.text, path
        assert "<i>rain</i>" not in answer.text, path
        assert not re.search(r"<script(?![^>]*(src=|application/json))", answer.text), path
        assert not re.search(r"\s(style|on\w+)=", answer.text), path


def test_a_viewer_is_offered_no_change(world):
    viewer = world.client("vera")
    for path in PAGES:
        text = viewer.get(world.here + path, headers=HTML).text
        assert set(re.findall(r'data-send="([^"]+)"', text)) <= {"/sign-out"}, path


@pytest.mark.parametrize(("name", "status"), [("ben", 404), ("eve", 404)])
def test_others_do_not_learn_that_the_study_exists(world, name, status):
    client = world.client(name)
    for path in PAGES:
        assert client.get(world.here + path, headers=HTML).status_code == status, path


def test_anonymous_visitors_are_asked_to_sign_in(world):
    client = world.client()
    for path in ["/studies", "/account", *(world.here + path for path in PAGES)]:
        answer = client.get(path, headers=HTML, follow_redirects=False)
        assert answer.status_code == 303, path
        assert answer.headers["location"].startswith("/sign-in"), path


def test_the_list_and_the_account(world, ada):
    assert "Winds &amp; &lt;b&gt;waves" in ada.get("/studies").text
    assert "Another study" not in ada.get("/studies").text
    assert ada.get("/account").status_code == 200
    assert "No study yet" in world.client("ben").get("/studies").text


def test_an_empty_study_says_what_to_do_next(world):
    eve = world.client("eve")
    for tab in TABS:
        answer = eve.get(f"/studies/{world.other}/{tab}".rstrip("/"), headers=HTML)
        assert answer.status_code == 200, tab
        if tab != "annotation":
            assert 'class="empty"' in answer.text, tab


def test_unknown_places(world, ada):
    for path in ("/topic?query_id=none", "/document?doc_id=none", "/image?doc_id=d1", "/nothing"):
        assert ada.get(world.here + path, headers=HTML).status_code == 404, path
    assert ada.get(world.here + "/adjudication?pair=99999").status_code == 404


@pytest.mark.parametrize("kind", ["agreement", "aggregate", "evaluate", "trust"])
def test_what_a_job_found_is_shown(world, ada, kind):
    settings = {"permutations": 5} if kind == "trust" else {}
    settings |= {"bootstrap": 10} if kind == "agreement" else {}
    with world.store.writing() as session:
        submit(session, world.study, kind, settings)
    assert "data-job" in ada.get(f"{world.here}/{kind}").text
    run_pending(world.store)
    answer = ada.get(f"{world.here}/{kind}", headers=HTML)
    assert answer.status_code == 200
    assert "data-job" not in answer.text
    assert "Venire 0." in answer.text, answer.text[-3000:]
    assert world.users["ben"] not in answer.text
    assert "style-src 'self' 'unsafe-inline'" in answer.headers["content-security-policy"]


def test_the_charts_come_from_the_installed_package(world, ada):
    answer = ada.get("/static-plotly/plotly.min.js")
    assert answer.status_code == 200
    assert len(answer.content) > 1_000_000


def test_what_a_judge_could_read_stays_harmless(world, ada):
    evil = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
    ada.patch(world.api, json={"name": evil, "instructions": evil})
    ada.post(f"{world.api}/campaigns", json={"name": evil})
    ada.post(f"{world.api}/annotators/{world.users['ben']}/pause",
             json={"paused": True, "reason": evil})  # fmt: skip
    for path in PAGES:
        text = ada.get(world.here + path, headers=HTML).text
        assert "<script>alert" not in text, path
        assert "<img src=x" not in text, path
