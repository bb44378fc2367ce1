"""Annotators whose gold says enough are paused, once, and can be resumed."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from studies_for_tests import AT, judge_batch, make_study
from venire.errors import NotAllowed
from venire.server.store.base import now
from venire.server.store.people import Membership
from venire.server.store.work import Decision
from venire.server.studies.members import set_paused

RULE = {"pause_below": 0.7, "pause_sure": 0.95, "batch_size": 2}


def member(store, study, person):
    with store.reading() as session:
        return session.get(Membership, (study, person))


def test_who_fails_gold_is_paused_and_who_passes_is_not(store):
    study, wave, (bad, good, _) = make_study(store, documents=30, campaign=RULE)
    # Beta(1, 1 + wrong): 1 - .3^(wrong + 1) reaches .95 at two wrong.
    assert judge_batch(store, wave, bad, gold=False) is not None
    found = member(store, study, bad)
    assert found.paused_at is not None
    assert found.pause_reason == "0 of 2 gold right: accuracy is below 70% with probability 97%"
    with pytest.raises(NotAllowed, match="paused"):
        judge_batch(store, wave, bad)
    for _ in range(4):
        judge_batch(store, wave, good)
    assert member(store, study, good).paused_at is None
    with store.reading() as session:
        decisions = session.scalars(select(Decision).where(Decision.kind == "annotator")).all()
        assert [(one.verdict, one.subject, one.decided_by) for one in decisions] == [
            ("paused", bad, None)
        ]


def test_who_was_resumed_is_judged_by_later_gold(store):
    study, wave, (bad, *_) = make_study(store, documents=30, campaign=RULE)
    judge_batch(store, wave, bad, gold=False)
    store.write(lambda session: set_paused(session, study, bad, False, "a talk", None))
    later = now() + timedelta(minutes=1)
    judge_batch(store, wave, bad, gold=True, at=later)
    assert member(store, study, bad).paused_at is None
    judge_batch(store, wave, bad, gold=False, at=later + timedelta(minutes=1))
    # 2 of 4 right since: Beta(3, 3) is below .7 with 84%.
    assert member(store, study, bad).paused_at is None


def test_without_the_rule_nobody_is_paused(store):
    study, wave, (bad, *_) = make_study(store, documents=30, campaign={"batch_size": 2})
    for turn in range(3):
        judge_batch(store, wave, bad, gold=False, at=AT + timedelta(minutes=turn))
    assert member(store, study, bad).paused_at is None
