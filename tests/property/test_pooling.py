import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from venire import Qrels, Runs
from venire.pooling.base import Lists
from venire.pooling.strategies import build_strategy, list_adaptive, list_strategies
from venire.pooling.stratified import share_budget

DOCS = st.sampled_from("abcdefgh")
RANKINGS = st.dictionaries(
    st.sampled_from(["A", "B", "C"]),
    st.dictionaries(
        st.sampled_from(["q1", "q2"]), st.lists(DOCS, min_size=1, unique=True), min_size=1
    ),
    min_size=1,
)
GRADES = st.dictionaries(DOCS, st.integers(0, 2))


def runs_of(rankings):
    rows = [
        (run, query, doc, float(-rank))
        for run, lists in rankings.items()
        for query, docs in lists.items()
        for rank, doc in enumerate(docs)
    ]
    return Runs.of(pl.DataFrame(rows, schema=["run_id", "query_id", "doc_id", "score"],
                                orient="row"))  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(RANKINGS, st.integers(1, 9))
def test_the_depth_pool_is_the_union_of_sets(rankings, k):
    wanted = {
        (query, doc)
        for lists in rankings.values()
        for query, docs in lists.items()
        for doc in docs[:k]
    }
    pool = build_strategy("depth", {"depth": k}).pool(Lists.of(runs_of(rankings)))
    found = list(pool.frame.select("query_id", "doc_id").iter_rows())
    assert len(found) == len(set(found))
    assert set(found) == wanted


@settings(max_examples=30, deadline=None)
@given(RANKINGS, GRADES, st.sampled_from(sorted(list_strategies())), st.integers(0, 5))
def test_pools_do_not_depend_on_the_order_of_rows(rankings, grades, name, seed):
    runs = runs_of(rankings)
    other = Runs(runs.frame.sample(fraction=1, shuffle=True, seed=seed))
    known = Qrels.from_dict({"q1": grades, "q2": grades})
    first, second = (
        build_strategy(name, {})
        .pool(Lists.of(table), outcomes=known, seed=seed)
        .frame.sort("query_id", "order")
        for table in (runs, other)
    )
    assert first.equals(second)


@settings(max_examples=30, deadline=None)
@given(RANKINGS, GRADES, st.sampled_from(sorted(list_adaptive())), st.integers(1, 10))
def test_adaptive_pools_are_prefixes_of_longer_ones(rankings, grades, name, budget):
    lists = Lists.of(runs_of(rankings))
    known = Qrels.from_dict({"q1": grades, "q2": grades})
    long = build_strategy(name, {}).pool(lists, outcomes=known).frame
    short = build_strategy(name, {"budget": budget}).pool(lists, outcomes=known).frame
    assert long.filter(pl.col("order") <= budget).equals(short)
    assert long.height == lists.list_pairs().height


@given(
    st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), min_size=1, max_size=5),
    st.integers(0, 100),
)
def test_a_budget_is_used_up_and_never_overdrawn(room, budget):
    import numpy as np

    room = np.array(room)
    given = share_budget(room, budget)
    assert (given >= 0).all()
    assert (given <= room).all()
    assert (given.sum(axis=1) == np.minimum(budget, room.sum(axis=1))).all()
    # Who has less than another has all it can have (but for the one document of a remainder).
    for row, most in zip(given, room, strict=True):
        for at in range(3):
            assert row[at] == most[at] or row[at] >= row.max() - 1
