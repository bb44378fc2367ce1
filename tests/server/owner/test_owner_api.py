"""Every owner action over the JSON API: what it does, and who may not."""

import io
import json
import zipfile

import polars as pl
import pytest

from venire.server.jobs.worker import run_pending
from venire.server.studies.files import put_file
from venire.server.studies.studies import create_study


def sent(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()


def file(name, text):
    return {"file": (name, io.BytesIO(text if isinstance(text, bytes) else text.encode()))}


def test_studies_are_made_listed_and_changed(world, ada):
    made = sent(ada.post("/api/studies", json={"name": "New", "settings": {"relevant_from": 2}}))
    assert made["settings"]["relevant_from"] == 2
    assert made["study_id"] in [one["study_id"] for one in sent(ada.get("/api/studies"))]
    path = f"/api/studies/{made['study_id']}"
    changed = sent(ada.patch(path, json={"instructions": "*x*"}))
    assert (changed["name"], changed["instructions"]) == ("New", "*x*")
    changed = sent(ada.patch(path, json={"settings": {"campaign": {"overlap": 5}}}))
    assert changed["settings"]["campaign"] == {"overlap": 5}
    assert changed["settings"]["relevant_from"] == 2
    assert sent(ada.get(path))["counts"]["topics"] == 0


def test_who_may_not_make_a_study(world):
    assert world.client("ben").post("/api/studies", json={"name": "x"}).status_code == 403


def test_grades_with_judgments_stay(world, ada):
    grades = [{"value": 0, "name": "no"}, {"value": 1, "name": "yes"}]
    answer = ada.patch(world.api, json={"settings": {"grades": grades}})
    assert answer.status_code == 409


def test_a_scale_must_keep_the_grades_of_gold(world, ada):
    study = sent(ada.post("/api/studies", json={"name": "G"}))["study_id"]
    to = f"/api/studies/{study}"
    sent(ada.post(f"{to}/uploads/topics", files=file("t.tsv", "query_id\ttitle\n1\twind\n")))
    sent(ada.post(f"{to}/uploads/documents", files=file("d.tsv", "doc_id\ttext\na\tx\n")))
    sent(ada.post(f"{to}/uploads/gold", files=file("gold.qrels", "1 0 a 2\n")))

    def grades(*values):
        scale = [{"value": value, "name": str(value)} for value in values]
        return ada.patch(to, json={"settings": {"grades": scale}})

    refused = grades(0, 1)
    assert refused.status_code == 409
    assert "1 gold document with a grade" in refused.json()["error"]
    assert "scale 0, 1: 2" in refused.json()["error"]
    sent(grades(0, 1, 2, 5))
    sent(ada.post(f"{to}/uploads/gold", files=file("gold.qrels", "1 0 a 5\n")))
    sent(grades(0, 1, 5))


def test_errors_of_a_folder_name_it_as_its_owner_knows_it(world, ada):
    def error(name, content):
        answer = ada.post("/api/studies/import", files=file(name, content))
        assert answer.status_code == 422
        return answer.json()["error"]

    def zipped(**files):
        with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
            for name, text in files.items():
                archive.writestr(f"in/{name.replace('_', '.')}", text)
        return packed.getvalue()

    assert error("mine.zip", b"no zip").startswith("mine.zip: is not a valid zip archive")
    assert error("mine.zip", zipped(readme_txt="hi")).startswith("mine.zip: contains no collection")
    said = error("mine.zip", zipped(topics_tsv="id\tname\tx\n1\ta\tb\n"))
    assert said == (
        "mine.zip/topics.tsv: missing columns query_id, title (columns: id, name, x). "
        "Rename the columns in the file."
    )


def test_unknown_names_are_refused(world, ada):
    for path, body in (
        (world.api, {"nam": "x"}),
        (world.api, {"settings": {"overlap": 3}}),
        (f"{world.api}/campaigns/{world.campaign}", {"settings": {"overlp": 3}}),
    ):
        answer = ada.patch(path, json=body)
        assert answer.status_code == 422, path
        assert "Extra inputs" in answer.json()["error"]


def test_uploads_are_read_and_reported(world, ada):
    study = sent(ada.post("/api/studies", json={"name": "U"}))["study_id"]
    to = f"/api/studies/{study}/uploads"
    topics = sent(ada.post(f"{to}/topics", files=file("t.tsv", "query_id\ttitle\n1\twind\n")))
    assert (topics["rows"], topics["added"]) == (1, 1)
    again = sent(ada.post(f"{to}/topics", files=file("t.tsv", "query_id\ttitle\n1\twind\n")))
    assert (again["added"], again["unchanged"]) == (0, 1)
    lines = '{"doc_id": "a", "text": "x"}\n{"doc_id": "b", "text": "y"}\n'
    assert sent(ada.post(f"{to}/documents", files=file("d.jsonl", lines)))["added"] == 2
    run = sent(
        ada.post(f"{to}/run", files=file("bm25.run", "1 Q0 a 1 2.0 tag\n1 Q0 b 2 1.0 tag\n"))
    )
    assert (run["rows"], run["added"]) == (2, 1)
    sent(ada.post(f"{to}/qrels", files=file("old.qrels", "1 0 a 1\n")))
    gold = sent(ada.post(f"{to}/gold", files=file("gold.qrels", "1 0 b 2\n1 0 zz 0\n")))
    assert (gold["added"], gold["left_out"]) == (1, 1)
    assert "not in the study" in gold["notes"][0]
    there = sent(ada.get(f"/api/studies/{study}/files"))
    assert [(one["kind"], one["name"]) for one in there] == [("run", "bm25"), ("qrels", "old")]
    assert [one["query_id"] for one in sent(ada.get(f"/api/studies/{study}/topics"))] == ["1"]
    assert len(sent(ada.get(f"/api/studies/{study}/documents", params={"search": "b"}))) == 1


@pytest.mark.parametrize(
    ("kind", "name", "content", "words"),
    [
        ("topics", "t.exe", "x", ".tsv"),
        ("topics", "../../t.tsv", "title\nx\n", "t.tsv"),
        ("run", "x.run", "1 Q0 a\n", "x.run, line 1"),
        ("gold", "g.qrels", "q1 0 d1 9\n", "not on the scale"),
        ("qrels", "q.qrels", b"\x00\xff\x00", "q.qrels"),
    ],
)
def test_what_cannot_be_read_is_named(world, ada, kind, name, content, words):
    answer = ada.post(f"{world.api}/uploads/{kind}", files=file(name, content))
    assert answer.status_code == 422, answer.text
    assert words in answer.json()["error"]
    assert "/tmp" not in answer.json()["error"]


def archive(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, text in files.items():
            made.writestr(name, text)
    return out.getvalue()


def test_a_folder_is_imported_and_exported(world, ada):
    content = archive(
        {"topics.tsv": "query_id\ttitle\n1\twind\n", "documents.tsv": "doc_id\ttext\na\tx\n"}
    )
    made = sent(ada.post("/api/studies/import", files=file("winds.zip", content)))
    assert made["next"] == f"/studies/{made['study_id']}/data"
    assert {row["what"] for row in made["rows"]} >= {"topics.tsv", "documents.tsv"}
    again = sent(
        ada.post(f"/api/studies/{made['study_id']}/uploads/folder", files=file("a.zip", content))
    )
    assert sum(row["added"] for row in again["rows"]) == 0
    folder = ada.get(f"/api/studies/{made['study_id']}/folder")
    assert "topics.jsonl" in " ".join(zipfile.ZipFile(io.BytesIO(folder.content)).namelist())
    back = sent(ada.post("/api/studies/import", files=file("b.zip", folder.content)))
    assert sent(ada.get(f"/api/studies/{back['study_id']}"))["counts"]["documents"] == 1


def test_a_run_is_taken_out_again(world, ada):
    sent(ada.post(f"{world.api}/uploads/run", files=file("worse.run", "q1 Q0 d1 1 2.5 worse\n")))
    pairs = sent(ada.get(world.api))["counts"]["pool"]
    where = f"{world.api}/files"
    assert "worse" in {one["name"] for one in sent(ada.get(where))}
    sent(ada.delete(where, params={"kind": "run", "name": "worse"}))
    assert "worse" not in {one["name"] for one in sent(ada.get(where))}
    assert sent(ada.get(world.api))["counts"]["pool"] == pairs
    assert ada.delete(where, params={"kind": "run", "name": "worse"}).status_code == 404


def test_vectors_that_group_the_pools_stay(world, ada):
    with world.store.writing() as session:
        study = create_study(session, "Grouped", owner_id=world.users["ada"])
        study.settings = {**study.settings, "grouping": {"encoder": "mine"}}
        put_file(session, study.id, "vectors", "mine", pl.DataFrame({"doc_id": ["a"]}), ())
        api = f"/api/studies/{study.id}/files"
    answer = ada.delete(api, params={"kind": "vectors", "name": "mine"})
    assert answer.status_code == 409
    assert "Choose another grouping, then delete them." in answer.json()["error"]


def test_archives_that_mean_harm_are_refused(world, ada):
    for name in ("../evil.tsv", "/evil.tsv"):
        answer = ada.post("/api/studies/import", files=file("x.zip", archive({name: "x"})))
        assert answer.status_code == 422, name
    assert ada.post("/api/studies/import", files=file("x.zip", "no zip")).status_code == 422


def test_gold_rests_and_is_used_again(world, ada):
    (one,) = sent(ada.get(f"{world.api}/gold"))
    for active in (False, True):
        sent(ada.patch(f"{world.api}/gold/{one['gold_id']}", json={"active": active}))
        assert sent(ada.get(f"{world.api}/gold"))[0]["active"] is active
    assert ada.patch(f"{world.api}/gold/999", json={"active": True}).status_code == 404


def test_the_pool_is_previewed_and_built(world, ada):
    choice = {"strategy": "depth", "settings": {"depth": 1}}
    facts = sent(ada.post(f"{world.api}/pool/preview", json=choice))
    assert facts["pairs"] == 4  # two runs with opposite first documents, two topics
    assert sent(ada.get(f"{world.api}/pool"))["strategy"] == "all"
    built = sent(ada.post(f"{world.api}/pool", json=choice))
    assert built["pairs"] == 4
    assert built["gone_with_judgments"] > 0
    assert sent(ada.get(f"{world.api}/pool"))["strategy"] == "depth"
    bad = ada.post(f"{world.api}/pool/preview", json={"strategy": "dept"})
    assert "Did you mean 'depth'" in bad.json()["error"]


def test_campaigns_are_made_changed_opened_closed(world, ada):
    made = sent(
        ada.post(f"{world.api}/campaigns", json={"name": "W2", "settings": {"gold_size": 0}})
    )
    path = f"{world.api}/campaigns/{made['campaign_id']}"
    assert (made["state"], made["wave"]) == ("draft", 2)
    assert sent(ada.patch(path, json={"settings": {"overlap": 1}}))["settings"]["gold_size"] == 0
    assert sent(ada.post(f"{path}/open"))["state"] == "open"
    assert sent(ada.post(f"{path}/close"))["state"] == "closed"
    assert "code_done" in sent(ada.get(f"{world.api}/campaigns"))[0]
    assert "code_done" not in sent(world.client("vera").get(f"{world.api}/campaigns"))[0]
    again = ada.post(f"{world.api}/campaigns", json={"name": "W2"})
    assert again.status_code == 409


def test_an_invitation_is_shown_once_works_once_and_is_revoked(world, ada):
    link = sent(ada.post(f"{world.api}/invitations", json={"role": "annotator", "name": "Fay"}))[
        "link"
    ]
    path = link.removeprefix("http://localhost")
    guest = world.client()
    form = {"name": "Fay", "login": "fay", "password": "long enough words"}
    assert guest.post(path, json=form).status_code == 200
    assert world.client().post(path, json={**form, "login": "gus"}).status_code == 409
    assert "fay" in [one["login"] for one in sent(ada.get(f"{world.api}/members"))]
    link = sent(ada.post(f"{world.api}/invitations", json={"campaign_id": world.campaign}))["link"]
    assert "/c/" in link
    (there,) = sent(ada.get(f"{world.api}/invitations"))
    assert link.rsplit("/", 1)[1] not in json.dumps(there)
    sent(ada.delete(f"{world.api}/invitations/{there['invitation_id']}"))
    assert sent(ada.get(f"{world.api}/invitations")) == []
    assert world.client().get(link.removeprefix("http://localhost")).status_code == 404


def test_annotators_are_paused_and_resumed(world, ada):
    rows = {one["name"]: one for one in sent(ada.get(f"{world.api}/annotators"))}
    assert rows["ben"]["judgments"] == 4
    path = f"{world.api}/annotators/{world.users['ben']}/pause"
    sent(ada.post(path, json={"paused": True, "reason": "too fast"}))
    judge = world.client("ben").post(f"/judge/{world.campaign}/next")
    assert judge.status_code == 403
    sent(ada.post(path, json={"paused": False}))
    assert world.client("ben").post(f"/judge/{world.campaign}/next").status_code == 200


def test_batches_are_decided_and_paid(world, ada):
    path = f"{world.api}/batches/{world.batches[0]}"
    sent(ada.post(f"{path}/decision", json={"accept": False, "reason": "all one label"}))
    rejected = sent(ada.get(f"{world.api}/batches", params={"state": "rejected"}))
    assert [one["reason"] for one in rejected] == ["all one label"]
    assert sent(ada.post(f"{path}/decision", json={"accept": True}))["accepted"] is True
    assert sent(ada.post(f"{path}/payment", json={"payment": "approved"}))["payment"] == "approved"
    eve = world.client("eve")
    other = f"/api/studies/{world.other}/batches/{world.batches[0]}"
    assert eve.post(f"{other}/decision", json={"accept": False}).status_code == 404
    assert eve.post(f"{other}/payment", json={"payment": "refused"}).status_code == 404


def disagree(world, ada):
    """Judge on until two annotators have said different things of one pair."""
    for _ in range(4):
        if sent(ada.get(f"{world.api}/adjudication"))["total"]:
            break
        world.judge("ben", 0)
        world.judge("chi", 2)
    return sent(ada.get(f"{world.api}/adjudication"))


def test_disagreements_are_settled_and_withdrawn(world, ada):
    found = disagree(world, ada)
    row = found["rows"][0]
    pair = {"query_id": row["query_id"], "doc_id": row["doc_id"]}
    assert row["labels"] == {"0": 1, "2": 1}
    sent(ada.post(f"{world.api}/adjudication", json={**pair, "grade": 1, "reason": "half of it"}))
    assert sent(ada.get(f"{world.api}/adjudication"))["total"] == found["total"] - 1
    detail = sent(ada.get(f"{world.api}/pair", params=pair))
    assert detail["settled"] == 1
    assert len(detail["judgments"]) == 2
    happened = sent(ada.get(f"{world.api}/history", params=pair))
    assert {one["what"] for one in happened} >= {"lease", "event", "judgment", "decision"}
    sent(ada.post(f"{world.api}/adjudication", json={**pair, "grade": None}))
    assert sent(ada.get(f"{world.api}/adjudication"))["total"] == found["total"]
    bad = ada.post(f"{world.api}/adjudication", json={**pair, "grade": 7})
    assert bad.status_code == 422


def test_jobs_are_asked_for_stopped_and_their_tables_downloaded(world, ada):
    first = sent(
        ada.post(f"{world.api}/jobs", json={"kind": "aggregate", "settings": {"model": "majority"}})
    )
    second = sent(
        ada.post(f"{world.api}/jobs", json={"kind": "evaluate", "settings": {"campaign": ""}})
    )
    sent(ada.post(f"{world.api}/jobs/{second['job_id']}/stop"))
    run_pending(world.store)
    job = sent(ada.get(f"{world.api}/jobs/{first['job_id']}"))
    assert (job["state"], job["result"]["model"]) == ("done", "majority")
    assert sent(ada.get(f"{world.api}/jobs/{second['job_id']}"))["state"] == "stopped"
    table = ada.get(
        f"{world.api}/jobs/{first['job_id']}/parts/items.parquet", params={"format": "csv"}
    )
    assert table.text.splitlines()[0].startswith("query_id,doc_id,")
    assert "attachment" in table.headers["content-disposition"]
    assert ada.get(f"{world.api}/jobs/{first['job_id']}/parts/none.parquet").status_code == 404
    bad = ada.post(
        f"{world.api}/jobs", json={"kind": "aggregate", "settings": {"model": "majorty"}}
    )
    assert "Did you mean 'majority'" in bad.json()["error"]
    assert len(sent(ada.get(f"{world.api}/jobs", params={"kind": "aggregate"}))) == 1
    eve = world.client("eve")
    assert eve.get(f"/api/studies/{world.other}/jobs/{first['job_id']}").status_code == 404


def test_exports_are_made_listed_downloaded(world, ada):
    body = {"kinds": ["qrels", "raw-csv"], "grades": "majority"}
    made = sent(ada.post(f"{world.api}/exports", json=body))
    assert set(made["manifest"]["files"]) == {"study.qrels", "judgments.csv"}
    path = f"{world.api}/exports/{made['export_id']}/file"
    content = ada.get(path).content
    assert "manifest.json" in zipfile.ZipFile(io.BytesIO(content)).namelist()
    again = sent(ada.post(f"{world.api}/exports", json=body))
    assert ada.get(f"{world.api}/exports/{again['export_id']}/file").content == content
    assert len(sent(ada.get(f"{world.api}/exports"))) == 2
    assert ada.post(f"{world.api}/exports", json={"kinds": ["xls"]}).status_code == 422
    assert ada.get(f"{world.api}/exports/..%2Fvenire/file").status_code == 404
    eve = world.client("eve")
    assert (
        eve.get(f"/api/studies/{world.other}/exports/{made['export_id']}/file").status_code == 404
    )


def test_tokens_open_the_api_until_they_are_revoked(world, ada):
    made = sent(ada.post("/api/tokens", json={"name": "nightly"}))
    program = world.client()
    headers = {"Authorization": f"Bearer {made['secret']}"}
    assert sent(program.get(f"{world.api}/overview", headers=headers))["counts"]["topics"] == 2
    (there,) = sent(ada.get("/api/tokens"))
    assert "secret" not in there
    assert world.client("vera").delete(f"/api/tokens/{there['token_id']}").status_code == 404
    sent(ada.delete(f"/api/tokens/{there['token_id']}"))
    assert program.get(f"{world.api}/overview", headers=headers).status_code == 401


def test_a_new_password_signs_the_others_out(world, ada):
    elsewhere = world.client("ada")
    wrong = ada.post("/api/account/password", json={"old": "no", "new": "another long one"})
    assert wrong.status_code == 403
    sent(
        ada.post("/api/account/password", json={"old": "correct horse", "new": "another long one"})
    )
    assert elsewhere.get("/api/studies").status_code == 401
    assert ada.get("/api/studies").status_code == 200


def test_instructions_are_previewed_harmless(world, ada):
    answer = sent(ada.post("/api/instructions", json={"markdown": "**a** <script>b</script>"}))
    assert answer["html"].startswith("<p><strong>a</strong> &lt;script&gt;")
