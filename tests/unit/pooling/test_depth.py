import pytest

from venire import Qrels, Runs
from venire.errors import BadSetting, DataError
from venire.pooling.base import Lists
from venire.pooling.depth import DepthK

# The three systems of the article on pooling.
ARTICLE = {
    "A": [3, 7, 12, 5, 9],
    "B": [7, 3, 15, 22, 5],
    "C": [12, 40, 3, 7, 18],
}
ARTICLE = {run: [str(doc) for doc in docs] for run, docs in ARTICLE.items()}


def test_nine_documents_instead_of_fifteen(lists):
    pool = DepthK(depth=5).pool(lists(ARTICLE))
    assert set(pool.frame["doc_id"].cast(int)) == {3, 5, 7, 9, 12, 15, 18, 22, 40}
    assert len(pool) == 9
    assert not pool.biased


def test_order_is_by_best_rank_then_by_runs(lists):
    pool = DepthK(depth=2).pool(lists(ARTICLE))
    # At depth 2: 3 and 7 first in one run and second in another, 12 first in one, 40 second.
    assert pool.frame["doc_id"].to_list() == ["3", "7", "12", "40"]
    assert pool.frame["order"].to_list() == [1, 2, 3, 4]
    assert pool.frame["rank"].to_list() == [1, 1, 1, 2]


def test_the_tie_rule_decides_the_cut():
    runs = Runs.from_dict({"q": {"a": 1.0, "b": 1.0}})
    assert DepthK(depth=1).pool(Lists.of(runs)).frame["doc_id"].to_list() == ["b"]
    ascending = Lists.of(runs, ties="docid-ascending")
    assert DepthK(depth=1).pool(ascending).frame["doc_id"].to_list() == ["a"]


def test_topics_keep_the_order_of_the_runs():
    runs = Runs.from_dict({"q10": {"a": 1}, "q9": {"b": 1}, "q1": {"c": 1}})
    assert DepthK(depth=1).pool(Lists.of(runs)).frame["query_id"].to_list() == ["q10", "q9", "q1"]


def test_wrong_input(lists):
    with pytest.raises(BadSetting, match=r"`depth` must be >= 1 \(got 0\)"):
        DepthK(depth=0)
    with pytest.raises(DataError, match="no runs"):
        Lists.of(Runs(lists({"A": ["a"]}).frame.clear()))
    with pytest.raises(BadSetting, match=r"`depth` must be >= 1"):
        lists({"A": ["a"]}, depth=0)


def test_written_as_trec_qrels_minus_1_says_not_judged(lists, tmp_path):
    pool = DepthK(depth=1).pool(lists(ARTICLE))
    pool.write(tmp_path / "pool.qrels")
    assert (tmp_path / "pool.qrels").read_text() == "q 0 12 -1\nq 0 3 -1\nq 0 7 -1\n"
    pool.write(tmp_path / "pool.qrels", Qrels.from_dict({"q": {"7": 2, "9": 1}}))
    assert (tmp_path / "pool.qrels").read_text() == "q 0 12 -1\nq 0 3 -1\nq 0 7 2\n"


def test_written_as_a_table(lists, tmp_path):
    DepthK(depth=1).pool(lists({"A": ["a"]})).write(tmp_path / "pool.csv")
    assert (tmp_path / "pool.csv").read_text() == (
        "query_id,doc_id,order,rank,runs,probability\nq,a,1,1,1,1.0\n"
    )
