"""The kinds of jobs on a small study, against the functions they call."""

import io

import polars as pl
import pytest

from studies_for_tests import judge_batch, make_study
from venire import plugins
from venire.aggregation.dawid_skene import DawidSkene
from venire.agreement.summary import measure_agreement
from venire.errors import BadSetting, UnknownName
from venire.evaluation.score import score_runs as score
from venire.reliability.summary import assess_ranking as trust_of
from venire.server.jobs import queue
from venire.server.jobs.aggregate import AggregateJob
from venire.server.jobs.agreement import AgreementJob
from venire.server.jobs.evaluate import EvaluateJob
from venire.server.jobs.parts import read_part
from venire.server.jobs.trust import TrustJob
from venire.server.jobs.worker import run_pending
from venire.server.studies import grades, judgments
from venire.server.studies.adjudication import list_disagreements
from venire.server.studies.files import put_file
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs

KINDS = {
    "aggregate": AggregateJob,
    "agreement": AgreementJob,
    "evaluate": EvaluateJob,
    "trust": TrustJob,
}


@pytest.fixture
def study(store, monkeypatch):
    monkeypatch.setitem(plugins._registered, "job", dict(KINDS))
    study, campaign, people = make_study(store, topics=2, documents=10, gold=2)
    for who, person in enumerate(people):
        for _ in range(2):
            judge_batch(store, campaign, person, lambda pair, who=who: (pair + who // 2) % 3)
    with store.writing() as session:
        for name, step in (("up", 1.0), ("down", -1.0)):
            runs = Runs.from_dict(
                {f"q{t}": {f"d{i}": step * i for i in range(10)} for t in range(2)}, run_id=name
            )
            put_file(session, study, "run", name, runs.frame, ())
        old = Qrels.from_dict({f"q{t}": {f"d{i}": i % 3 for i in range(10)} for t in range(2)})
        put_file(session, study, "qrels", "old", old.frame, ())
    return study


def do(store, study, kind, **settings):
    job = store.write(lambda session: queue.submit_job(session, study, kind, settings))
    assert run_pending(store) == 1
    with store.reading() as session:
        found = queue.get_job(session, job)
        assert found.state == "done", found.message
        return job, found.result


def kept(store, job, name):
    with store.reading() as session:
        return pl.read_parquet(io.BytesIO(read_part(session, job, name)))


def test_aggregate_keeps_what_the_model_says(store, study):
    job, result = do(store, study, "aggregate", model="dawid-skene", seed=3)
    with store.reading() as session:
        table = judgments.read_judgments(session, study)
        found = grades.read_grades(session, study, f"job:{job}")
        rows, total = list_disagreements(session, study, job_id=job)
    posterior = DawidSkene().fit(table, seed=3)
    assert result["rows"][0]["items"] == posterior.items.height == 20
    assert result["seed"] == 3
    assert kept(store, job, "items.parquet").equals(posterior.frame)
    assert found.to_dict() == posterior.qrels().to_dict()
    assert set(kept(store, job, "confusion.parquet").columns) >= {"annotator_id", "probability"}
    assert total > 0
    assert all(row["split"] is not None for row in rows)


def test_aggregate_can_hold_gold_fixed(store, study):
    job, _ = do(store, study, "aggregate", model="dawid-skene", use_gold=True)
    items = kept(store, job, "items.parquet")
    gold = items.filter(pl.col("doc_id").str.starts_with("g"))
    assert gold.height
    assert gold["sd"].max() == 0


def test_evaluate_under_each_kind_of_grades(store, study):
    job, _ = do(store, study, "aggregate", model="majority")
    for source in ("majority", "adjudicated", "qrels:old", f"job:{job}"):
        run, result = do(store, study, "evaluate", grades=source, measures=["AP", "nDCG@10"])
        with store.reading() as session:
            qrels = grades.read_grades(session, study, source)
            from venire.server.studies.files import read_runs

            wanted = score(qrels, read_runs(session, study), ["AP", "nDCG@10"])
        assert result["rows"] == wanted.frame.to_dicts()
        assert kept(store, run, "by_topic.parquet").height == 4


def test_trust_keeps_its_page(store, study):
    job, result = do(store, study, "trust", grades="qrels:old", permutations=50, judges=False)
    with store.reading() as session:
        from venire.server.studies.files import read_runs

        wanted = trust_of(
            grades.read_grades(session, study, "qrels:old"),
            read_runs(session, study),
            permutations=50,
        )
        page = read_part(session, job, "report.html").decode()
    assert [row["verdict"] for row in result["rows"]] == [row["verdict"] for row in wanted.rows]
    assert "How far this ranking can be trusted" in page


def test_agreement_is_that_of_the_judgments_that_count(store, study):
    job, result = do(store, study, "agreement", bootstrap=20, seed=5)
    with store.reading() as session:
        wanted = measure_agreement(judgments.read_judgments(session, study), bootstrap=20, seed=5)
    assert result["sentence"] == wanted.sentence
    assert [row["value"] for row in result["rows"]] == [row["value"] for row in wanted.rows]
    assert kept(store, job, "annotators.parquet").height == 3


def test_what_cannot_be_done_is_refused_before_it_waits(store, study):
    def ask(kind, **settings):
        return store.write(lambda session: queue.submit_job(session, study, kind, settings))

    with pytest.raises(UnknownName, match="Did you mean 'dawid-skene'"):
        ask("aggregate", model="dawid-sken")
    with pytest.raises(UnknownName, match="Did you mean 'model'"):
        ask("aggregate", modle="majority")
    with pytest.raises(
        BadSetting, match="`seed` must be a whole number between 0 and 2,147,483,647"
    ):
        ask("aggregate", seed="x")
    with pytest.raises(
        BadSetting,
        match=r"`grades` must be a source of grades \(got 'mean'\)\. Choose from majority,",
    ):
        ask("evaluate", grades="mean")
    with pytest.raises((BadSetting, UnknownName)):
        ask("evaluate", measures=["XYZ"])
    with pytest.raises(UnknownName):
        ask("agreement", level="nominal")


def test_a_job_with_nothing_to_do_fails_in_words(store, monkeypatch):
    monkeypatch.setitem(plugins._registered, "job", dict(KINDS))
    study, *_ = make_study(store)
    job = store.write(lambda session: queue.submit_job(session, study, "aggregate", {}))
    run_pending(store)
    with store.reading() as session:
        found = queue.get_job(session, job)
    assert (found.state, found.message) == (
        "failed",
        "No judgment counts yet. Wait until a batch is accepted.",
    )
