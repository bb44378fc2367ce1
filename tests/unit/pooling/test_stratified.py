import numpy as np
import polars as pl
import pytest

import venire
from venire import Qrels, Runs
from venire.errors import BadSetting
from venire.pooling.base import Lists
from venire.pooling.statistics import summarise
from venire.pooling.stratified import Stratified, share_budget

HUNDRED = {"A": [f"d{rank:03}" for rank in range(1, 121)]}


def run_of(documents):
    return {"q": {document: -float(rank) for rank, document in enumerate(documents)}}


def sizes(pool):
    counts = pool.frame.group_by("stratum").agg(
        pl.len(), pl.col("sampled").sum(), pl.col("probability").unique().sort()
    )
    return counts.sort("stratum").rows()


def test_rates(lists):
    pool = Stratified(rates=(1.0, 0.5, 0.1)).pool(lists(HUNDRED))
    assert sizes(pool) == [(1, 10, 10, [1.0]), (2, 40, 20, [0.5]), (3, 50, 5, [0.1])]
    assert len(pool) == 35
    assert not pool.biased


def test_rates_by_default_halve(lists):
    assert [row[2] for row in sizes(Stratified().pool(lists(HUNDRED)))] == [10, 20, 13]


def test_a_rate_leaves_no_stratum_without(lists):
    pool = Stratified(strata=(1, 4), rates=(0.01, 0.01)).pool(lists(HUNDRED))
    assert sizes(pool) == [(1, 1, 1, [1.0]), (2, 3, 1, [1 / 3])]


def test_a_budget_is_shared_out(lists):
    pool = Stratified(strata=(2, 32, 62), budget=20).pool(lists(HUNDRED))
    assert sizes(pool) == [(1, 2, 2, [1.0]), (2, 30, 9, [0.3]), (3, 30, 9, [0.3])]


@pytest.mark.parametrize(
    ("room", "budget", "given"),
    [
        ([2, 30, 30], 20, [2, 9, 9]),
        ([30, 30, 2], 20, [9, 9, 2]),
        ([5, 5, 5], 20, [5, 5, 5]),
        ([5, 5, 5], 4, [2, 1, 1]),
        ([0, 5, 5], 3, [0, 2, 1]),
    ],
)
def test_share_budget(room, budget, given):
    assert share_budget(np.array([room]), budget).tolist() == [given]


def test_the_seed_decides(lists):
    first = Stratified().pool(lists(HUNDRED), seed=1)
    assert first.frame.equals(Stratified().pool(lists(HUNDRED), seed=1).frame)
    assert not first.to_judge.equals(Stratified().pool(lists(HUNDRED), seed=2).to_judge)


def test_every_document_has_the_probability_that_is_stored():
    # 1,000 topics, each with its own draw: 2 of 8 documents.
    topics = {f"q{at}": {doc: -rank for rank, doc in enumerate("abcdefgh")} for at in range(1000)}
    ranked = Lists.of(Runs.from_dict(topics))
    pool = Stratified(strata=(8,), rates=(0.25,)).pool(ranked)
    assert pool.frame["probability"].unique().to_list() == [0.25]
    share = pool.to_judge.group_by("doc_id").len()["len"].to_numpy() / 1000
    assert share.size == 8
    # Four standard deviations of a share of 1,000 at 1/4.
    assert np.abs(share - 0.25).max() < 4 * np.sqrt(0.25 * 0.75 / 1000)


def test_five_columns(lists, tmp_path):
    pool = Stratified(strata=(1, 3), rates=(1.0, 0.5)).pool(lists({"A": ["a", "b", "c", "z"]}))
    grades = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 0, "z": 1}})
    pool.write(tmp_path / "sample.qrels", grades)
    lines = (tmp_path / "sample.qrels").read_text().splitlines()
    assert lines[0] == "q 0 a 1 1"
    assert sorted(line.split()[3:] for line in lines[1:]) == [["2", "-1"], ["2", "0"]]
    assert {line.split()[2] for line in lines} == {"a", "b", "c"}
    with pytest.raises(BadSetting, match="Pass the qrels"):
        pool.write(tmp_path / "sample.qrels")


def test_the_estimate_weighs_by_probability(lists):
    relevant = dict.fromkeys(HUNDRED["A"][:50], 1)
    grades = Qrels.from_dict({"q": dict.fromkeys(HUNDRED["A"], 0) | relevant})
    ranked = lists(HUNDRED)
    pool = Stratified(rates=(1.0, 0.5, 0.1)).pool(ranked)
    # All of strata 1 and 2 is relevant: 10 / 1 + 20 / (1/2).
    assert summarise(pool, ranked, qrels=grades)["estimated_relevant"] == pytest.approx(50)
    # While a sampled pair has no grade, nothing is estimated.
    half = Qrels.from_dict({"q": relevant})
    assert summarise(pool, ranked, qrels=half)["estimated_relevant"] is None


def test_sampled_pairs_without_a_grade_differ_from_those_not_sampled(lists, tmp_path):
    half = Qrels.from_dict({"q": dict.fromkeys(HUNDRED["A"][:5], 1)})
    pool = Stratified(rates=(1.0, 0.5, 0.1)).pool(lists(HUNDRED))
    pool.write(tmp_path / "sample.qrels", half)
    grades = Qrels.read(tmp_path / "sample.qrels").frame["relevance"]
    # 10 + 20 + 5 pairs are sampled; 5 of the first ten have a grade.
    assert grades.value_counts().sort("relevance").rows() == [(-2, 30), (-1, 65), (1, 5)]
    built = venire.pool(run_of(HUNDRED["A"]), "stratified", rates=(1.0, 0.5, 0.1), qrels=half)
    assert any("30 sampled pairs of 35 have no grade yet" in note for note in built.notes)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"strata": (10, 10)}, "must be increasing ranks"),
        ({"strata": ()}, "must be increasing ranks"),
        ({"strata": (0, 5)}, "must be increasing ranks"),
        ({"rates": (0.5,)}, r"one rate per stratum, 3 \(got 1\)"),
        ({"rates": (1.0, 0.5, 0.0)}, r"must be > 0 and <= 1 \(got 0\)"),
        ({"rates": (1.0, 0.5, 0.1), "budget": 10}, "cannot be combined with rates"),
        ({"budget": 2}, r"`budget` must be >= 3 \(got 2\)"),
    ],
)
def test_wrong_settings(settings, said):
    with pytest.raises(BadSetting, match=said):
        Stratified(**settings)
