import polars as pl
import pytest

from venire import Qrels, Runs
from venire.errors import BadSetting, UnknownName
from venire.evaluation.score import rank
from venire.reliability.leave_one_out import leave_one_out
from venire.reliability.unjudged import measure_unjudged

QRELS = Qrels.from_dict({"q": {"a": 1, "b": 0, "u": 1, "z": 1}})


def runs_of(**lists):
    parts = [
        Runs.from_dict({"q": {doc: -at for at, doc in enumerate(docs)}}, run_id=name).frame
        for name, docs in lists.items()
    ]
    return Runs(pl.concat(parts))


@pytest.fixture
def table():
    # Only `odd` has u in its first two; z is in nobody's first two.
    return rank(QRELS, runs_of(one=["b", "a", "u"], two=["b", "a", "z"], odd=["u", "b", "a"]))


def by_run(result):
    return {row["run_id"]: row for row in result.frame.to_dicts()}


def test_unique_documents_become_unjudged(table):
    rows = by_run(leave_one_out(table, table.grades(QRELS), "AP", depth=2))
    # R = 3 before: odd has (1/1 + 2/3) / 3; R = 2 without u: odd has (1/3) / 2.
    assert rows["odd"]["score"] == pytest.approx(5 / 9)
    assert rows["odd"]["score_without"] == pytest.approx(1 / 6)
    assert (rows["odd"]["unique"], rows["odd"]["unique_relevant"]) == (1, 1)
    # Without u: one has (1/2)/2 = 1/4, two (1/2 + 2/3)/2, so odd falls from the first place.
    assert (rows["odd"]["rank"], rows["odd"]["rank_without"]) == (1, 3)
    assert rows["one"]["change"] == 0.0
    assert rows["one"]["unique"] == 0


def test_who_leads_without(table):
    result = leave_one_out(table, table.grades(QRELS), "AP", depth=2)
    assert result.leaders == ("odd",)
    assert result.worst["run_id"] == "odd"
    assert result.notes == (
        "1 judged pair outside the first 2 of every run: stay judged whoever is left out",
    )


def test_a_group_hides_nothing(table):
    # b and a are in the first two of both `one` and `two`; only `odd` has b besides.
    alone = by_run(leave_one_out(table, table.grades(QRELS), depth=2))
    both = by_run(
        leave_one_out(table, table.grades(QRELS), depth=2, groups={"one": "g", "two": "g"})
    )
    assert alone["one"]["unique"] == 0
    assert both["one"]["unique"] == 1
    assert both["one"]["group"] == "g"


def test_the_average_keeps_its_topics():
    # The only judged pair of topic r is unique to `odd`; r still counts, as 0.
    qrels = Qrels.from_dict({"q": {"a": 1}, "r": {"x": 1}})
    odd = Runs.from_dict({"q": {"a": 1}, "r": {"x": 1}}, run_id="odd").frame
    other = Runs.from_dict({"q": {"a": 1}, "r": {"y": 1}}, run_id="other").frame
    table = rank(qrels, Runs(pl.concat([odd, other])))
    rows = by_run(leave_one_out(table, table.grades(qrels), depth=1))
    assert rows["odd"]["score"] == 1.0
    assert rows["odd"]["score_without"] == 0.5


def test_wrong_input(table):
    with pytest.raises(BadSetting, match="depth"):
        leave_one_out(table, table.grades(QRELS), depth=0)
    with pytest.raises(UnknownName, match="onn"):
        leave_one_out(table, table.grades(QRELS), groups={"onn": "g"})
    with pytest.raises(BadSetting, match="depth"):
        measure_unjudged(table, table.grades(QRELS), depth=0)


def test_unjudged_shares():
    qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "p": -1}, "r": {"x": 1}})
    table = rank(qrels, runs_of(full=["a", "b"], half=["a", "new"], minus=["p", "a", "b", "c"]))
    found = measure_unjudged(table, table.grades(qrels))
    # Averaged over the one topic they have; -1 is in the pool, but not judged.
    assert found.frame.rows() == [("half", 0.5), ("minus", 0.5), ("full", 0.0)]
    assert found.worst["run_id"] == "half"
