"""What an annotator sends and receives does not tell which documents are gold: the attacks."""

import random
import re
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

import venire.server
from studies_for_tests import AT, add_person, event, make_study
from venire.server.judging.events import record
from venire.server.judging.label_change import Refusal
from venire.server.judging.next_batch import expire, open_next_batch
from venire.server.judging.payload import find_completion_code
from venire.server.store.judging import Batch, BatchReason, Campaign, Lease
from venire.server.store.people import User
from venire.server.studies.overview import read_overview


def take(store, campaign, person, at=AT):
    return store.write(lambda session: open_next_batch(session, campaign, person, at)).batch_id


def read_leases(store, batch):
    with store.reading() as session:
        query = select(Lease).where(Lease.batch_id == batch).order_by(Lease.position)
        return list(session.scalars(query))


def send(store, batch, person, *events, at=AT):
    return store.write(lambda session: record(session, batch, person, events, at))


def predict_gold(batch_id, size, gold_size, gold_known):
    """Places of the gold in a batch whose shuffle was seeded with the ID that the browser has."""
    rng = random.Random(batch_id)
    rng.random(), rng.random()  # topic, start on the ring
    rows = list(range(gold_known))
    rng.shuffle(rows)
    rng.shuffle([0, 1])
    drawn = list(range(size))
    rng.shuffle(drawn)
    return {place for place, origin in enumerate(drawn) if origin >= size - gold_size}


def test_the_id_of_a_batch_does_not_tell_its_gold(store):
    _, campaign, people = make_study(
        store, topics=1, documents=60, gold=10, people=60, campaign={"overlap": 60}
    )
    hits = 0
    for person in people:
        batch = take(store, campaign, person)
        leases = read_leases(store, batch)
        gold = {place for place, lease in enumerate(leases) if lease.gold_grade is not None}
        assert len(gold) == 2
        hits += len(gold & predict_gold(batch, len(leases), 2, 10))
    # Chance: two of twelve places, 120 tries, 20 expected; 34 or more have a probability of .001.
    assert hits < 34


def test_no_source_of_random_numbers_has_a_seed_in_the_server():
    folder = Path(venire.server.__file__).parent
    seeded = re.compile(r"random\.Random\(|default_rng\(|random\.seed\(")
    names = {path.name for path in folder.rglob("*.py") if seeded.search(path.read_text("utf-8"))}
    assert names == {"demo.py"}


def skip_then_label(store, fill):
    """Skip a whole batch, let others take its places (or not), label all of it again."""
    _, campaign, people = make_study(
        store, topics=1, documents=10, campaign={"overlap": 1, "gold_errors": 100}, people=3
    )
    batch = take(store, campaign, people[0])
    leases = read_leases(store, batch)
    send(store, batch, people[0], *(event("skip", lease.id) for lease in leases))
    if fill:
        other = take(store, campaign, people[1])
        assert sum(lease.gold_grade is None for lease in read_leases(store, other)) == 10
    labels = [event("label", lease.id, label=1) for lease in leases]
    return leases, send(store, batch, people[0], *labels)


def test_gold_is_refused_as_its_neighbours_are_once_others_have_the_places(store):
    leases, answers = skip_then_label(store, fill=True)
    assert any(lease.gold_grade is not None for lease in leases)
    assert {answer.get("code") for answer in answers} == {Refusal.PLACE_TAKEN}


def test_gold_is_taken_again_as_its_neighbours_are_where_places_are_free(store):
    _, answers = skip_then_label(store, fill=False)
    assert {answer["status"] for answer in answers} == {"saved"}


def test_gold_of_a_batch_whose_time_is_over_is_refused_with_its_neighbours(store):
    _, campaign, people = make_study(store, topics=1, documents=10, campaign={"overlap": 1})
    batch = take(store, campaign, people[0])
    later = AT + timedelta(hours=2)
    store.write(lambda session: expire(session, campaign, later))
    take(store, campaign, people[1], later)
    labels = [event("label", lease.id, label=1) for lease in read_leases(store, batch)]
    answers = send(store, batch, people[0], *labels, at=later)
    assert {answer.get("code") for answer in answers} == {Refusal.PLACE_TAKEN}


@pytest.mark.parametrize(("skips", "held"), [(3, True), (2, False)])
def test_a_batch_with_many_skipped_documents_is_held(store, skips, held):
    study, campaign, _ = make_study(
        store, topics=1, documents=8, people=0, campaign={"gold_size": 0, "batch_size": 4}
    )
    with store.writing() as session:
        worker = add_person(session, study, "worker W1")
        user = session.get(User, worker)
        user.worker, user.campaign_id = "W1", campaign
    batch = take(store, campaign, worker)
    leases = read_leases(store, batch)
    events = [event("skip", lease.id) for lease in leases[:skips]]
    events += [event("label", lease.id, label=1) for lease in leases[skips:]]
    send(store, batch, worker, *events, event("finish"))
    with store.reading() as session:
        row = session.get(Batch, batch)
        code = find_completion_code(session, campaign, session.get(User, worker), batch)
        codes = session.get(Campaign, campaign)
        assert row.valid is (None if held else True)
        assert code == (codes.code_failed if held else codes.code_done)
        kinds = [alarm["kind"] for alarm in read_overview(session, study)["alarms"]]
        assert ("held" in kinds) == held
        if held:
            assert row.reason_code == BatchReason.HELD
            assert row.reason == "Held for review: 3 of 4 documents skipped (50% allowed)."
