import pytest

from venire import Qrels
from venire.errors import BadSetting, NoOverlap
from venire.pooling.bandit import MaxMeanBandit
from venire.pooling.depth import DepthK
from venire.pooling.statistics import count_by_run, count_by_topic, summarise

RANKED = {"A": ["a", "b", "c"], "B": ["b", "a", "d"], "C": ["e", "a", "b"]}
# f is relevant and in no run; m is "in the pool, not judged".
GRADES = Qrels.from_dict({"q": {"a": 2, "b": 1, "e": 1, "f": 1, "d": 0, "c": -1}, "r": {"x": 1}})


def test_a_depth_pool(lists):
    ranked = lists(RANKED)
    row = summarise(DepthK(depth=2).pool(ranked), ranked, qrels=GRADES, collection_size=10)
    assert row == {
        "topics": 1,
        "pairs": 3,
        "per_topic": 3,
        "share_of_lists": 3 / (3 * 2),
        "share_of_collection": 0.3,
        "judged": 3,
        "relevant": 5,
        "found": 3,
        "found_share": 3 / 5,
        "best_run": "A",
        "best_run_share": 2 / 5,
    }


def test_relevant_from(lists):
    ranked = lists(RANKED)
    row = summarise(DepthK(depth=1).pool(ranked), ranked, qrels=GRADES, relevant_from=2)
    assert (row["relevant"], row["found"]) == (1, 1)


def test_a_pool_without_a_depth_has_no_share_of_lists(lists):
    ranked = lists(RANKED)
    row = summarise(MaxMeanBandit(budget=2).pool(ranked), ranked)
    assert row == {"topics": 1, "pairs": 2, "per_topic": 2, "share_of_lists": None}


def test_what_each_run_adds(lists):
    ranked = lists(RANKED)
    assert count_by_run(DepthK(depth=2).pool(ranked), ranked, qrels=GRADES) == [
        {"run": "A", "documents": 2, "alone": 0, "relevant": 2, "relevant_alone": 0},
        {"run": "B", "documents": 2, "alone": 0, "relevant": 2, "relevant_alone": 0},
        {"run": "C", "documents": 2, "alone": 1, "relevant": 2, "relevant_alone": 1},
    ]
    assert count_by_run(DepthK(depth=1).pool(ranked), ranked)[0] == {
        "run": "A",
        "documents": 1,
        "alone": 1,
    }


def test_each_topic(lists):
    ranked = lists(RANKED)
    assert count_by_topic(DepthK(depth=1).pool(ranked), ranked, qrels=GRADES) == [
        {"topic": "q", "documents": 3, "relevant": 4, "found": 3}
    ]


def test_wrong_input(lists):
    ranked = lists(RANKED)
    pool = DepthK(depth=1).pool(ranked)
    with pytest.raises(NoOverlap, match="topics of the qrels: z; topics of the runs: q"):
        summarise(pool, ranked, qrels=Qrels.from_dict({"z": {"a": 1}}))
    with pytest.raises(BadSetting, match=r"`collection_size` must be >= 1 \(got 0\)"):
        summarise(pool, ranked, collection_size=0)
