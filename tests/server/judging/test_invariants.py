"""What must always hold when people judge, on both databases."""

import threading
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from studies_for_tests import add_person, event, make_study, rng
from venire.errors import Conflict, NotAllowed, NotFound
from venire.server.judging.events import record
from venire.server.judging.next_batch import expire, open_next_batch
from venire.server.judging.review import decide, set_payment
from venire.server.store.judging import FILLS, Batch, Event, Judgment, Lease, Task
from venire.server.store.people import Membership
from venire.server.store.work import Decision

AT = datetime(2026, 1, 5, 12, tzinfo=UTC)


def leases_of(store, batch_id):
    with store.reading() as session:
        query = select(Lease).where(Lease.batch_id == batch_id).order_by(Lease.position)
        return list(session.scalars(query))


def take_batch(store, campaign, person, at=AT):
    return store.write(lambda session: open_next_batch(session, campaign, person, at))


def send(store, batch, person, *events, at=AT):
    return store.write(lambda session: record(session, batch, person, events, at))


def judge_all(store, batch, person, label=None, finish=True, at=AT):
    """Judge every document; gold right unless a label is given."""
    events = []
    for lease in leases_of(store, batch):
        given = label
        if given is None:
            given = lease.gold_grade if lease.gold_grade is not None else 1
        events.append(event("label", lease.id, label=given, active_ms=3000))
    answers = send(store, batch, person, *events, *([event("finish")] if finish else []), at=at)
    assert all(answer["status"] == "saved" for answer in answers), answers
    return answers


def check_places(store):
    """Places taken equal the leases that fill one, and never exceed the overlap."""
    filling = [state for state, fills in FILLS.items() if fills]
    with store.reading() as session:
        counted = (
            select(Lease.task_id, func.count().label("n"))
            .where(Lease.state.in_(filling))
            .group_by(Lease.task_id)
            .subquery()
        )
        rows = session.execute(
            select(Task.id, Task.taken, Task.overlap, func.coalesce(counted.c.n, 0)).outerjoin(
                counted, counted.c.task_id == Task.id
            )
        ).all()
    assert rows
    for _, taken, overlap, n in rows:
        assert taken == n
        assert taken <= overlap


def test_a_batch_holds_real_documents_and_gold_and_a_reload_gives_the_same(store):
    _, campaign, (ann, *_) = make_study(store)
    first = take_batch(store, campaign, ann)
    leases = leases_of(store, first.batch_id)
    assert len(leases) == 12
    assert sum(lease.gold_grade is not None for lease in leases) == 2
    assert len({lease.pair_id for lease in leases}) == 12
    again = take_batch(store, campaign, ann)
    assert again == first
    assert [one.id for one in leases_of(store, again.batch_id)] == [one.id for one in leases]
    check_places(store)


def test_gold_is_one_of_each_side_and_of_the_batch_s_topic(store):
    _, campaign, people = make_study(store)
    for person in people:
        leases = leases_of(store, take_batch(store, campaign, person).batch_id)
        grades = [lease.gold_grade for lease in leases if lease.gold_grade is not None]
        assert sorted(grades) == [0, 2]


