"""Jobs on campaigns: repeatability, annotators, forecast, next best."""

import pytest

from studies_for_tests import judge_batch, make_study
from venire import Runs
from venire.errors import BadSetting, NotFound
from venire.progress import silent
from venire.server.jobs import annotators, campaign, repeatability
from venire.server.jobs.queue import Work, register, submit
from venire.server.store.work import Job, JobPart
from venire.server.studies.campaigns import close_campaign, create_campaign, open_campaign
from venire.server.studies.studies import put_file

KINDS = {
    "repeatability": repeatability.run,
    "annotators": annotators.run,
    "forecast": campaign.run_forecast,
    "next-best": campaign.run_next,
}


@pytest.fixture
def study(store):
    for name, function in KINDS.items():
        register(name, function)
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
    job_id = store.write(lambda session: submit(session, study_id, kind, settings))
    with store.reading() as session:
        job = session.get(Job, job_id)
        work = Work(job_id, study_id, kind, job.settings, "w")
    with store.writing() as session:
        session.get(Job, job_id).worker = "w"
        session.get(Job, job_id).state = "running"
    found = KINDS[kind](store, work, silent, lambda: False)
    with store.reading() as session:
        parts = {
            name for name in ("report.html", "pairs.parquet")
            if session.get(JobPart, (job_id, name)) is not None
        }  # fmt: skip
    return found, parts


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
    with pytest.raises(BadSetting, match="two groups"):
        do(store, made, "repeatability", {"groups": ["wave 1"]})


def test_the_other_jobs(store, study):
    made, wave, _ = study
    found, parts = do(store, made, "annotators", {"most": 3, "draws": 20})
    assert {row["judges"] for row in found["rows"]} == {1, 2, 3}
    assert parts == {"report.html"}
    found, parts = do(store, made, "forecast", {"replays": 2, "pilot": wave})
    assert [row["overlap"] for row in found["rows"]] == [1, 3, 5]
    assert parts == {"report.html"}
    found, parts = do(store, made, "next-best", {"campaign": wave, "budget": 3})
    # Both annotators agree on every pair: nothing more is expected of another judgment.
    assert found["rows"] == []
    assert found["notes"][-1] == (
        "only 0 pairs can be expected to change anything by another judgment; none is asked for of "
        "the other 16"
    )
    assert parts == {"pairs.parquet"}
    with pytest.raises(BadSetting, match="designs"):
        do(store, made, "forecast", {"designs": {"width": [1]}})
    with pytest.raises(BadSetting, match="by is one of"):
        do(store, made, "next-best", {"by": "luck"})
