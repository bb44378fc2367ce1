"""Judgments that count, the raw record, settled grades, adjudication, history."""

import json

import polars as pl
import pytest
from sqlalchemy import select

from studies_for_tests import AT, event, judge_batch, make_study
from venire.agreement.summary import measure_agreement
from venire.errors import BadSetting, DataError, NotFound, UnknownName
from venire.server.judging.events import record
from venire.server.judging.next_batch import open_next_batch
from venire.server.judging.review import decide
from venire.server.store.judging import Lease
from venire.server.store.studies import Pair
from venire.server.store.work import Decision
from venire.server.studies import judgments
from venire.server.studies.adjudication import list_disagreements, read_details, settle, unsettle
from venire.server.studies.grades import read_grades
from venire.server.studies.history import read_history
from venire.server.studies.pairs import find_pair

# Three documents of one topic; the labels of three people on each.
TOLD = {0: (0, 0, 0), 1: (2, 2, 0), 2: (0, 1, 2)}


def told_study(store):
    """A study whose labels are those of TOLD, by the place of the pair."""
    study, campaign, people = make_study(
        store, topics=1, documents=3, gold=2, campaign={"batch_size": 3}
    )
    with store.reading() as session:
        gold = 2
        pairs = list(session.scalars(select(Pair.id).order_by(Pair.document_id)))[: 3 + gold]
    real = {find(store, study, f"d{i}"): i for i in range(3)}
    assert set(real) <= set(pairs)
    for who, person in enumerate(people):
        judge_batch(store, campaign, person, lambda pair, who=who: TOLD[real[pair]][who])
    return study, campaign, people


def find(store, study, doc):
    with store.reading() as session:
        return find_pair(session, study, "q0", doc)


def table(store, study, **options):
    with store.reading() as session:
        return judgments.read_judgments(session, study, **options)


def raw_frame(store, study):
    with store.reading() as session:
        return pl.concat(judgments.read_raw(session, study))


def test_the_judgments_that_count(store):
    study, campaign, people = told_study(store)
    found = table(store, study)
    assert len(found) == 9
    assert found.scale.values == (0.0, 1.0, 2.0)
    assert set(found.frame["annotator_id"]) == set(people)
    labels = found.frame.sort("doc_id", "label").group_by("doc_id", maintain_order=True)
    assert labels.agg("label")["label"].to_list() == [[0, 0, 0], [0, 2, 2], [0, 1, 2]]
    assert found.frame["judged_at"].dtype == pl.Datetime("us", "UTC")
    assert found.frame["seconds"].to_list() == [3.0] * 9
    assert len(table(store, study, gold=True)) == 15
    assert len(table(store, study, campaign_id=campaign)) == 9
    assert len(table(store, study, campaign_id="other")) == 0
    assert measure_agreement(found, bootstrap=0)["alpha-ordinal"].value is not None


def test_what_was_rejected_does_not_count_and_stays_in_the_raw_record(store):
    study, _, _ = told_study(store)
    batch = table(store, study).frame["batch_id"][0]
    store.write(lambda session: decide(session, batch, False, "doubtful", None, AT))
    assert len(table(store, study)) == 6
    raw = raw_frame(store, study)
    assert raw.height == 15
    assert raw.filter("counts").height == 6
    gone = raw.filter(pl.col("batch_id") == batch)
    assert set(gone["state"]) == {"rejected"}
    assert set(gone["batch_reason"]) == {"doubtful"}
    assert raw["gold"].sum() == 6


def test_the_raw_record_tells_what_became_of_each_judgment(store):
    study, campaign, (ann, *_) = make_study(store, topics=1, documents=5, gold=2)
    found = store.write(lambda session: open_next_batch(session, campaign, ann, AT))
    with store.reading() as session:
        leases = session.scalars(
            select(Lease).where(Lease.batch_id == found.batch_id, Lease.gold_grade.is_(None))
        ).all()
    one, two, three = (lease.id for lease in leases[:3])
    events = [
        event("label", one, label=0, active_ms=1500),
        event("label", one, label=2, active_ms=500),
        event("comment", one, text="first"),
        event("comment", one, text='said, "later"\nand more'),
        event("label", two, label=1),
        event("undo", two),
        event("cannot", three, reason="broken"),
    ]
    store.write(lambda session: record(session, found.batch_id, ann, events, AT))
    raw = raw_frame(store, study)
    assert raw["state"].to_list() == ["replaced", "judged", "replaced", "withdrawn", "cannot"]
    assert raw["label"].to_list() == [0, 2, 1, None, None]
    assert raw["counts"].to_list() == [False] * 5  # the batch is not decided yet
    assert raw["comment"].to_list()[:3] == ['said, "later"\nand more'] * 2 + [None]
    assert raw["reason"].to_list()[-1] == "broken"
    assert raw["seconds"].to_list()[:3] == [1.5, 0.5, None]


