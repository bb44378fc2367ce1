"""What an owner sees of a study, counted by hand; alarms, and how often they are wrong."""

from datetime import timedelta

import pytest

from studies_for_tests import AT, judge_batch, make_study
from venire.server.judging.next_batch import open_next_batch
from venire.server.judging.review import decide
from venire.server.store.base import now
from venire.server.studies.annotators import find_flagged, list_annotators
from venire.server.studies.campaigns import (
    close_campaign,
    create_campaign,
    get_campaign,
    open_campaign,
)
from venire.server.studies.members import set_paused
from venire.server.studies.overview import read_overview
from venire.stats.proportion import wilson


def look(store, study, at=AT):
    with store.reading() as session:
        return read_overview(session, study, at)


def kinds(found):
    return [alarm["kind"] for alarm in found["alarms"]]


def open_since(store, campaign, at):
    with store.writing() as session:
        get_campaign(session, campaign).opened_at = at


def test_places_are_counted_and_what_is_being_judged_is_not_filled(store):
    study, campaign, (ann, ben, _) = make_study(store, topics=2, documents=10, gold=4)
    # 2 topics x 14 documents, 8 of them gold: 20 documents with 3 places each.
    open_since(store, campaign, AT - timedelta(hours=4))
    judge_batch(store, campaign, ann)
    store.write(lambda session: open_next_batch(session, campaign, ben, AT))
    found = look(store, study)
    (row,) = found["campaigns"]
    assert (row["documents"], row["asked"], row["filled"], row["open"]) == (20, 60, 10, 10)
    assert row["done"] == 0
    assert sum(one["asked"] for one in found["topics"]) == 60
    assert {one["query_id"] for one in found["topics"]} == {"q0", "q1"}
    assert row["rejected"]["tries"] == 1
    pace = row["pace"]
    # 12 judgments in the 4 hours it is open; one place filled cost 12/10 judgments of 3 s.
    assert pace["judgments"] == pace["last_day"] == 12
    assert pace["per_hour"] == pytest.approx(3)
    assert pace["mean_active_seconds"] == 3
    assert pace["hours_left"] == pytest.approx(50 * 1.2 / 3)
    assert pace["work_hours_left"] == pytest.approx(50 * 1.2 * 3 / 3600)


def test_the_pace_of_a_finished_campaign_does_not_fall_with_the_clock(store):
    study, campaign, (ann, *_) = make_study(store, topics=1, documents=6, gold=2)
    open_since(store, campaign, AT - timedelta(hours=2))
    judge_batch(store, campaign, ann)
    with store.writing() as session:
        close_campaign(session, campaign)

    def pace_at(time):
        with store.reading() as session:
            return read_overview(session, study, time)["campaigns"][0]["pace"]

    first, later = pace_at(AT + timedelta(hours=1)), pace_at(AT + timedelta(days=9))
    assert first["per_hour"] == later["per_hour"] > 0
    # Counted to the last judgment, not to the hour after it.
    hours = (first["last_at"] - (AT - timedelta(hours=2))) / timedelta(hours=1)
    assert first["per_hour"] == pytest.approx(first["judgments"] / hours)


def test_nothing_is_said_of_the_time_left_before_anybody_judged(store):
    study, _, _ = make_study(store)
    pace = look(store, study)["campaigns"][0]["pace"]
    assert pace["hours_left"] is None
    assert pace["work_hours_left"] is None
    assert pace["mean_active_seconds"] is None


def test_a_full_document_counts_as_done_only_when_nobody_is_at_it(store):
    study, campaign, (ann, ben, _) = make_study(
        store, topics=1, documents=4, gold=2, campaign={"overlap": 2}
    )
    judge_batch(store, campaign, ann)
    store.write(lambda session: open_next_batch(session, campaign, ben, AT))
    row = look(store, study)["campaigns"][0]
    assert (row["filled"], row["open"], row["done"]) == (4, 4, 0)
    judge_batch(store, campaign, ben)
    found = look(store, study)
    row = found["campaigns"][0]
    assert (row["filled"], row["open"], row["done"]) == (8, 0, 4)
    assert "done" in kinds(found)


def test_a_campaign_that_stands_still_raises_an_alarm(store):
    study, campaign, (ann, *_) = make_study(store)
    open_since(store, campaign, AT)
    assert "still" not in kinds(look(store, study, AT + timedelta(hours=23)))
    assert "still" in kinds(look(store, study, AT + timedelta(hours=25)))
    judge_batch(store, campaign, ann, at=AT + timedelta(hours=20))
    assert "still" not in kinds(look(store, study, AT + timedelta(hours=43)))
    assert "still" in kinds(look(store, study, AT + timedelta(hours=45)))