def test_the_cap_holds_however_many_ask_at_once(store):
    _, campaign, people = make_study(
        store, topics=1, documents=15, people=12, campaign={"overlap": 2, "batch_size": 4}
    )
    failures = []

    def work(person, seed):
        random = rng(seed)
        try:
            for _ in range(20):
                got = take_batch(store, campaign, person)
                if got.state != "batch":
                    if got.state == "done":
                        return
                    continue
                kind = random.random()
                if kind < 0.2:
                    send(store, got.batch_id, person, event("leave"))
                elif kind < 0.4:
                    judge_all(store, got.batch_id, person, label=0)  # a relevant gold is wrong
                else:
                    judge_all(store, got.batch_id, person)
        except Exception as error:  # noqa: BLE001 - the test reports what a thread died of
            failures.append(error)

    threads = [
        threading.Thread(target=work, args=(person, seed)) for seed, person in enumerate(people)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    check_places(store)


def test_nobody_meets_a_document_twice_in_a_campaign(store):
    _, campaign, (ann, *_) = make_study(store, topics=1, documents=25, campaign={"batch_size": 5})
    met = Counter()
    while (got := take_batch(store, campaign, ann)).state == "batch":
        met.update(one.pair_id for one in leases_of(store, got.batch_id) if one.task_id)
        judge_all(store, got.batch_id, ann)
    assert len(met) == 25
    assert set(met.values()) == {1}
    assert got.state == "done"


def test_more_places_than_the_overlap_are_impossible_for_any_program(store):
    make_study(store)
    with pytest.raises(IntegrityError, match="cap"), store.writing() as session:
        session.execute(text("UPDATE task SET taken = overlap + 1"))


def test_an_event_is_applied_once_and_its_repeat_gets_the_same_answer(store):
    _, campaign, (ann, bob, *_) = make_study(store)
    batch = take_batch(store, campaign, ann).batch_id
    lease = leases_of(store, batch)[0]
    one = event("label", lease.id, label=1)
    first = send(store, batch, ann, one)
    assert send(store, batch, ann, one, one) == first + first
    with store.reading() as session:
        assert session.scalar(select(func.count()).select_from(Event)) == 1
        assert session.scalar(select(func.count()).select_from(Judgment)) == 1
    other = take_batch(store, campaign, bob).batch_id
    with pytest.raises(Conflict):
        send(store, other, bob, one)


def test_the_current_label_is_a_fold_over_the_events(store):
    _, campaign, (ann, *_) = make_study(store)
    batch = take_batch(store, campaign, ann).batch_id
    lease = leases_of(store, batch)[0].id

    def now_is():
        with store.reading() as session:
            one = session.get(Lease, lease)
            judgment = session.get(Judgment, one.judgment_seq) if one.judgment_seq else None
            return one.state, judgment.label if judgment else None

    send(store, batch, ann, event("label", lease, label=2))
    assert now_is() == ("judged", 2)
    send(store, batch, ann, event("label", lease, label=0))
    assert now_is() == ("judged", 0)
    send(store, batch, ann, event("undo", lease))
    assert now_is() == ("live", None)
    send(store, batch, ann, event("cannot", lease, reason="broken"))
    assert now_is() == ("cannot", None)
    send(store, batch, ann, event("skip", lease))
    assert now_is() == ("skipped", None)
    send(store, batch, ann, event("label", lease, label=1))
    assert now_is() == ("judged", 1)
    check_places(store)
    with store.reading() as session:
        labels = session.scalars(select(Judgment.label).order_by(Judgment.seq)).all()
    assert labels == [2, 0, None, None, None, 1]


@pytest.mark.parametrize("table", ["event", "judgment", "decision"])
def test_what_was_written_is_never_changed(store, table):
    _, campaign, (ann, *_) = make_study(store)
    batch = take_batch(store, campaign, ann).batch_id
    judge_all(store, batch, ann)
    for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET seq = seq + 1000"):
        with pytest.raises(DBAPIError, match="never changed"), store.writing() as session:
            session.execute(text(statement))


def test_a_batch_that_fails_its_gold_goes_as_a_whole_and_its_documents_come_back(store):
    _, campaign, (ann, bob, *_) = make_study(store, topics=1, documents=10, campaign={"overlap": 1})
    batch = take_batch(store, campaign, ann).batch_id
    assert take_batch(store, campaign, bob).state == "wait"
    judge_all(store, batch, ann, label=0)
    with store.reading() as session:
        found = session.get(Batch, batch)
        assert (found.valid, found.payment, found.gold_right) == (False, "open", 1)
        assert found.reason == "1 of 2 gold wrong (0 allowed)"
        decision = session.scalar(select(Decision).where(Decision.kind == "batch"))
        assert (decision.verdict, decision.decided_by) == ("rejected", None)
    check_places(store)
    again = take_batch(store, campaign, bob)
    assert again.state == "batch"
    assert take_batch(store, campaign, ann).state == "done"  # all that is left, she has met
    judge_all(store, again.batch_id, bob)
    assert take_batch(store, campaign, ann).state == "done"


def test_the_owner_can_reverse_and_full_documents_are_surplus(store):
    study, campaign, (ann, bob, *_) = make_study(
        store, topics=1, documents=12, campaign={"overlap": 1}
    )
    owner = store.write(lambda session: add_person(session, study, "o", "owner"))
    batch = take_batch(store, campaign, ann).batch_id
    judge_all(store, batch, ann, label=0)
    second = take_batch(store, campaign, bob).batch_id  # takes 10 of the 12
    surplus = store.write(lambda s: decide(s, batch, True, "gold was wrong", owner, AT))
    mine = {one.pair_id for one in leases_of(store, batch) if one.task_id}
    theirs = {one.pair_id for one in leases_of(store, second) if one.task_id}
    assert len(surplus) == len(mine & theirs) > 0
    check_places(store)
    store.write(lambda s: set_payment(s, batch, "refused", owner, AT))
    with store.reading() as session:
        found = session.get(Batch, batch)
        assert (found.valid, found.payment) == (True, "refused")
        verdicts = session.scalars(
            select(Decision.verdict).where(Decision.subject == batch).order_by(Decision.seq)
        ).all()
    assert verdicts == ["rejected", "accepted", "refused"]
    # Rejecting the other one frees the places; a second reversal counts them again.
    judge_all(store, second, bob)
    store.write(lambda s: decide(s, second, False, "changed my mind", owner, AT))
    assert store.write(lambda s: decide(s, batch, True, "again", owner, AT)) == []
    check_places(store)


def test_only_what_is_in_progress_may_expire(store):
    _, campaign, (ann, bob, *_) = make_study(store, topics=1, documents=10, campaign={"overlap": 1})
    batch = take_batch(store, campaign, ann).batch_id
    leases = leases_of(store, batch)
    done = [one for one in leases if one.gold_grade is not None] + [
        one for one in leases if one.task_id
    ][:3]
    send(
        store,
        batch,
        ann,
        *[event("label", one.id, label=one.gold_grade or 0) for one in done],
    )
    late = AT + timedelta(minutes=61)
    got = take_batch(store, campaign, bob, late)
    assert got.state == "batch"
    states = Counter(one.state for one in leases_of(store, batch))
    assert states == {"judged": 5, "expired": 7}
    assert sum(one.task_id is not None for one in leases_of(store, got.batch_id)) == 7
    with store.reading() as session:
        found = session.get(Batch, batch)
        assert (found.state, found.valid) == ("expired", True)
    check_places(store)
    # What comes late is kept, and counts where the place is still free.
    gone = [one for one in leases if one.id not in {d.id for d in done}]
    (answer,) = send(store, batch, ann, event("label", gone[0].id, label=1), at=late)
    assert answer["status"] == "refused"
    assert "Too late" in answer["reason"]
    send(store, got.batch_id, bob, event("leave"), at=late)
    (answer,) = send(store, batch, ann, event("label", gone[0].id, label=1), at=late)
    assert answer["status"] == "saved"
    check_places(store)


def test_a_batch_fully_judged_is_finished_even_when_nobody_pressed_the_button(store):
    _, campaign, (ann, *_) = make_study(store)
    batch = take_batch(store, campaign, ann).batch_id
    judge_all(store, batch, ann, finish=False)
    store.write(lambda s: expire(s, campaign, AT + timedelta(days=3)))
    with store.reading() as session:
        found = session.get(Batch, batch)
        assert (found.state, found.valid) == ("finished", True)
    assert {one.state for one in leases_of(store, batch)} == {"judged"}


def test_working_on_keeps_a_batch_alive(store):
    _, campaign, (ann, *_) = make_study(store)
    batch = take_batch(store, campaign, ann).batch_id
    send(store, batch, ann, event("look"), at=AT + timedelta(minutes=50))
    assert store.write(lambda s: expire(s, campaign, AT + timedelta(minutes=100))) == 0


def test_who_waits_is_told_when_to_try_again(store):
    _, campaign, (ann, bob, *_) = make_study(store, topics=1, documents=10, campaign={"overlap": 1})
    take_batch(store, campaign, ann)
    got = take_batch(store, campaign, bob)
    assert (got.state, got.retry_at) == ("wait", AT + timedelta(minutes=60))


def test_a_finished_batch_takes_no_more_labels(store):
    _, campaign, (ann, *_) = make_study(store)
    batch = take_batch(store, campaign, ann).batch_id
    judge_all(store, batch, ann)
    lease = leases_of(store, batch)[0].id
    (answer,) = send(store, batch, ann, event("label", lease, label=0))
    assert answer["status"] == "refused"
    (answer,) = send(store, batch, ann, event("finish"))
    assert answer["status"] == "saved"


def test_nobody_reaches_a_batch_of_somebody_else(store):
    _, campaign, (ann, bob, *_) = make_study(store)
    batch = take_batch(store, campaign, ann).batch_id
    with pytest.raises(NotFound):
        send(store, batch, bob, event("finish"))


def test_strangers_and_the_paused_get_nothing(store):
    study, campaign, (ann, *_) = make_study(store)
    _, _, (stranger, *_) = make_study(store)
    with pytest.raises(NotAllowed):
        take_batch(store, campaign, stranger)
    with store.writing() as session:
        session.get(Membership, (study, ann)).paused_at = AT
    with pytest.raises(NotAllowed, match="paused"):
        take_batch(store, campaign, ann)


def test_ids_are_case_sensitive(store):
    import polars as pl

    from venire.server.studies.documents import put_documents
    from venire.server.studies.pairs import ensure_pairs
    from venire.server.studies.studies import create_study
    from venire.server.studies.topics import put_topics

    with store.writing() as session:
        study = create_study(session, "S")
        put_topics(session, study.id, pl.DataFrame({"query_id": ["Nike", "nike"], "title": "x"}))
        frame = pl.DataFrame({"doc_id": ["A", "a", " a"], "kind": "text", "body": "x"})
        put_documents(session, study.id, frame)
        wanted = pl.DataFrame({"query_id": ["Nike", "nike"], "doc_id": ["A", "a"]})
        found, left = ensure_pairs(session, study.id, wanted)
    assert len(set(found.values())) == 2
    assert left == 0


def test_rules_of_speed_and_of_one_label_reject_with_their_reason(store):
    for rule, reason in (
        ({"min_seconds": 5.0}, "median active time 3.0 s"),
        ({"max_same_share": 0.5}, "label 1 in"),
    ):
        _, campaign, (ann, *_) = make_study(store, campaign=rule)
        batch = take_batch(store, campaign, ann).batch_id
        judge_all(store, batch, ann)
        with store.reading() as session:
            found = session.get(Batch, batch)
            assert found.valid is False
            assert reason in found.reason


def test_practice_gives_feedback_once_and_never_counts(store):
    _, campaign, (ann, *_) = make_study(store, gold=6, campaign={"practice_size": 2})
    batch = take_batch(store, campaign, ann).batch_id
    lease = leases_of(store, batch)[0]
    (answer,) = send(store, batch, ann, event("label", lease.id, label=lease.gold_grade))
    assert answer["feedback"] == {"right": True, "grade": lease.gold_grade, "note": ""}
    judge_all(store, batch, ann)
    with store.reading() as session:
        found = session.get(Batch, batch)
        assert (found.kind, found.valid) == ("practice", False)
    second = take_batch(store, campaign, ann)
    with store.reading() as session:
        assert session.get(Batch, second.batch_id).kind == "work"


def test_a_practice_that_nobody_answered_comes_again(store):
    _, campaign, (ann, bob, *_) = make_study(store, gold=6, campaign={"practice_size": 2})
    take_batch(store, campaign, ann)
    answered = take_batch(store, campaign, bob).batch_id
    lease = leases_of(store, answered)[0]
    send(store, answered, bob, event("label", lease.id, label=lease.gold_grade))
    later = AT + timedelta(days=1)
    store.write(lambda session: expire(session, campaign, later))
    kinds = [take_batch(store, campaign, who, later).batch_id for who in (ann, bob)]
    with store.reading() as session:
        assert [session.get(Batch, one).kind for one in kinds] == ["practice", "work"]


def test_a_qualification_is_passed_or_ends(store):
    rule = {"qualification_size": 2, "qualification_needed": 2, "qualification_tries": 2}
    _, campaign, (ann, bob, *_) = make_study(store, gold=6, campaign=rule)
    for _ in range(2):
        judge_all(store, take_batch(store, campaign, ann).batch_id, ann, label=0)
    with pytest.raises(NotAllowed, match="qualification"):
        take_batch(store, campaign, ann)
    judge_all(store, take_batch(store, campaign, bob).batch_id, bob)
    batch = take_batch(store, campaign, bob).batch_id
    with store.reading() as session:
        assert session.get(Batch, batch).kind == "work"
