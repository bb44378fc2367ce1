"""Jobs on campaigns: repeatability, annotators, forecast, next best."""

import pytest

from studies_for_tests import judge_batch, make_study
from venire import Runs, plugins
from venire.errors import BadSetting, NotFound, UnknownName
from venire.server.jobs.annotators import AnnotatorsNeededJob
from venire.server.jobs.forecast import ForecastJob
from venire.server.jobs.next_best import NextBestJob
from venire.server.jobs.parts import list_parts
from venire.server.jobs.queue import get_job, submit_job
from venire.server.jobs.repeatability import RepeatabilityJob
from venire.server.jobs.worker import run_pending
from venire.server.studies.campaigns import close_campaign, create_campaign, open_campaign
from venire.server.studies.files import put_file

KINDS = {
    "repeatability": RepeatabilityJob,
    "annotators": AnnotatorsNeededJob,
    "forecast": ForecastJob,
    "next-best": NextBestJob,
}


@pytest.fixture
def study(store, monkeypatch):
    monkeypatch.setitem(plugins._registered, "job", dict(KINDS))
    made, wave, people = make_study(
        store, documents=8, campaign={"overlap": 2, "batch_size": 8}, people=4
    )
    with store.writing() as session:
        for name, sign in (("up", 1), ("down", -1)):
            ranked = {f"q{t}": {f"d{d}": float(sign * d) for d in range(8)} for t in range(2)}
            put_file(session, made, "run", name, Runs.from_dict(ranked, run_id=name).frame, [])
    label = lambda pair: 2 * (pair % 3 == 0) + (pair % 5 == 0) * (pair % 3 != 0)  # noqa: E731
    for person in people[:2]:
        for _ in range(2):
            judge_batch(store, wave, person, label)
    with store.writing() as session:
        close_campaign(session, wave)
        second = create_campaign(
            session, made, "wave 2", {"overlap": 2, "batch_size": 8, "practice_size": 0}
        ).id
        open_campaign(session, second)
    for person in people[2:]:
        for _ in range(2):
            judge_batch(store, second, person, label)
    return made, wave, second


def do(store, study_id, kind, settings):
    job_id = store.write(lambda session: submit_job(session, study_id, kind, settings))
    run_pending(store)
    with store.reading() as session:
        job = get_job(session, job_id)
        assert job.state == "done", job.message
        parts = set(list_parts(session, job_id)) & {"report.html", "pairs.parquet"}
        return job.result, parts


def test_waves_of_a_study_are_compared(store, study):
    made, *_ = study
    found, parts = do(store, made, "repeatability", {"groups": ["wave 1", "wave 2"]})
    # The same labels in both waves.
    # Eight documents a topic: under P@10 both systems tie.
    taus = {row["measure"]: row["tau"] for row in found["rows"]}
    assert taus == {"AP": 1.0, "nDCG": 1.0, "P@10": None}
    assert [row["batches"] for row in found["rates"]] == [4, 4]
    assert parts == {"report.html"}
    with pytest.raises(NotFound, match="wave 3"):
        do(store, made, "repeatability", {"groups": ["wave 1", "wave 3"]})
    with pytest.raises(BadSetting, match="two or more groups"):
        do(store, made, "repeatability", {"groups": ["wave 1"]})


def test_the_other_jobs(store, study):
    made, wave, _ = study
    found, parts = do(store, made, "annotators", {"most": 3, "draws": 10, "measures": ["AP"]})
    assert {row["judges"] for row in found["rows"]} == {1, 2, 3}
    assert found["verdicts"]["AP"]["code"] in ("enough", "between", "at-least", "more")
    assert found["notes"][0].startswith("AP: ")
    assert parts == {"report.html"}
    found, parts = do(store, made, "forecast", {"replays": 2, "pilot": wave})
    assert [row["overlap"] for row in found["rows"]] == [1, 3, 5]
    assert parts == {"report.html"}
    found, parts = do(store, made, "next-best", {"campaign": wave, "budget": 3})
    # Both annotators agree on every pair: nothing more is expected of another judgment.
    assert found["rows"] == []
    assert found["notes"][-1] == (
        "another judgment has an expected gain for 0 pairs only; the other 16 are left out"
    )
    assert parts == {"pairs.parquet"}
    with pytest.raises(BadSetting, match="designs"):
        do(store, made, "forecast", {"designs": {"width": [1]}})
    with pytest.raises(BadSetting, match=r"`replays` must be >= 2 \(got 1\)"):
        do(store, made, "forecast", {"replays": 1})
    with pytest.raises(UnknownName, match=r"Unknown by 'luck'\. Choose from grade, ranking"):
        do(store, made, "next-best", {"by": "luck"})