def test_gold_that_has_run_out_raises_an_alarm_until_the_annotator_is_paused(store):
    study, campaign, (ann, ben, _) = make_study(store, topics=1, documents=30, gold=4)
    judge_batch(store, campaign, ann)
    assert "gold" not in kinds(look(store, study))
    judge_batch(store, campaign, ann)
    judge_batch(store, campaign, ben)
    alarms = [alarm for alarm in look(store, study)["alarms"] if alarm["kind"] == "gold"]
    assert len(alarms) == 1
    assert "p0" in alarms[0]["text"]
    store.write(lambda session: set_paused(session, study, ann, True, "rest", None))
    assert "gold" not in kinds(look(store, study))


def test_a_wave_with_more_rejections_raises_an_alarm(store):
    study, first, people = make_study(
        store, topics=2, documents=60, gold=4, people=4, campaign={"batch_size": 4}
    )
    for person in people:
        for _ in range(6):
            judge_batch(store, first, person)
    with store.writing() as session:
        close_campaign(session, first)
        second = create_campaign(session, study, "wave 2", {"practice_size": 0, "batch_size": 4}).id
        open_campaign(session, second)
    for turn in range(6):
        judge_batch(store, second, people[turn % 4], gold=turn % 2 == 0)
    found = look(store, study)
    assert [row["rejected"]["hits"] for row in found["campaigns"]] == [0, 3]
    assert "rejections" in kinds(found)


def row_of(store, study, person):
    with store.reading() as session:
        return next(row for row in list_annotators(session, study) if row["annotator_id"] == person)


def test_the_row_of_an_annotator(store):
    study, campaign, (ann, ben, cat) = make_study(
        store, topics=1, documents=20, gold=4, campaign={"gold_errors": 2}
    )
    judge_batch(store, campaign, ann, lambda pair: pair % 3, ms=4000)
    judge_batch(store, campaign, ben, lambda pair: pair % 3, ms=4000)
    bad = judge_batch(store, campaign, cat, 0, gold=False, ms=4000)
    row = row_of(store, study, ann)
    assert (row["judgments"], row["accepted"], row["rejected"]) == (12, 1, 0)
    assert row["gold"]["value"] == 1.0
    assert row["gold"]["low"] == pytest.approx(wilson(2, 2).low)
    assert row["gold_relevant"]["tries"] + row["gold_not_relevant"]["tries"] == 2
    assert row["median_seconds"] == pytest.approx(4.25)  # the middle of its half second
    assert row["kappa"] is None or row["kappa"] <= 1
    store.write(lambda session: decide(session, bad, False, "all wrong", None, AT))
    row = row_of(store, study, cat)
    assert (row["accepted"], row["rejected"]) == (0, 1)
    assert row["gold"]["value"] == 0.0
    store.write(lambda session: set_paused(session, study, cat, True, "gold", None))
    assert row_of(store, study, cat)["pause_reason"] == "gold"


def test_flags_name_who_is_odd_and_why(store):
    study, campaign, people = make_study(
        store,
        topics=1,
        documents=60,
        gold=20,
        people=4,
        campaign={"gold_errors": 2, "overlap": 4},
    )
    for person, ms in zip(people, (9000, 8000, 7000, 500), strict=True):
        for _ in range(5):
            judge_batch(
                store, campaign, person, (lambda pair: pair % 3) if ms > 500 else 2,
                gold=ms > 500, ms=ms,
            )  # fmt: skip
    with store.reading() as session:
        found = find_flagged(session, study)
    assert [one["name"] for one in found] == ["p3"]
    assert "fast" in found[0]["flags"]
    assert "gold" in found[0]["flags"]
    row = row_of(store, study, people[3])
    assert all(flag["rule"] for flag in row["flags"])
    assert look(store, study)["alarms"][-1]["kind"] == "annotator"


def test_drift_between_waves_is_flagged(store):
    study, first, (ann, *_) = make_study(
        store, topics=1, documents=80, gold=20, campaign={"gold_errors": 2, "batch_size": 5}
    )
    for _ in range(8):
        judge_batch(store, first, ann, lambda pair: pair % 3)
    with store.writing() as session:
        second = create_campaign(
            session, study, "later", {"practice_size": 0, "gold_errors": 2, "batch_size": 5}
        ).id
        open_campaign(session, second)
    for turn in range(8):
        judge_batch(store, second, ann, lambda pair: pair % 3, gold=turn % 2 == 0)
    with store.reading() as session:
        assert [one["flags"] for one in find_flagged(session, study)] == [["drift"]]


def test_an_empty_study_has_an_overview(store):
    from venire.server.studies.studies import create_study

    with store.writing() as session:
        study = create_study(session, "Empty").id
    found = look(store, study, now())
    assert found["campaigns"] == found["alarms"] == found["topics"] == []
    with store.reading() as session:
        assert list_annotators(session, study) == []
