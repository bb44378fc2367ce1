"""The three systems of the article on pooling; every number is worked by hand."""

import pytest

from venire import Qrels, Runs
from venire.errors import BadSetting, NoOverlap, UnknownName
from venire.simulation.pools.pool_simulator import PoolSimulator

SYSTEMS = {"A": [3, 7, 12, 5, 9], "B": [7, 3, 15, 22, 5], "C": [12, 40, 3, 7, 18]}
# 99 is relevant and in no run.
QRELS = Qrels.from_dict({"q": {"12": 1, "22": 1, "99": 1, "7": 0}})


def runs_of(systems):
    rows = [
        ("q", str(doc), -float(rank), run)
        for run, docs in systems.items()
        for rank, doc in enumerate(docs)
    ]
    columns = ("query_id", "doc_id", "score", "run_id")
    return Runs.of(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)))


@pytest.fixture
def pools():
    return PoolSimulator.of(QRELS, runs_of(SYSTEMS), deepest=5)


def column(frame, name):
    return dict(frame.select("run_id", name).iter_rows())


def test_scores_rise_and_the_order_holds(pools):
    found = pools.scores(5)
    # Three relevant documents are known; the pool has two of them.
    true = {"A": 1 / 3 / 3, "B": 1 / 4 / 3, "C": 1 / 3}
    assert column(found.frame, "score") == pytest.approx(true)
    assert column(found.frame, "pool_score") == pytest.approx({"A": 1 / 6, "B": 1 / 8, "C": 1 / 2})
    assert found.frame["run_id"].to_list() == ["C", "A", "B"]
    assert found.tau == 1
    assert found.swapped == 0
    assert found.found_share == pytest.approx(2 / 3)
    assert set(column(found.frame, "unjudged").values()) == {0.0}


def test_a_pool_of_one_family(pools):
    found = pools.scores(5, ["A"])
    assert column(found.frame, "in_pool") == {"A": True, "B": False, "C": False}
    assert column(found.frame, "pool_score") == pytest.approx({"A": 1 / 3, "B": 0, "C": 1})
    # 15 and 22 of B, 40 and 18 of C.
    assert column(found.frame, "unjudged") == pytest.approx({"A": 0, "B": 0.4, "C": 0.4})
    assert found.found_share == pytest.approx(1 / 3)


def test_leave_one_out(pools):
    left = pools.leave_one_out(5)
    assert column(left, "alone") == {"A": 1, "B": 2, "C": 2}
    # Without B nobody has 22: B finds nothing, of one relevant document.
    assert column(left, "drop") == pytest.approx({"A": 0, "B": 1 / 8, "C": 0})
    assert column(left, "rank") == {"A": 2, "B": 3, "C": 1}
    assert column(left, "rank_alone") == {"A": 2, "B": 3, "C": 1}


def test_a_row_a_depth(pools):
    rows = pools.depths([1, 5], collection_size=100).to_dicts()
    assert [row["pairs"] for row in rows] == [3, 9]
    assert [row["found"] for row in rows] == [1, 2]
    assert rows[1]["share_of_lists"] == 9 / 15
    assert rows[1]["share_of_collection"] == 0.09
    assert rows[1]["largest_drop"] == pytest.approx(1 / 8)
    assert rows[1]["drop_run"] == "B"
    # Depth 1: 3, 7 and 12. A and C keep 12; B has nothing, so the order holds.
    assert rows[0]["tau"] == 1


def test_grades_below_the_least_relevant_count_nothing():
    qrels = Qrels.from_dict({"q": {"12": 2, "22": 1}})
    found = PoolSimulator.of(qrels, runs_of(SYSTEMS), deepest=5, relevant_from=2).scores(5)
    assert column(found.frame, "score") == pytest.approx({"A": 1 / 3, "B": 0, "C": 1})


def test_what_cannot_be(pools):
    with pytest.raises(BadSetting, match=r"`depth` must be between 1 and `deepest`, 5 \(got 6\)"):
        pools.scores(6)
    with pytest.raises(UnknownName, match="run"):
        pools.scores(5, ["D"])
    with pytest.raises(NoOverlap):
        PoolSimulator.of(Qrels.from_dict({"x": {"1": 1}}), runs_of(SYSTEMS))
    with pytest.raises(BadSetting, match="two runs"):
        PoolSimulator.of(QRELS, runs_of({"A": [1]}), deepest=1).leave_one_out(1)
