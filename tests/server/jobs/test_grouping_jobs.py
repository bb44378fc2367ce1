"""Encode, regroup, simulate: stopped, killed, resumed; the numbers are those of the functions."""

import io
import json
from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from sqlalchemy import func, select, update

from studies_for_tests import AT, judge_batch, make_study
from venire import plugins
from venire.cli.main import main
from venire.errors import BadSetting, Conflict, DataError, UnknownName
from venire.grouping.settings import Setting, parse_methods
from venire.grouping.vectors import Vectors
from venire.server.jobs import encode, queue, simulate, worker
from venire.server.jobs.encode import EncodeJob
from venire.server.jobs.parts import list_parts, read_part
from venire.server.jobs.regroup import RegroupJob
from venire.server.jobs.simulate import SimulateJob
from venire.server.jobs.worker import run_pending
from venire.server.judging.next_batch import open_next_batch
from venire.server.store.base import now
from venire.server.store.judging import Judgment, Lease
from venire.server.store.studies import Document, Pair, StudyFile, Topic
from venire.server.store.work import Job
from venire.server.studies import files
from venire.server.studies.documents import put_documents
from venire.server.studies.files import put_file
from venire.server.studies.studies import get_study
from venire.simulation.grouping.annotators import annotator, with_bounds
from venire.simulation.grouping.pools import GroupedPools, Groupings, with_always
from venire.simulation.grouping.recommend import recommend
from venire.simulation.grouping.replay import results
from venire.simulation.grouping.replay import simulate as replay
from venire.tables.qrels import Qrels

KINDS = {"encode": EncodeJob, "regroup": RegroupJob, "simulate": SimulateJob}
TOPICS, DOCUMENTS = 4, 30
METHODS = "leader(cosine=0.9|0.5),average-linkage(distance=0.1|0.4)"
TYPES = [{"name": "typical"}, {"name": "quick", "judge_seconds": 3, "check_all": 4}]
IDS = [f"d{at}" for at in range(DOCUMENTS)]


def vectors_of():
    """Ten directions; the documents of one are alike, and mostly of one kind."""
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(10, 8))
    array = centres[np.arange(DOCUMENTS) % 10] + rng.normal(0, 0.15, (DOCUMENTS, 8))
    return Vectors.of(IDS, array, encoder="mine")


def truth_of():
    rng = np.random.default_rng(4)
    return Qrels.from_dict(
        {
            f"q{t}": {
                name: int((at % 10 in (t, t + 3)) != (rng.random() < 0.1))
                for at, name in enumerate(IDS)
            }
            for t in range(TOPICS)
        }
    )


@pytest.fixture
def study(store, monkeypatch):
    monkeypatch.setitem(plugins._registered, "job", dict(KINDS))
    monkeypatch.setattr(worker, "PROGRESS_SECONDS", 0.0)
    made, campaign, people = make_study(
        store, topics=TOPICS, documents=DOCUMENTS, gold=0, people=2, campaign={"gold_size": 0}
    )
    with store.writing() as session:
        files.put_vectors(session, made, vectors_of())
        put_file(session, made, "qrels", "truth", truth_of().frame, ())
    store.campaign, store.people = campaign, people
    return made


def ask(store, study, kind, **settings):
    return store.write(lambda session: queue.submit_job(session, study, kind, settings))


def state(store, job):
    with store.reading() as session:
        found = queue.get_job(session, job)
        return found.state, found.message, found.result, list_parts(session, job)


def done(store, study, kind, **settings):
    job = ask(store, study, kind, **settings)
    run_pending(store)
    ended, message, result, _ = state(store, job)
    assert ended == "done", message
    return result


WANTED = {
    "truth": "qrels:truth", "encoder": "mine", "methods": METHODS, "caps": "none,8",
    "annotators": TYPES, "seed": 5, "bootstrap": 50,
}  # fmt: skip


def expected():
    """The same from the functions themselves."""
    rows = [(f"q{t}", name) for t in range(TOPICS) for name in IDS]
    pool = pl.DataFrame(rows, schema=["query_id", "doc_id"], orient="row")
    groupings = Groupings(GroupedPools.of(pool, truth_of(), seed=5), vectors_of())
    people = with_bounds(
        [annotator("typical"), annotator("typical", name="quick", judge_seconds=3.0, check_all=4)]
    )
    settings = with_always(parse_methods(METHODS, [None, 8]))
    units = list(replay(groupings, settings, people, seed=5))
    return recommend(results(units), ["typical", "quick"], seed=5, bootstrap=50)


