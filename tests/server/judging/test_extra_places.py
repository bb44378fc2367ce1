"""More judgments for chosen documents; forecasts beside what happened."""

import pytest
from sqlalchemy import select

from studies_for_tests import judge_batch, make_study
from venire.errors import NotFound
from venire.server.store.judging import Task
from venire.server.studies.extra_judgments import raise_overlap
from venire.server.studies.forecasts import compare_forecast, forecast_of, save_forecast
from venire.server.studies.tasks import sync_study


def places(store, wave):
    with store.reading() as session:
        found = session.scalars(select(Task.overlap).where(Task.campaign_id == wave))
        return sorted(found)


def test_chosen_documents_get_one_place_more_and_keep_it(store):
    study, wave, _ = make_study(store, topics=1, documents=4, campaign={"overlap": 2})
    pairs = [("q0", "d0"), ("q0", "d1"), ("q0", "g0"), ("q0", "nothing")]
    assert store.write(lambda s: raise_overlap(s, wave, pairs)) == 2
    assert places(store, wave)[-4:] == [2, 2, 3, 3]
    store.write(lambda s: sync_study(s, study))
    assert places(store, wave)[-4:] == [2, 2, 3, 3]
    assert store.write(lambda s: raise_overlap(s, wave, [("q0", "d0")])) == 1
    assert places(store, wave)[-4:] == [2, 2, 3, 4]
    assert store.write(lambda s: raise_overlap(s, wave, [("q0", "g0")])) == 0


def test_a_forecast_is_kept_and_compared(store):
    _, wave, people = make_study(store, documents=10, campaign={"batch_size": 4})
    with pytest.raises(NotFound), store.reading() as session:
        compare_forecast(session, wave)
    store.write(lambda s: save_forecast(s, wave, {"judgments": 1.0, "rejected": 0.0}))
    store.write(
        lambda s: save_forecast(s, wave, {"judgments": 70.0, "work_hours": 0.1, "rejected": 0.2})
    )
    judge_batch(store, wave, people[0])
    judge_batch(store, wave, people[1], gold=False)
    with store.reading() as session:
        assert forecast_of(session, wave)["judgments"] == 70.0
        rows = {row["what"]: row for row in compare_forecast(session, wave)}
    assert rows["judgments"] == {"what": "judgments", "expected": 70.0, "so_far": 12}
    assert rows["rejected"]["so_far"] == 0.5
    assert rows["work_hours"]["so_far"] == pytest.approx(12 * 3 / 3600)
