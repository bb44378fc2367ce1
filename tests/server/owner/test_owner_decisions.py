"""The pages on trust, aggregation and annotators begin with what to do, and give its evidence."""

import html
import shutil

import polars as pl
import pytest
from owner_world import World

from venire.server.jobs.queue import submit_job
from venire.server.jobs.work import to_parquet
from venire.server.jobs.worker import run_pending
from venire.server.store.work import Job, JobPart

HTML = {"accept": "text/html"}


@pytest.fixture(scope="module")
def finished(made, tmp_path_factory):
    """A copy of the study in which the jobs ``trust`` and ``aggregate`` are done."""
    folder = tmp_path_factory.mktemp("decisions")
    shutil.copy(made[0] / "venire.db", folder / "venire.db")
    world = World(folder, made[1])
    for name in ("ben", "chi") * 3:
        world.judge(name, lambda pair: 2 * (pair % 2))
    with world.store.writing() as session:
        submit_job(session, world.study, "trust", {"permutations": 5})
        submit_job(session, world.study, "aggregate", {"model": "ordinal-mixture"})
    run_pending(world.store)
    world.store.close()
    return folder


@pytest.fixture
def world(made, finished, tmp_path):
    shutil.copy(finished / "venire.db", tmp_path / "venire.db")
    copied = World(tmp_path, made[1])
    yield copied
    copied.store.close()


@pytest.fixture
def done(world, ada):
    """The jobs by their kind."""
    return {job["kind"]: job for job in ada.get(f"{world.api}/jobs").json()}


def replace_part(world, job_id, name, frame):
    with world.store.writing() as session:
        session.merge(JobPart(job_id=job_id, name=f"{name}.parquet", content=to_parquet(frame)))


def list_downloads(text):
    return [link.partition('"')[0] for link in text.split('download href="')[1:]]


def test_the_trust_page_begins_with_the_decision(world, ada, done):
    decision = done["trust"]["result"]["decision"]
    text = html.unescape(ada.get(f"{world.here}/trust", headers=HTML).text)
    steps = [f"<li>{step[0].upper()}{step[1:]}" for step in decision["steps"]]
    parts = [decision["sentence"], decision["holds"], "What to do next", *steps, "<h2>Why</h2>"]
    parts += ["<h2>The order, and what is certain of it</h2>", "Clearly better than", "data-chart"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    for address in list_downloads(text):
        answer = ada.get(address)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/csv")
    order = ada.get(f"{world.api}/jobs/{done['trust']['job_id']}/parts/order.parquet?format=json")
    assert {row["run_id"] for row in order.json()} == {"good", "poor"}


def test_the_trust_page_offers_pairs_and_panels(world, ada, done):
    job_id = done["trust"]["job_id"]
    pairs = pl.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "reason": ["not judged"]})
    replace_part(world, job_id, "pairs_to_judge", pairs)
    text = ada.get(f"{world.here}/trust", headers=HTML).text
    names = [address.rpartition("/")[2] for address in list_downloads(text)]
    assert "pairs_to_judge.parquet?format=csv" in names
    assert "panels.parquet?format=csv" in names


def test_the_aggregate_page_begins_with_what_to_do(world, ada, done):
    steps = done["aggregate"]["result"]["decision"]
    text = html.unescape(ada.get(f"{world.here}/aggregate", headers=HTML).text)
    places = [text.index(f"{step[1:]}.") for step in steps]
    places += [text.index("<h2>The fit</h2>"), text.index("<h2>Least certain pairs</h2>")]
    assert places == sorted(places)
    pairs = text[text.index('aria-label="Pairs"') :].partition("</table>")[0]
    assert pairs.index(">Topic<") < pairs.index(">Most probable grade<") < pairs.index(">Estimate<")
    assert "/document?doc_id=d" in pairs


def test_annotators_to_exclude_are_marked_with_the_evidence(world, ada, done):
    job_id, ben, chi = done["aggregate"]["job_id"], world.users["ben"], world.users["chi"]
    people = pl.DataFrame({
        "annotator_id": [ben, chi], "judgments": [30, 30], "spamminess": [0.91, 0.05],
        "spamminess_low": [0.77, 0.0], "spamminess_high": [0.98, 0.15], "exclude": [True, False],
    })  # fmt: skip
    pairs = pl.DataFrame({"annotator_a": [ben], "annotator_b": [chi], "shared": [28],
                          "agreement": [1.0], "expected": [0.64], "p_value": [0.0001]})  # fmt: skip
    # Chance decides what the two were given, and so what the fit says of them.
    replace_part(world, job_id, "annotators", people.with_columns(exclude=pl.lit(False)))
    assert "Exclude</span>" not in ada.get(f"{world.here}/annotators", headers=HTML).text
    replace_part(world, job_id, "annotators", people)
    replace_part(world, job_id, "agreeing_pairs", pairs)
    for page in ("annotators", "aggregate"):
        text = ada.get(f"{world.here}/{page}", headers=HTML).text
        assert "0.91" in text
        assert "0.77" in text
        assert "0.640" in text
        assert "spamminess SD" not in text
        assert f">{ben}<" not in text
    text = ada.get(f"{world.here}/annotators", headers=HTML).text
    assert text.count("Exclude</span>") == 1
    assert "Annotators who agree too much" in text


def test_results_of_earlier_versions_are_shown(world, ada, done):
    with world.store.writing() as session:
        for job in done.values():
            stored = session.get(Job, job["job_id"])
            stored.result = {k: v for k, v in stored.result.items() if k != "decision"}
            for name in ("order", "panels", "pairs_to_judge", "agreeing_pairs"):
                part = session.get(JobPart, (job["job_id"], f"{name}.parquet"))
                if part is not None:
                    session.delete(part)
    for page in ("trust", "aggregate", "annotators"):
        assert ada.get(f"{world.here}/{page}", headers=HTML).status_code == 200
