"""What a judge page must tell apart has a code of its own, beside the words."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from studies_for_tests import AT, event, judge_batch, make_study
from venire.errors import Conflict, NotAllowed
from venire.server.judging.events import record
from venire.server.judging.label_change import REFUSALS, Refusal
from venire.server.judging.next_batch import NextState, expire, open_next_batch
from venire.server.judging.payload import check_access
from venire.server.store.judging import Batch, BatchReason, Campaign, Lease
from venire.server.store.people import Membership


def take(store, campaign, person, now=AT):
    return store.write(lambda session: open_next_batch(session, campaign, person, now))


def leases(store, batch):
    with store.reading() as session:
        query = select(Lease).where(Lease.batch_id == batch).order_by(Lease.position)
        return list(session.scalars(query))


def send(store, batch, person, *events, now=AT):
    return store.write(lambda session: record(session, batch, person, events, now))


def refusal(store, batch, person, sent, now=AT):
    (answer,) = send(store, batch, person, sent, now=now)
    assert answer["status"] == "refused"
    assert answer["reason"]
    return answer["code"]


def test_every_refusal_has_its_code(store):
    _, campaign, (ann, bob, _) = make_study(
        store, topics=1, documents=4, campaign={"overlap": 1, "batch_size": 4}
    )
    batch = take(store, campaign, ann).batch_id
    first, second, *_ = [lease.id for lease in leases(store, batch) if lease.task_id is not None]
    assert refusal(store, batch, ann, event("label", first, label=9)) == Refusal.UNKNOWN_GRADE
    assert refusal(store, batch, ann, event("cannot", first, reason="x")) == Refusal.UNKNOWN_REASON
    assert refusal(store, batch, ann, event("undo", first)) == Refusal.NOTHING_TO_UNDO
    assert refusal(store, batch, ann, event("finish")) == Refusal.NOT_ALL_JUDGED
    later = AT + timedelta(hours=2)
    assert store.write(lambda session: expire(session, campaign, later)) == 1
    assert refusal(store, batch, ann, event("finish"), later) == Refusal.TIME_OVER
    take(store, campaign, bob, later)
    assert refusal(store, batch, ann, event("label", second, label=1), later) == Refusal.PLACE_TAKEN
    assert set(REFUSALS) == set(Refusal) - {Refusal.NOT_ALL_JUDGED}  # that one says how many


def test_a_finished_batch_is_over(store):
    _, campaign, (ann, *_) = make_study(store)
    batch = judge_batch(store, campaign, ann)
    lease = leases(store, batch)[0].id
    assert refusal(store, batch, ann, event("label", lease, label=0)) == Refusal.BATCH_OVER


def test_what_ends_judging_has_its_code(store):
    study, campaign, (ann, bob, cid) = make_study(
        store, topics=1, documents=3, campaign={"overlap": 1, "batch_size": 3}
    )

    def code(person, kind):
        with pytest.raises(kind) as caught:
            take(store, campaign, person)
        return caught.value.code

    assert code("nobody", NotAllowed) == "not-annotator"
    with store.writing() as session:
        session.get(Membership, (study, cid)).paused_at = AT
    assert code(cid, NotAllowed) == "paused"
    take(store, campaign, ann)
    assert take(store, campaign, bob).state == NextState.WAIT
    judge_batch(store, campaign, ann)
    assert take(store, campaign, bob).state == NextState.DONE
    for state in ("draft", "closed"):
        with store.writing() as session:
            session.get(Campaign, campaign).state = state
        assert code(bob, Conflict) == f"campaign-{state}"
    with store.writing() as session:
        session.get(Membership, (study, bob)).role = "viewer"
    with store.reading() as session, pytest.raises(NotAllowed) as caught:
        check_access(session, campaign, bob)
    assert caught.value.code == "viewer"


def test_a_qualification_that_was_failed_or_has_no_gold_has_its_code(store):
    rule = {"qualification_size": 2, "qualification_needed": 2}
    _, campaign, (ann, bob, _) = make_study(store, gold=6, campaign=rule)
    judge_batch(store, campaign, ann, gold=False)
    with pytest.raises(NotAllowed) as failed:
        take(store, campaign, ann)
    assert failed.value.code == "qualification-failed"
    with store.writing() as session:
        found = session.get(Campaign, campaign)
        found.settings = {**found.settings, "qualification_size": 50}
    with pytest.raises(Conflict) as not_ready:
        take(store, campaign, bob)
    assert not_ready.value.code == "qualification-not-ready"


@pytest.mark.parametrize(
    ("rule", "right", "code"),
    [
        ({}, True, BatchReason.GOLD_RIGHT),
        ({}, False, BatchReason.GOLD_WRONG),
        ({"min_seconds": 5.0}, True, BatchReason.TOO_FAST),
        ({"max_same_share": 0.5}, True, BatchReason.ONE_LABEL),
        ({"gold_size": 0}, True, BatchReason.NO_GOLD),
        ({"practice_size": 1}, True, BatchReason.PRACTICE),
        ({"qualification_size": 1}, True, BatchReason.QUALIFICATION),
    ],
)
def test_every_verdict_has_its_code(store, rule, right, code):
    _, campaign, (ann, *_) = make_study(store, gold=6, campaign=rule)
    batch = judge_batch(store, campaign, ann, gold=right)
    with store.reading() as session:
        assert session.get(Batch, batch).reason_code == code