def test_the_job_gives_the_numbers_of_the_functions_and_of_the_command(
    store, study, tmp_path, capsys
):
    found = done(store, study, "simulate", **WANTED)
    mine = expected()
    assert found["types"] == mine.types.to_dicts()
    assert found["rows"] == mine.settings.to_dicts()
    assert found["setting"] == mine.setting
    assert found["chosen"] == ["typical", "quick"]
    (tmp_path / "qrels").mkdir()
    truth_of().write(tmp_path / "qrels" / "truth.qrels")
    vectors_of().write(tmp_path / "mine.parquet")
    own = "typical,quick(judge_seconds=3,check_all=4)"
    words = ["--vectors", tmp_path / "mine.parquet", "--methods", METHODS, "--caps", "none,8"]
    words += ["--annotators", own, "--seed", 5, "--bootstrap", 50, "--by", "type"]
    capsys.readouterr()
    assert main(["simulate", "grouping", *map(str, [tmp_path, *words, "--format", "json"])]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == found["types"]


@pytest.fixture
def counted(monkeypatch):
    """Every unit that is replayed, and what happens after some of them."""
    seen, after = [], {}
    real = simulate.replay_all

    def watched(*given, **more):
        for unit in real(*given, **more):
            seen.append((unit.setting, unit.annotator))
            yield unit
            if len(seen) in after:
                after.pop(len(seen))()

    monkeypatch.setattr(simulate, "replay_all", watched)
    monkeypatch.setattr(simulate, "SAVE_SECONDS", 0.0)
    return seen, after


def test_a_simulation_that_is_stopped_loses_nothing_and_goes_on(store, study, counted):
    seen, after = counted
    job = ask(store, study, "simulate", **WANTED)
    after[6] = lambda: store.write(lambda session: queue.stop_job(session, job))
    run_pending(store)
    ended, _, result, parts = state(store, job)
    assert (ended, result) == ("stopped", None)
    kept = len(parts)
    assert kept >= 6
    assert kept == len(seen)
    store.write(lambda session: queue.resume_job(session, job))
    run_pending(store)
    ended, message, result, parts = state(store, job)
    assert ended == "done", message
    assert len(seen) == len(set(seen)) == 9 * 4
    assert result["types"] == expected().types.to_dicts()
    assert not [one for one in parts if one.startswith("units-")]
    with store.reading() as session:
        table = pl.read_parquet(io.BytesIO(read_part(session, job, "queries.parquet")))
    assert table.height == 9 * TOPICS * (2 * 3 + 1 + 3)


def test_a_simulation_whose_server_is_killed_is_resumed(store, study, counted):
    seen, after = counted

    def die():
        raise KeyboardInterrupt

    job = ask(store, study, "simulate", **WANTED)
    after[7] = die
    with pytest.raises(KeyboardInterrupt):
        run_pending(store)
    assert state(store, job)[0] == "running"
    with store.writing() as session:
        session.execute(update(Job).values(heartbeat_at=now() - timedelta(hours=1)))
    run_pending(store)
    ended, message, result, _ = state(store, job)
    assert ended == "done", message
    assert len(seen) == len(set(seen)) == 9 * 4
    assert result["types"] == expected().types.to_dicts()


def test_units_of_another_pool_are_not_used_again(store, study, counted):
    seen, after = counted
    job = ask(store, study, "simulate", **WANTED)
    after[6] = lambda: store.write(lambda session: queue.stop_job(session, job))
    run_pending(store)
    first = len(seen)
    with store.writing() as session:
        one = session.scalar(select(Pair).where(Pair.study_id == study))
        one.pooled = False
        queue.resume_job(session, job)
    run_pending(store)
    assert state(store, job)[0] == "done"
    assert len(seen) == first + 9 * 4


def test_what_cannot_be_simulated_is_refused_at_once(store, study):
    for settings, error, words in (
        ({"truth": "truth"}, UnknownName, "truth"),
        ({"truth": "pilot"}, DataError, "no pilot"),
        ({"encoder": ""}, BadSetting, "`encoder` is missing"),
        ({"encoder": "other"}, DataError, "no vectors 'other'"),
        ({"methods": "near-duplicate"}, DataError, "perceptual-hash"),
        ({"methods": "laeder"}, UnknownName, "leader"),
        ({"annotators": []}, BadSetting, "at least one annotator type"),
        ({"annotators": [{"name": "perfect"}]}, BadSetting, "annotator type besides the bounds"),
        ({"annotators": [{"accuracy_relevant": 1}]}, BadSetting, "with a name"),
        ({"annotators": [{"name": "a", "check_all": 1.5}]}, BadSetting, "check_all"),
        ({"annotators": [{"name": "a", "judge_seconds": "5"}]}, BadSetting, "judge_seconds"),
        ({"annotators": [{"name": "a"}, {"name": "a"}]}, BadSetting, "two annotator types"),
        ({"repetitions": "3"}, BadSetting, "repetitions"),
    ):
        with pytest.raises(error, match=words):
            ask(store, study, "simulate", **{**WANTED, **settings})
    with store.writing() as session:
        session.execute(update(Pair).values(pooled=False))
    with pytest.raises(DataError, match="no pool yet"):
        ask(store, study, "simulate", **WANTED)


def test_values_of_bounds_can_be_changed(store, study):
    more = [*TYPES, {"name": "perfect", "judge_seconds": 4.0}]
    found = done(store, study, "simulate", **{**WANTED, "annotators": more})
    one = {
        row["annotator"]: row["seconds_per_image"]
        for row in found["types"]
        if row["setting"] == "one-at-a-time"
    }
    assert one == {"typical": 5.0, "quick": 3.0, "perfect": 4.0, "group-only": 5.0}


def clusters(store, study):
    """Group of each pair, by query and document."""
    query = (
        select(Topic.query_id, Document.doc_id, Pair.cluster)
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Document, Document.id == Pair.document_id)
        .where(Pair.study_id == study)
    )
    with store.reading() as session:
        return {(q, d): cluster for q, d, cluster in session.execute(query)}


