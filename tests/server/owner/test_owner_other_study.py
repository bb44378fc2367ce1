"""Ids of one study, sent with the id of another, reach nothing; annotators reach no page."""

import re

import pytest

from venire.server.jobs import queue
from venire.server.judging.next_batch import open_next_batch
from venire.server.store.base import now
from venire.server.store.work import Decision, Export, Job, JobPart
from venire.server.studies import invitations
from venire.server.studies.exports import _describe_grades


@pytest.fixture
def ids(world):
    """One of everything in the study."""
    with world.store.writing() as session:
        invitations.create_invitation(session, world.study, "viewer")
        invitation = invitations.list_invitations(session, world.study)[0].id
        job = Job(study_id=world.study, kind="aggregate", settings={"seed": 7}, state="done")
        job.result = {"model": "secret"}
        made = Export(study_id=world.study, kind="qrels", settings={}, manifest={})
        session.add_all([job, made])
        session.flush()
        session.add(JobPart(job_id=job.id, name="items.parquet", content=b"x"))
        folder = world.app.state.media.parent / "exports"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{made.id}.zip").write_bytes(b"zip")
        return {
            "campaign_id": world.campaign,
            "batch_id": world.batches[0],
            "annotator_id": world.users["ben"],
            "user_id": world.users["ben"],
            "gold_id": "1",
            "invitation_id": invitation,
            "job_id": job.id,
            "name": "items.parquet",
            "export_id": made.id,
            "kind": "topics",
        }


BODIES = {
    "/gold/{gold_id}": {"active": False},
    "/campaigns/{campaign_id}": {"name": "taken"},
    "/annotators/{annotator_id}/pause": {"paused": True},
    "/members/{user_id}": {"role": "viewer"},
    "/batches/{batch_id}/decision": {"accept": False, "reason": "mine"},
    "/batches/{batch_id}/payment": {"payment": "refused"},
}


def test_ids_of_another_study_reach_nothing(world, ids):
    eve = world.client("eve")
    tried = 0
    with world.store.reading() as session:
        before = session.query(Decision).count()
    for path, methods in world.app.openapi()["paths"].items():
        inner = path.removeprefix("/api/studies/{study_id}")
        if inner == path or not re.search(r"\{(?!kind)\w+\}", inner):
            continue
        filled = re.sub(r"\{(\w+)\}", lambda found: ids[found[1]], inner)
        for method in methods:
            body = {} if method in ("get", "delete") else {"json": BODIES.get(inner, {})}
            answer = eve.request(method.upper(), f"/api/studies/{world.other}{filled}", **body)
            assert answer.status_code == 404, (method, path, answer.text)
            tried += 1
    assert tried >= 10
    with world.store.reading() as session:
        assert session.query(Decision).count() == before


def test_names_and_ids_in_queries_and_bodies_reach_nothing(world, ids):
    eve = world.client("eve")
    api, here = f"/api/studies/{world.other}", f"/studies/{world.other}"
    for path in (
        f"{api}/adjudication?job_id={ids['job_id']}",
        f"{api}/pair?query_id=q1&doc_id=d1",
        f"{api}/history?query_id=q1",
        f"{here}/adjudication?pair=1",
        f"{here}/topic?query_id=q1",
        f"{here}/document?doc_id=d1",
        f"{here}/image?doc_id=d1",
    ):
        assert eve.get(path).status_code == 404, path
    assert eve.get(f"{api}/batches?annotator_id={ids['annotator_id']}").json() == []
    assert "Ben" not in eve.get(f"{here}/annotators?annotator={ids['annotator_id']}").text
    for path, body in (
        ("/invitations", {"campaign_id": ids["campaign_id"]}),
        ("/adjudication", {"query_id": "q1", "doc_id": "d1", "grade": 1}),
        ("/exports", {"kinds": ["qrels"], "grades": f"job:{ids['job_id']}"}),
        ("/pool/preview", {"strategy": "qrels", "settings": {"qrels": "old"}}),
        ("/pool/preview", {"strategy": "depth", "settings": {"runs": ["good"]}}),
    ):
        answer = eve.post(api + path, json=body)
        assert answer.status_code in (404, 422), (path, answer.text)
    with world.store.reading() as session:
        said = _describe_grades(session, world.other, f"job:{ids['job_id']}")
        assert said == {"source": f"job:{ids['job_id']}"}
        assert _describe_grades(session, world.study, f"job:{ids['job_id']}")["model"] == "secret"
    aggregate = eve.get(f"{here}/aggregate?job={ids['job_id']}").text
    assert "secret" not in aggregate


def every_page(world):
    """Every address that is no part of the API, also those that the description leaves out."""
    from fastapi.routing import APIRoute

    found = []

    def walk(routes, prefix=""):
        for route in routes:
            if isinstance(route, APIRoute):
                found.extend((method, route.path) for method in route.methods)
            elif hasattr(route, "original_router"):
                walk(route.original_router.routes)

    walk(world.app.router.routes)
    return {one for one in found if not one[1].startswith("/api/")}


def test_an_annotator_reaches_no_owner_page_and_no_other_batch(world, ids):
    pages = every_page(world)
    assert len(pages) > 25
    ben = world.client("ben")
    with world.store.writing() as session:
        batch = open_next_batch(session, world.campaign, world.users["chi"], now()).batch_id
    reached = set()
    for method, path in pages:
        if not path.startswith(("/studies/", "/judge/")):
            continue
        values = {"study_id": world.study, **ids, "batch_id": batch or world.batches[1]}
        filled = re.sub(r"\{(\w+)\}", lambda found, v=values: v.get(found[1], "none"), path)
        body = {"json": {"events": []}} if method == "POST" else {}
        more = "?query_id=q1&doc_id=d1"
        status = ben.request(method, filled + more, **body).status_code
        if status != 404:
            reached.add((method, path, status))
    assert reached == {
        ("GET", "/judge/{campaign_id}", 200),
        ("POST", "/judge/{campaign_id}/next", 200),
    }


def test_pages_for_nobody(world):
    client = world.client()
    open_ones = set()
    for method, path in every_page(world):
        filled = re.sub(r"\{\w+\}", "none", path)
        body = {"json": {}} if method == "POST" else {}
        headers = {"accept": "application/json"}
        answer = client.request(method, filled, headers=headers, follow_redirects=False, **body)
        if answer.status_code == 200:
            open_ones.add(path)
    assert open_ones == {"/sign-in", "/sign-out", "/static-plotly/plotly.min.js"}


def test_a_job_of_another_study_is_not_stopped(world, ids):
    eve = world.client("eve")
    with world.store.writing() as session:
        waiting = queue.submit_job(session, world.study, "agreement", {})
    assert eve.post(f"/api/studies/{world.other}/jobs/{waiting}/stop").status_code == 404
    with world.store.reading() as session:
        assert session.get(Job, waiting).state == "waiting"
