"""Who may do what: every route of the API, for everybody who may not."""

import re

import pytest

OPEN_TO_ALL = {"/api/studies", "/api/studies/import", "/api/instructions", "/api/tokens",
               "/api/tokens/{token_id}", "/api/account/password"}  # fmt: skip


def routes(world):
    """Method and path of every route of the API, with ids that exist."""
    ids = {
        "study_id": world.study,
        "campaign_id": world.campaign,
        "batch_id": world.batches[0],
        "annotator_id": world.users["ben"],
        "gold_id": "1",
        "kind": "topics",
    }
    for path, methods in world.app.openapi()["paths"].items():
        filled = re.sub(r"\{(\w+)\}", lambda found: ids.get(found[1], "none"), path)
        for method in methods:
            yield method.upper(), path, filled


def ask(client, method, path, **more):
    body = {} if method in ("GET", "DELETE") else {"json": {}}
    return client.request(method, path, **body, **more)


def test_nobody_without_an_account(world):
    client = world.client()
    for method, path, filled in routes(world):
        if path.startswith("/api/"):
            assert ask(client, method, filled).status_code == 401, (method, path)


@pytest.mark.parametrize("name", ["ben", "eve"])
def test_annotators_and_owners_of_others_do_not_see_the_study(world, name):
    client = world.client(name)
    for method, path, filled in routes(world):
        if "{study_id}" in path:
            assert ask(client, method, filled).status_code == 404, (method, path)


def test_viewers_look_and_do_not_change(world):
    client = world.client("vera")
    looked = 0
    for method, path, filled in routes(world):
        if "{study_id}" not in path or path.endswith("/pool/preview"):
            continue
        status = ask(client, method, filled).status_code
        if method == "GET":
            looked += status == 200
            assert status in (200, 403, 404, 422), (method, path)
        else:
            assert status == 403, (method, path)
    assert looked > 10


def test_a_write_from_another_site_is_refused(world, ada):
    for method, path, filled in routes(world):
        if method == "GET":
            continue
        for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example"}):
            assert ask(ada, method, filled, headers=headers).status_code == 403, (method, path)


def test_what_is_open_to_all_is_listed_here(world):
    found = {path for _, path, _ in routes(world) if path.startswith("/api/")}
    assert {path for path in found if "{study_id}" not in path} == OPEN_TO_ALL


def test_every_route_has_a_tag_words_and_an_example(world):
    for path, methods in world.app.openapi()["paths"].items():
        for method, route in methods.items():
            assert route["tags"], path
            assert route["description"], path
            content = route["responses"]["200"].get("content", {})
            if "application/json" in content and not path.endswith(("/file", "/{name}", "/folder")):
                assert "example" in content["application/json"], (method, path)