def test_regroup_writes_the_groups_and_keeps_all_judgments(store, study):
    other, *_ = make_study(store, topics=1, documents=3, gold=2)
    judge_batch(store, store.campaign, store.people[0])
    opened = store.write(lambda s: open_next_batch(s, store.campaign, store.people[1], AT)).batch_id
    with store.reading() as session:
        before = session.scalar(select(func.count(Judgment.seq)))
    setting = Setting.parse("leader(cosine=0.8,cap=4)")
    found = done(store, study, "regroup", setting=str(setting), encoder="mine")
    want = setting.group(vectors_of().array)
    there = clusters(store, study)
    for topic in range(TOPICS):
        assert [there[f"q{topic}", name] for name in IDS] == [
            None if one < 0 else one for one in want.tolist()
        ]
    assert set(clusters(store, other).values()) == {None}
    assert found["rows"] == [
        {
            "setting": str(setting),
            "documents": TOPICS * DOCUMENTS,
            "groups": TOPICS * (int(want.max()) + 1),
            "single": TOPICS * int((want < 0).sum()),
        }
    ]
    with store.reading() as session:
        assert session.scalar(select(func.count(Judgment.seq))) == before > 0
        chosen = {"encoder": "mine", "setting": str(setting)}
        assert get_study(session, study).settings["grouping"] == chosen
        # A batch that was open before stays as it was given out.
        leases = session.scalars(select(Lease).where(Lease.batch_id == opened)).all()
        assert {lease.cluster for lease in leases} == {None}
    judge_batch(store, store.campaign, store.people[1])
    batch = store.write(lambda s: open_next_batch(s, store.campaign, store.people[1], AT)).batch_id
    with store.reading() as session:
        leases = session.scalars(select(Lease).where(Lease.batch_id == batch)).all()
        assert any(lease.cluster is not None for lease in leases)
    # The next simulation tries it too; one at a time takes the groups away.
    found = done(store, study, "simulate", **{**WANTED, "methods": "", "caps": "none"})
    assert {row["setting"] for row in found["rows"]} == {"one-at-a-time", str(setting)}
    done(store, study, "regroup", setting="one-at-a-time")
    assert set(clusters(store, study).values()) == {None}
    with store.reading() as session:
        assert get_study(session, study).settings["grouping"] == {}