def test_the_raw_record_is_written_in_three_ways_that_say_the_same(store, tmp_path, monkeypatch):
    monkeypatch.setattr(judgments, "ROWS_PER_STATEMENT", 4)
    study, _, _ = told_study(store)
    frame = raw_frame(store, study)
    for ending in ("csv", "jsonl", "parquet"):
        path = tmp_path / f"raw.{ending}"
        with store.reading() as session:
            assert judgments.write_raw(session, study, path) == 15
            again = tmp_path / f"again.{ending}"
            judgments.write_raw(session, study, again)
        assert path.read_bytes() == again.read_bytes()
    read = pl.read_parquet(tmp_path / "raw.parquet")
    assert read.equals(frame)
    lines = [json.loads(line) for line in (tmp_path / "raw.jsonl").read_text().splitlines()]
    assert [line["label"] for line in lines] == frame["label"].to_list()
    assert lines[0]["judged_at"] == "2026-01-05T12:00:00.000000Z"
    csv = pl.read_csv(tmp_path / "raw.csv")
    assert csv.columns == frame.columns
    assert csv["doc_id"].to_list() == frame["doc_id"].to_list()
    with (
        store.reading() as session,
        pytest.raises(BadSetting, match=r"unknown file extension\. Choose \.csv"),
    ):
        judgments.write_raw(session, study, tmp_path / "raw.xlsx")


def grades(store, study, source):
    with store.reading() as session:
        return read_grades(session, study, source).to_dict()


def test_settled_grades_take_the_place_of_the_majority(store):
    study, _, _ = told_study(store)
    assert grades(store, study, "majority") == {"q0": {"d0": 0, "d1": 2, "d2": 0}}
    assert grades(store, study, "adjudicated") == grades(store, study, "majority")
    with pytest.raises(DataError, match="No grade is adjudicated"):
        grades(store, study, "settled")
    pair = find(store, study, "d2")
    store.write(lambda session: settle(session, study, pair, 1, None, "between"))
    assert grades(store, study, "settled") == {"q0": {"d2": 1}}
    assert grades(store, study, "adjudicated")["q0"] == {"d0": 0, "d1": 2, "d2": 1}
    store.write(lambda session: settle(session, study, pair, 2, None, "on second thought"))
    assert grades(store, study, "settled") == {"q0": {"d2": 2}}
    store.write(lambda session: unsettle(session, study, pair, None, "undo"))
    assert grades(store, study, "adjudicated") == grades(store, study, "majority")
    assert len(table(store, study)) == 9  # the judgments stayed
    with store.reading() as session:
        assert len(session.scalars(select(Decision).where(Decision.kind == "grade")).all()) == 3
    with pytest.raises(DataError, match="no adjudicated grade"):
        store.write(lambda session: unsettle(session, study, pair, None))
    with pytest.raises(BadSetting, match=r"`grade` must be a grade of the scale: .*\(got 7\)"):
        store.write(lambda session: settle(session, study, pair, 7, None))
    with pytest.raises(NotFound):
        store.write(lambda session: settle(session, study, 10**9, 1, None))
    with pytest.raises(NotFound):
        grades(store, study, "job:none")
    with pytest.raises(UnknownName, match="Unknown source of grades 'median'"):
        grades(store, study, "median")


def test_disagreements_come_with_the_worst_first(store):
    study, _, _ = told_study(store)
    with store.reading() as session:
        rows, total = list_disagreements(session, study)
    assert total == 2
    assert [row["doc_id"] for row in rows] == ["d2", "d1"]
    assert rows[0]["entropy"] == pytest.approx(1.584962500721156)  # log2 3
    assert rows[1]["entropy"] == pytest.approx(0.9182958340544896)  # of 1/3 and 2/3
    assert rows[1]["labels"] == {0: 1, 2: 2}
    pair = rows[0]["pair_id"]
    store.write(lambda session: settle(session, study, pair, 1, None, "between"))
    with store.reading() as session:
        assert list_disagreements(session, study)[1] == 1
        rows, total = list_disagreements(session, study, settled=True, limit=1)
        assert total == 2
        assert rows[0]["settled"] == 1
        found = read_details(session, study, pair)
    assert sorted(one["label"] for one in found["judgments"]) == [0, 1, 2]
    assert {one["annotator"] for one in found["judgments"]} == {"p0", "p1", "p2"}
    assert found["settled"] == 1
    assert [one["reason"] for one in found["decisions"]] == ["between"]
    assert all(one["counts"] for one in found["judgments"])


def test_the_history_of_a_grade_is_in_the_order_of_time(store):
    study, _, _ = told_study(store)
    pair = find(store, study, "d2")
    store.write(lambda session: settle(session, study, pair, 1, None, "between"))
    with store.reading() as session:
        rows = read_history(session, study, "q0", "d2")
        every = read_history(session, study, "q0")
        with pytest.raises(NotFound):
            read_history(session, study, "q9")
        with pytest.raises(NotFound):
            read_history(session, study, "q0", "d9")
    what = [row["what"] for row in rows]
    assert what.count("lease") == what.count("event") == what.count("judgment") == 3
    assert what.count("decision") == 4  # three batches, one grade
    times = [row["at"] for row in rows if row["at"]]
    assert times == sorted(times)
    assert rows[-1]["text"] == "grade settled: between"
    assert {row["doc_id"] for row in rows} == {"d2", None}
    assert len(every) > len(rows)
    assert every[0]["what"] == "gold"
