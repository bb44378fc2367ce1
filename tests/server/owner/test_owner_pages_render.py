"""Every owner page renders for those who may see it, and for nobody else."""

import re

import pytest

from venire.server.jobs.queue import submit_job
from venire.server.jobs.worker import run_pending
from venire.server.studies.files import put_file
from venire.server.web.pages.common import TABS
from venire.tables.qrels import Qrels

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
    assert "No studies yet" in world.client("ben").get("/studies").text


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
        submit_job(session, world.study, kind, settings)
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


CROWD = {
    "repeatability": {"groups": ["Wave 1", "qrels:expert"], "measures": ["AP"], "permutations": 5},
    "annotators": {"measures": ["AP", "P@10"], "most": 2, "draws": 10},
    "next-best": {"budget": 2},
    "forecast": {"grades": "qrels:expert", "replays": 2},
}


@pytest.fixture
def crowd(world):
    """The four jobs of the Crowd page, done."""
    # Annotators who gave one label to all told nothing, nor would another judgment of theirs.
    for name in ("ben", "chi") * 3:
        world.judge(name, lambda pair: 2 * (pair % 2))
    grades = {query: {f"d{i}": i % 2 for i in range(6)} | {"g&1": 1} for query in ("q1", "q/2")}
    with world.store.writing() as session:
        # Of every document: which of them the annotators were given is chance.
        put_file(session, world.study, "qrels", "expert", Qrels.from_dict(grades).frame, [])
        for kind, settings in CROWD.items():
            submit_job(session, world.study, kind, settings)
    run_pending(world.store)
    return {one["kind"]: one for one in world.client("ada").get(f"{world.api}/jobs").json()}


def test_the_crowd_page_shows_what_each_job_found(world, ada, crowd):
    assert {one["state"] for one in crowd.values()} == {"done"}, crowd
    for client in (ada, world.client("vera")):
        text = client.get(f"{world.here}/crowd", headers=HTML).text
        assert "data-job" not in text
        assert text.count("data-chart") == 4
        assert text.count("</caption>") >= 8
        assert "Swaps that matter" in text
        assert re.search(r'<li data-code="[a-z-]+"><strong>AP:</strong>', text)
        assert "for a tau of 0.9" in text
        assert 'class="empty"' not in text
        assert world.users["ben"] not in text
        # What the designs were played with, by the defaults of a crowd; whole numbers are whole.
        assert "10% of the batches are spam, and the other labels are correct in 80%." in text
        assert "A judgment takes 15 seconds and costs 0.02, plus a platform fee of 20%." in text
        assert (
            "pool depth 10, judgments per pair 3, documents per batch 10, gold per batch 2" in text
        )
        designs = text[text.index('aria-label="Designs"') :].partition("</table>")[0]
        forecast = crowd["forecast"]["result"]
        row = forecast["rows"][0]
        # What to take is said once, before the table.
        assert text.count(forecast["summary"]) == 1
        assert text.index(forecast["summary"]) < text.index('aria-label="Designs"')
        assert "Tau low</th>" not in designs
        assert "Qrels expert rank" in text
        assert f'data-value="{row["pairs"]}">{row["pairs"]}<' in designs
        assert f">{row['judgments']:,.0f}<" in designs
        assert ".000<" not in designs.partition("Tau")[0]
        # Gains can be told apart.
        pairs = text[text.index('aria-label="Pairs to judge next"') :].partition("</table>")[0]
        assert "0.000000" not in pairs
        assert re.search(r">\d\.\d\de-\d\d<", pairs)
        # No price, no column of costs.
        judges = text[text.index("Each measure by judgments per pair, with") :].partition(
            "</table>"
        )[0]
        assert ">cost<" not in judges
        assert not re.search(r"\s(style|on\w+)=", text)
        ids = re.findall(r'\sid="([^"]+)"', text)
        assert len(ids) == len(set(ids))
    assert 'data-send="/api' not in text


def test_more_judgments_are_asked_for_once(world, ada, crowd):
    form = {"job_id": crowd["next-best"]["job_id"], "campaign_id": world.campaign}
    path = f"{world.api}/more-judgments"
    assert world.client("vera").post(path, json=form).status_code == 403
    assert world.client("ben").post(path, json=form).status_code == 404
    before = ada.get(f"{world.api}/campaigns").json()[0]["asked"]
    other = ada.post(f"{world.api}/campaigns", json={"name": "Wave 2"}).json()["campaign_id"]
    ada.post(f"{world.api}/campaigns/{other}/open")
    ada.post(f"{world.api}/campaigns/{other}/close")
    assert ada.post(path, json={**form, "campaign_id": other}).status_code == 409
    assert ada.post(path, json=form).json() == {"asked": 2}
    assert ada.get(f"{world.api}/campaigns").json()[0]["asked"] == before + 2
    answer = ada.post(path, json=form)
    assert answer.status_code == 409
    assert "already requested" in answer.json()["error"]
    text = ada.get(f"{world.here}/crowd").text
    assert "2 of these 2 judgments were requested" in text
    assert "more-judgments" not in text
    wrong = {**form, "job_id": crowd["forecast"]["job_id"]}
    assert ada.post(path, json=wrong).status_code == 404


def test_a_forecast_is_kept_and_compared(world, ada, crowd):
    path = f"{world.api}/forecasts"
    form = {"job_id": crowd["forecast"]["job_id"], "campaign_id": world.campaign, "design": 1}
    assert world.client("vera").post(path, json=form).status_code == 403
    beside = f"{world.api}/campaigns/{world.campaign}/forecast"
    assert ada.get(beside).status_code == 404
    assert ada.post(path, json={**form, "design": 3}).status_code == 404
    assert ada.post(path, json=form).json() == {"kept": True}
    rows = {row["what"]: row for row in ada.get(beside).json()}
    assert rows["judgments"]["expected"] == crowd["forecast"]["result"]["rows"][1]["judgments"]
    # All 13 pairs by two annotators.
    assert rows["judgments"]["so_far"] == 26
    text = ada.get(f"{world.here}/crowd").text
    assert "Forecast and actual" in text
    row = crowd["forecast"]["result"]["rows"][1]
    design = ", ".join(
        f"{label} {row[name]}"
        for name, label in (
            ("depth", "pool depth"),
            ("overlap", "judgments per pair"),
            ("batch_size", "documents per batch"),
            ("gold_size", "gold per batch"),
            ("gold_errors", "gold errors allowed"),
        )
    )
    assert re.search(
        rf'<p class="notice good" role="status">Saved for Wave 1, [^<]*: {design}', text
    )


def test_what_is_undefined_says_so_in_one_word():
    from venire.report.page import cell as in_a_report
    from venire.server.web.rendering import format_cell

    assert format_cell(None, 3) == in_a_report(None, 3) == "undefined"


def test_designs_are_whole_numbers(ada, world):
    for designs in ({"overlap": [1.5]}, {"overlap": ["x"]}, {"overlap": []}, {"width": [1]}):
        body = {"kind": "forecast", "settings": {"designs": designs}}
        answer = ada.post(f"{world.api}/jobs", json=body)
        assert answer.status_code == 422, designs
        assert "lists of whole numbers" in answer.json()["error"]