def test_a_document_without_a_vector_is_single(store, study):
    short = Vectors.of(IDS[:-1], vectors_of().array[:-1], encoder="short")
    with store.writing() as session:
        files.put_vectors(session, study, short)
    found = done(store, study, "regroup", setting="leader(cosine=-1)", encoder="short")
    assert found["notes"] == [f"{TOPICS} documents without a vector: single"]
    assert found["rows"][0]["single"] == TOPICS


def test_regroup_refuses_what_it_has_no_vectors_for(store, study):
    for settings, error in (
        ({"setting": "leader(cosine=0.9)"}, BadSetting),
        ({"setting": "leader(cosine=0.9)", "encoder": "none"}, DataError),
        ({"setting": "near-duplicate(distance=4)", "encoder": "mine"}, DataError),
        ({"setting": "leeder"}, UnknownName),
    ):
        with pytest.raises(error):
            ask(store, study, "regroup", **settings)


class Letters:
    """How often each letter stands in a text; it remembers what it read."""

    reads = "text"

    def __init__(self):
        self.seen, self.after = [], {}

    def encode(self, documents):
        self.seen += documents
        if len(self.seen) in self.after:
            self.after.pop(len(self.seen))()
        letters = "0123456789d"
        return np.array([[text.count(one) for one in letters] for text in documents], np.float32)


@pytest.fixture
def letters(monkeypatch):
    made = Letters()
    monkeypatch.setattr(encode, "load_encoder", lambda name: made)
    monkeypatch.setattr(encode, "SAVE_SECONDS", -1.0)
    monkeypatch.setattr("venire.grouping.encoders.BATCH", 10)
    return made


def stored(store, study, name="letters"):
    with store.reading() as session:
        return files.read_vectors(session, study, name)[0]


def test_encode_goes_on_where_it_was_stopped(store, study, letters):
    job = ask(store, study, "encode", encoder="letters")
    letters.after[10] = lambda: store.write(lambda session: queue.stop_job(session, job))
    run_pending(store)
    ended, _, _, parts = state(store, job)
    assert (ended, len(letters.seen)) == ("stopped", 10)
    assert parts == ["letters-000000"]
    with pytest.raises(DataError, match="no vectors 'letters'"):
        stored(store, study)
    store.write(lambda session: queue.resume_job(session, job))
    run_pending(store)
    ended, message, result, parts = state(store, job)
    assert ended == "done", message
    assert parts == []
    assert len(letters.seen) == len(set(letters.seen)) == DOCUMENTS
    found = stored(store, study)
    assert found.ids == tuple(IDS)
    fresh = Vectors.of(IDS, Letters().encode([f"{name} {name}" for name in IDS]))
    assert np.array_equal(found.array, fresh.array)
    assert result["rows"] == [
        {"encoder": "letters", "documents": DOCUMENTS, "numbers": 11, "state": "added"}
    ]
    with pytest.raises(Conflict, match="done"):
        store.write(lambda session: queue.resume_job(session, job))


def test_only_documents_that_changed_are_encoded_again(store, study, letters):
    done(store, study, "encode", encoder="letters")
    letters.seen.clear()
    with store.writing() as session:
        frame = pl.DataFrame(
            {"doc_id": ["d3", "new"], "kind": "text", "title": "x", "body": ["33", "999"]}
        )
        put_documents(session, study, frame)
    found = done(store, study, "encode", encoder="letters")
    assert letters.seen == ["x 33", "x 999"]
    assert found["rows"][0] == {
        "encoder": "letters", "documents": DOCUMENTS + 1, "numbers": 11, "state": "changed",
    }  # fmt: skip
    assert stored(store, study).ids == (*IDS, "new")


def test_a_study_without_images_refuses_an_encoder_of_images(store, study):
    with pytest.raises(BadSetting, match="reads images"):
        ask(store, study, "encode", encoder="colour-histogram")
    with pytest.raises(UnknownName):
        ask(store, study, "encode", encoder="efficientnet")


def test_vectors_are_kept_exactly(store, study):
    found = stored(store, study, "mine")
    assert found.ids == tuple(IDS)
    assert np.array_equal(found.array, vectors_of().array)
    with store.reading() as session:
        assert session.scalar(select(StudyFile.rows).where(StudyFile.kind == "vectors")) == 30
