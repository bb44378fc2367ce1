"""Runs that the question about the order is not about."""

import numpy as np
import polars as pl

from venire import Runs
from venire.evaluation.ranks import RankTable
from venire.simulation.campaigns.compared_runs import drop_copies, find_contenders, select_runs


def table_of(rankings):
    runs = Runs(pl.concat([
        Runs.from_dict({q: {d: -n for n, d in enumerate(docs)} for q, docs in ranked.items()},
                       run_id=name).frame
        for name, ranked in rankings.items()
    ]))  # fmt: skip
    pairs = pl.DataFrame({"query_id": ["p"] * 3 + ["q"] * 3, "doc_id": list("abcabc")})
    return RankTable.of(runs, pairs)


def test_a_copy_counts_once():
    forward, backward = {"p": "abc", "q": "abc"}, {"p": "cba", "q": "cba"}
    table, notes = drop_copies(
        table_of({"b": forward, "a": forward, "c": backward, "d": {"p": "abc", "q": "ab"}})
    )
    assert table.runs == ["a", "c", "d"]
    assert notes == ["runs with the same ranking count once: b (as a) left out"]
    assert drop_copies(table)[1] == []


def test_a_selection_has_the_ranks_of_the_runs():
    rankings = {"a": {"p": "abc"}, "b": {"q": "cb"}, "c": {"p": "ba", "q": "a"}}
    some = select_runs(table_of(rankings), np.array([0, 2]))
    alone = table_of({name: rankings[name] for name in "ac"})
    for name in ("runs", "topics"):
        assert getattr(some, name) == getattr(alone, name)
    for name in ("segment", "rank", "pair", "retrieved", "topic"):
        assert getattr(some, name).tolist() == getattr(alone, name).tolist()


def test_runs_far_below_are_no_contenders():
    rng = np.random.default_rng(0)
    close = 0.6 + rng.normal(size=(4, 12)) * 0.1
    assert find_contenders(close).tolist() == [0, 1, 2, 3]
    hopeless = rng.random((2, 12)) * 0.02
    assert find_contenders(np.vstack([hopeless, close])).tolist() == [2, 3, 4, 5]
    # Low on average, but not told apart: one topic of twelve decides.
    uneven = np.zeros((1, 12))
    uneven[0, 0] = 1.0
    lucky = np.vstack([close, uneven])
    lucky[:4, 1:8] = 0.0
    assert find_contenders(lucky).tolist() == [0, 1, 2, 3, 4]
    assert find_contenders(np.array([[0.9], [0.5], [0.1]])).tolist() == [0, 1, 2]


def test_a_run_that_finds_nothing_changes_nothing():
    rng = np.random.default_rng(1)
    for _ in range(50):
        runs, topics = rng.integers(2, 6), rng.integers(1, 9)
        scores = rng.random((runs, topics)) * rng.random((runs, 1)) ** 3 + 1e-6
        alone = find_contenders(scores)
        both = find_contenders(np.vstack([scores, np.zeros((2, topics))]))
        assert both.tolist() == alone.tolist()
    # Where fewer than two runs find anything, all are compared.
    assert find_contenders(np.zeros((3, 4))).tolist() == [0, 1, 2]
