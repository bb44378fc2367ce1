"""Grouped pools: whole groups, one action on many, splits, and gold that does not stand out."""

from collections import Counter

from sqlalchemy import select, update
from test_invariants import AT, check_places, leases_of, send, take_batch

from studies_for_tests import event, make_study
from venire.server.store.judging import Batch, Judgment, Lease
from venire.server.store.studies import Document, Pair
from venire.server.studies.studies import get_study


def grouped_study(store, **options):
    """Documents in groups of five, and two gold in the first group of the topic."""
    study, campaign, people = make_study(store, topics=1, documents=20, gold=2, **options)
    with store.writing() as session:
        one = get_study(session, study)
        one.settings = {**one.settings, "grouping": {"encoder": "test", "setting": "leader"}}
        rows = session.execute(
            select(Pair.id, Document.doc_id).join(Document, Document.id == Pair.document_id)
        ).all()
        for pair, doc in rows:
            group = 0 if doc.startswith("g") else int(doc[1:]) // 5
            session.execute(update(Pair).where(Pair.id == pair).values(cluster=group))
    return study, campaign, people


def groups(store, batch):
    return Counter(one.cluster for one in leases_of(store, batch))


def test_a_batch_is_the_whole_pool_in_its_groups(store):
    _, campaign, (ann, *_) = grouped_study(store)
    batch = take_batch(store, campaign, ann).batch_id
    leases = leases_of(store, batch)
    assert sorted(groups(store, batch).values()) == [5, 5, 5, 7]
    # Groups stand together, and are numbered anew for the batch.
    assert [one.cluster for one in leases] == sorted(one.cluster for one in leases)
    check_places(store)


def test_one_action_labels_a_group_once_and_undo_takes_all_of_it_back(store):
    _, campaign, (ann, *_) = grouped_study(store)
    batch = take_batch(store, campaign, ann).batch_id
    first = [one.id for one in leases_of(store, batch) if one.cluster == 0]
    one = event("group", leases=first, label=2, active_ms=3001)
    answers = send(store, batch, ann, one)
    assert send(store, batch, ann, one) == answers
    with store.reading() as session:
        judgments = session.scalars(select(Judgment)).all()
        assert {judgment.lease_id for judgment in judgments} == set(first)
        assert {judgment.event_id for judgment in judgments} == {one["id"]}
        assert all(judgment.active_ms == 3001 // len(first) for judgment in judgments)
    send(store, batch, ann, event("label", first[1], label=0))
    with store.reading() as session:
        lease = session.get(Lease, first[1])
        assert session.get(Judgment, lease.judgment_seq).label == 0
    send(store, batch, ann, event("undo", leases=first))
    assert {x.state for x in leases_of(store, batch)} == {"live"}
    check_places(store)


def test_a_split_outlives_a_reload_and_one_alone_is_no_group(store):
    _, campaign, (ann, *_) = grouped_study(store)
    batch = take_batch(store, campaign, ann).batch_id
    first = [one.id for one in leases_of(store, batch) if one.cluster == 0]
    (answer,) = send(store, batch, ann, event("split", leases=first[:2]))
    assert answer["cluster"] == 4
    assert groups(store, batch)[4] == 2
    send(store, batch, ann, event("split", leases=first[2:3]))
    assert groups(store, batch)[None] == 1


def test_a_grouped_batch_is_finished_and_its_gold_checked(store):
    _, campaign, (ann, *_) = grouped_study(store)
    batch = take_batch(store, campaign, ann).batch_id
    leases = leases_of(store, batch)
    for number in {one.cluster for one in leases}:
        members = [one for one in leases if one.cluster == number]
        send(store, batch, ann, event("look", leases=[one.id for one in members]))
        send(store, batch, ann, event("group", leases=[one.id for one in members], label=0))
    right = [one for one in leases if one.gold_grade]
    (answer,) = send(store, batch, ann, event("label", right[0].id, label=2, text="review"))
    assert answer["status"] == "saved"
    (answer,) = send(store, batch, ann, event("finish"))
    assert answer["status"] == "saved"
    with store.reading() as session:
        found = session.get(Batch, batch)
        assert (found.gold_asked, found.gold_right, found.valid) == (2, 2, True)


def test_gold_of_a_group_stands_first_about_as_often_as_any(store):
    _, campaign, people = grouped_study(store, people=60, campaign={"overlap": 60})
    first = Counter()
    for person in people:
        leases = leases_of(store, take_batch(store, campaign, person, AT).batch_id)
        (number,) = {one.cluster for one in leases if one.gold_grade is not None}
        group = [one for one in leases if one.cluster == number]
        first[group[0].gold_grade is not None] += 1
    # Two of seven are gold. Never or always would tell; between 3 and 45 of 60 does not.
    assert 3 <= first[True] <= 45
