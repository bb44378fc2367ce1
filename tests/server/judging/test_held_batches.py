"""A batch that ends before its gold tells nothing about who judged it: it does not count."""

from collections import Counter
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from studies_for_tests import AT, event, make_study
from venire.server.judging.events import record
from venire.server.judging.next_batch import expire, open_next_batch
from venire.server.judging.review import decide
from venire.server.store.judging import FILLS, Batch, BatchReason, Lease, Task
from venire.server.store.work import Decision
from venire.server.studies.batches import count_rejections
from venire.server.studies.judgments import read_raw
from venire.server.studies.overview import read_overview


def take(store, campaign, person, at=AT):
    return store.write(lambda session: open_next_batch(session, campaign, person, at)).batch_id


def leases(store, batch):
    with store.reading() as session:
        query = select(Lease).where(Lease.batch_id == batch).order_by(Lease.position)
        return list(session.scalars(query))


def send(store, batch, person, *events, at=AT):
    return store.write(lambda session: record(session, batch, person, events, at))


def real(store, batch):
    return [one for one in leases(store, batch) if one.gold_grade is None]


def check_places(store):
    filling = [state for state, fills in FILLS.items() if fills]
    with store.reading() as session:
        filled = Counter(session.scalars(select(Lease.task_id).where(Lease.state.in_(filling))))
        for task, taken, overlap in session.execute(select(Task.id, Task.taken, Task.overlap)):
            assert taken == filled[task] <= overlap


def counted(store, study):
    with store.reading() as session:
        return sum(frame["counts"].sum() for frame in read_raw(session, study))


def left_early(store, how="leave", **settings):
    """Three real documents judged, and gone: study, campaign, people, batch."""
    study, campaign, people = make_study(
        store, topics=1, documents=10, campaign={"overlap": 1, **settings}
    )
    batch = take(store, campaign, people[0])
    labels = [event("label", one.id, label=1) for one in real(store, batch)[:3]]
    send(store, batch, people[0], *labels)
    if how == "leave":
        send(store, batch, people[0], event("leave"))
    else:
        store.write(lambda session: expire(session, campaign, AT + timedelta(hours=2)))
    return study, campaign, people, batch


@pytest.mark.parametrize("how", ["leave", "expire"])
def test_its_judgments_stay_and_do_not_count(store, how):
    study, campaign, (_, bob, *_), batch = left_early(store, how)
    with store.reading() as session:
        found = session.get(Batch, batch)
        assert (found.valid, found.reason_code, found.gold_asked) == (None, BatchReason.HELD, 0)
        assert found.reason == "Held for review: The batch ended before any gold was judged."
        assert found.state == {"leave": "returned", "expire": "expired"}[how]
        verdicts = session.scalars(select(Decision.verdict).where(Decision.subject == batch)).all()
        assert verdicts == ["held"]
        assert session.scalar(select(func.sum(Task.taken))) == 0
        (alarm,) = [one for one in read_overview(session, study)["alarms"] if one["kind"] == "held"]
        assert alarm["campaign_id"] == campaign
        assert "1 batch held for review" in alarm["text"]
        assert count_rejections(session, study) == {}  # it is no rejection either
    assert Counter(one.state for one in leases(store, batch))["rejected"] == 3
    assert counted(store, study) == 0
    check_places(store)
    again = take(store, campaign, bob, AT + timedelta(hours=2))
    assert len(real(store, again)) == 10
    check_places(store)


def test_gold_that_comes_late_decides(store):
    study, _, (ann, *_), batch = left_early(store)
    first, second = [one for one in leases(store, batch) if one.gold_grade is not None]
    right = event("label", first.id, label=first.gold_grade)
    (answer,) = send(store, batch, ann, right, at=AT + timedelta(hours=3))
    assert answer["status"] == "saved"
    with store.reading() as session:
        assert session.get(Batch, batch).valid is True
    assert counted(store, study) == 3
    check_places(store)
    wrong = event("label", second.id, label=2 - second.gold_grade)
    send(store, batch, ann, wrong, at=AT + timedelta(hours=4))
    with store.reading() as session:
        assert session.get(Batch, batch).valid is False
    assert counted(store, study) == 0
    check_places(store)


def test_a_correction_that_comes_late_is_taken_and_held_too(store):
    study, _, (ann, *_), batch = left_early(store)
    one = real(store, batch)[0]
    (answer,) = send(store, batch, ann, event("label", one.id, label=2))
    assert answer["status"] == "saved"
    (found,) = [lease for lease in leases(store, batch) if lease.id == one.id]
    assert found.state == "rejected"
    assert found.judgment_seq > one.judgment_seq
    assert counted(store, study) == 0
    check_places(store)


def test_an_owner_may_accept_it_where_places_are_free(store):
    study, campaign, (_, bob, *_), batch = left_early(store, batch_size=8)
    mine = {one.pair_id for one in leases(store, batch) if one.state == "rejected"}
    second = take(store, campaign, bob)
    theirs = {one.pair_id for one in real(store, second)}
    surplus = store.write(lambda session: decide(session, batch, True, "seen", None, AT))
    assert len(surplus) == len(mine & theirs) > 0
    assert counted(store, study) == len(mine - theirs)
    check_places(store)


def test_an_owner_may_reject_it(store):
    study, _, (ann, *_), batch = left_early(store)
    store.write(lambda session: decide(session, batch, False, "no", None, AT))
    with store.reading() as session:
        assert session.get(Batch, batch).valid is False
    (answer,) = send(store, batch, ann, event("label", real(store, batch)[0].id, label=2))
    assert answer == {**answer, "status": "refused", "code": "batch-over"}
    assert counted(store, study) == 0
    check_places(store)


def test_a_campaign_without_gold_takes_what_it_gets(store):
    study, _, _, batch = left_early(store, gold_size=0)
    with store.reading() as session:
        found = session.get(Batch, batch)
        assert (found.valid, found.reason) == (True, "no gold in this batch")
    assert counted(store, study) == 3
    check_places(store)
