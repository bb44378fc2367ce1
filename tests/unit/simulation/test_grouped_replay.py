from pathlib import Path

import numpy as np
import polars as pl
import pytest
from grouped import by_hand, labels_of, pools_of
from hypothesis import given, settings
from hypothesis import strategies as st

from venire import Qrels
from venire.errors import BadSetting, DataError, MissingColumns, NoOverlap, UnknownName
from venire.grouping.settings import Setting, grid, parse_methods
from venire.grouping.vectors import Vectors
from venire.simulation.grouping.annotators import (
    BOUNDS,
    TYPES,
    annotator,
    numbers,
    parse_annotators,
    references,
    times_table,
    types_table,
    with_bounds,
)
from venire.simulation.grouping.pools import GroupedPools, Groupings, with_always
from venire.simulation.grouping.replay import Chance, expected_seconds, replay, results, simulate

SIZES = (40, 1, 7, 25, 60)


def one(pools, labels, person, repetitions=3, seed=0):
    return replay(pools, labels, person, Chance.draw(pools, repetitions, seed)).frame


# The numbers of the manual page.


def test_the_numbers_are_those_of_the_manual_page():
    manual = {
        "accuracy_relevant": (0.60, 0.68, 0.85),
        "accuracy_not_relevant": (0.75, 0.82, 0.95),
        "check_all": (6, 8, 16),
        "check_probability": (0.5, 0.7, 0.9),
    }
    times = {
        "judge_seconds": 5, "label_seconds": 3, "correct_seconds": 1, "split_seconds": 1,
        "glance_relevant_seconds": 1.4, "glance_not_relevant_seconds": 0.2,
    }  # fmt: skip
    for at, name in enumerate(TYPES):
        person = annotator(name)
        assert {key: getattr(person, key) for key in manual} == {
            key: row[at] for key, row in manual.items()
        }
        assert {key: getattr(person, key) for key in times} == times
    assert all(row["source"] for kind in numbers().values() for row in kind)
    assert types_table()[0]["Novice"] == "0.60"
    assert [row["Typical"] for row in times_table()] == ["5 s", "3 s", "1 s", "1 s", "1.4 s",
                                                         "0.2 s"]  # fmt: skip


# The oracles.


@pytest.mark.parametrize("name", [*TYPES, *BOUNDS])
def test_one_at_a_time_costs_exactly_5n(name):
    pools = pools_of(SIZES)
    frame = one(pools, np.full(len(pools), -1), annotator(name))
    assert (frame["seconds"] == 5 * frame["images"]).all()
    assert (frame["judged"] == frame["images"]).all()
    assert frame.select("labelled", "corrected", "split", "never_looked").sum().row(0) == (0,) * 4


def test_expected_recall_one_at_a_time_is_the_accuracy_on_relevant():
    pools = pools_of((20_000,), share=0.5)
    n = int(pools.relevant.sum())
    for name in TYPES:
        person = annotator(name)
        frame = one(pools, np.full(len(pools), -1), person, repetitions=4)
        p = person.accuracy_relevant
        # Binomial: five standard deviations of the mean over 4 n draws.
        assert abs(frame["recall"].mean() - p) < 5 * np.sqrt(p * (1 - p) / (4 * n))
        wrong = (frame["called"] - frame["found"]).mean() / (len(pools) - n)
        assert wrong == pytest.approx(1 - person.accuracy_not_relevant, abs=0.02)


@pytest.mark.parametrize("name", [*TYPES, *BOUNDS])
def test_singleton_groups_are_one_at_a_time(name):
    pools = pools_of(SIZES)
    n = len(pools)
    rng = np.random.default_rng(1)
    vectors = Vectors.of(pools.documents, rng.normal(size=(n, 400)))  # near no other
    groupings = Groupings(pools, vectors)
    settings_ = parse_methods("one-at-a-time,leader(cosine=0.95)")
    a, b = simulate(groupings, settings_, [annotator(name)])
    assert a.frame.drop("setting").equals(b.frame.drop("setting"))


@given(st.integers(0, 10_000), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_perfect_finds_everything_with_the_fewest_actions(seed, groups):
    pools = pools_of(SIZES, share=0.4, seed=seed)
    labels = labels_of(pools, groups, seed)
    frame = one(pools, labels, annotator("perfect"))
    assert frame["repetition"].unique().to_list() == [1]
    assert set(frame["recall"].drop_nulls()) <= {1.0}
    assert set(frame["precision"].drop_nulls()) <= {1.0}
    assert frame["never_looked"].sum() == 0
    actions = 0
    for group in range(labels.max(initial=-1) + 1):
        yes = int(pools.relevant[labels == group].sum())
        actions += 1 + min(yes, int((labels == group).sum()) - yes)
    actions += int((labels < 0).sum())
    assert frame.select("judged", "labelled", "corrected", "split").to_numpy().sum() == actions


@given(st.integers(0, 10_000), st.integers(1, 9))
@settings(max_examples=20, deadline=None)
def test_group_only_looks_at_exactly_one_image_a_group(seed, groups):
    pools = pools_of(SIZES, seed=seed)
    labels = labels_of(pools, groups, seed)
    frame = one(pools, labels, annotator("group-only"), repetitions=2)
    glances = frame["glances_relevant"] + frame["glances_not_relevant"]
    assert (glances == frame["labelled"]).all()
    assert frame["corrected"].sum() == 0
    assert frame["labelled"].sum() == 2 * (labels.max(initial=-1) + 1)
    unseen = 2 * int((labels >= 0).sum()) - int(glances.sum())
    assert frame["never_looked"].sum() == unseen


def test_group_only_looks_at_the_image_nearest_the_query():
    pool = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"]})
    truth = Qrels.from_dict({"q": {"a": 0, "b": 0, "c": 1}})
    near = pool.with_columns(similarity=pl.Series([0.1, 0.2, 0.9]))
    sure = annotator("group-only", accuracy_relevant=1.0, accuracy_not_relevant=1.0)
    for similarity, found in ((None, 0), (near, 1)):
        pools = GroupedPools.of(pool, truth)
        if similarity is not None:
            pools = pools.by_similarity(similarity)
        assert one(pools, np.zeros(3, int), sure)["found"].sum() == found
    some = GroupedPools.of(pool, truth).by_similarity(near.head(2))
    assert some.nearness.tolist() == [1, 0, 2]
    assert "1 image without similarity" in some.notes[-1]


@pytest.mark.parametrize("value", ["accuracy_relevant", "check_probability"])
def test_recall_does_not_fall_as_a_value_rises(value):
    """On average: over 40 replays of groups of which most are pure."""
    pools = pools_of((200,) * 4, share=0.5, seed=3)
    rng = np.random.default_rng(3)
    # Groups of 20: two in three of one kind, one in three at random.
    labels = np.full(len(pools), -1)
    number = 0
    for begin in pools.start[:-1]:
        inside = begin + np.argsort(pools.relevant[begin : begin + 200] + rng.normal(0, 0.4, 200))
        for part in np.array_split(inside, 10):
            labels[part] = number
            number += 1
    mean = []
    for at in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        changes = {"accuracy_relevant": 0.9, "check_all": 8, value: at}
        person = annotator("expert", name="own", **changes)
        mean.append(one(pools, labels, person, repetitions=40)["recall"].mean())
    # Common random numbers: the noise of a difference is small.
    assert (np.diff(mean) > -0.004).all(), mean
    assert mean[-1] > mean[0]


PEOPLE = st.builds(
    lambda **changes: annotator("typical", name="own", **changes),
    accuracy_relevant=st.sampled_from([0.0, 0.4, 0.68, 1.0]),
    accuracy_not_relevant=st.sampled_from([0.0, 0.6, 0.82, 1.0]),
    check_all=st.integers(0, 20),
    check_probability=st.sampled_from([0.0, 0.1, 0.7, 1.0]),
    judge_seconds=st.sampled_from([5.0, 2.5]),
    correct_seconds=st.sampled_from([1.0, 3.0]),
    one_glance=st.booleans(),
    tie=st.sampled_from(["relevant", "not-relevant"]),
    review=st.sampled_from(["looked-at", "all"]),
    split=st.booleans(),
)


@given(PEOPLE, st.integers(0, 1000), st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_the_replay_does_what_a_person_does_step_by_step(person, seed, groups):
    pools = pools_of(SIZES, seed=seed)
    labels = labels_of(pools, groups, seed)
    chance = Chance.draw(pools, 2, seed)
    frame = replay(pools, labels, person, chance, setting="s").frame
    times = 2 if person.random else 1
    assert frame.height == times * len(SIZES)
    for repetition in range(times):
        rows = frame.filter(pl.col("repetition") == repetition + 1).drop(
            "setting", "annotator", "repetition"
        )
        for found, expected in zip(
            rows.to_dicts(), by_hand(pools, labels, person, chance, repetition), strict=True
        ):
            assert found == pytest.approx(expected)


# Seeds, units, stopping.


def some(settings_="leader,k-means(size=4|8)", sizes=(30, 20)):
    pools = pools_of(sizes)
    rng = np.random.default_rng(0)
    vectors = Vectors.of(pools.documents, rng.normal(size=(len(pools), 3)))
    return Groupings(pools, vectors), with_always(parse_methods(settings_))


def test_stopped_and_resumed_is_as_if_never_stopped():
    groupings, tried = some()
    people = with_bounds(parse_annotators("novice,typical"))
    events = []
    whole = list(simulate(groupings, tried, people, seed=5, progress=events.append))
    assert len(whole) == len(tried) * 4
    assert (events[-1].done, events[-1].total) == (len(whole), len(whole))
    run = simulate(some()[0], tried, people, seed=5)
    first = [next(run) for _ in range(7)]
    done = {(unit.setting, unit.annotator) for unit in first}
    rest = list(simulate(some()[0], tried, people, seed=5, done=done))
    assert results([*first, *rest]).equals(results(whole))
    other = results(list(simulate(groupings, tried, people, seed=6)))
    assert not other.equals(results(whole))


def test_what_else_is_replayed_changes_nothing():
    groupings, tried = some()
    alone = next(iter(simulate(groupings, tried[1:2], [annotator("novice")], repetitions=2)))
    among = [
        unit
        for unit in simulate(groupings, tried, with_bounds(parse_annotators("expert,novice")))
        if unit.annotator == "novice" and unit.setting == alone.setting
    ]
    assert among[0].frame.filter(pl.col("repetition") < 3).equals(alone.frame)


def test_groups_are_computed_once_and_can_be_kept():
    groupings, _ = some()
    kept = {}
    tried = grid(["leader"], [None, 8, 16])
    first = Groupings(groupings.pools, Vectors.of(groupings.pools.documents,
                      np.random.default_rng(0).normal(size=(50, 3))), cache=kept)  # fmt: skip
    events = []
    first.prepare(tried, events.append)
    assert len(kept) == 5 * 2
    assert events[-1].done == 5
    again = Groupings(groupings.pools, cache=kept)  # without vectors: all is there
    for setting in tried:
        assert again.labels(setting).tolist() == first.labels(setting).tolist()
        assert np.bincount(first.labels(setting) + 1)[1:].max() <= (setting.cap or 50)
    assert first.cosines()["pairs"].sum() == 30 * 29 // 2 + 20 * 19 // 2


def test_the_expected_time_is_about_right():
    groupings, tried = some(sizes=(60,) * 8)
    said = expected_seconds(groupings, tried, with_bounds([annotator("typical")]))
    assert 0 < said < 60
    assert not groupings.cache


# Bad input: each said, and the rest goes on.


def test_odd_pools_and_labels_are_told():
    pool = pl.DataFrame(
        [("q1", "a"), ("q1", "b"), ("q1", "b"), ("q2", "c"), ("q3", "d"), ("q4", "e"), ("q4", "f")],
        schema=["query_id", "doc_id"], orient="row",
    )  # fmt: skip
    truth = Qrels.from_dict({"q1": {"a": 2, "x": 1, "y": 0}, "q2": {"c": 0}, "q4": {"e": 1}})
    pools = GroupedPools.of(pool, truth, relevant_from=1)
    assert pools.queries == ("q1", "q2", "q4")
    assert pools.documents == ("a", "b", "c", "e", "f")
    assert pools.relevant.tolist() == [True, False, False, True, False]
    said = "; ".join(pools.notes)
    assert "1 row of the pool repeat a pair" in said
    assert "1 query without a label left out" in said
    assert "2 labels of images that are in no pool not used, 1 of them relevant" in said
    assert "2 images without a label count as not relevant" in said
    assert "1 query without a relevant image count for time and not for recall: q2" in said
    # A pool of one image, and one without a vector.
    vectors = Vectors.of(["a", "b", "e", "f"], np.ones((4, 2)))
    groupings = Groupings(pools, vectors)
    assert "1 image of the pools without a vector: single" in groupings.notes
    (unit,) = simulate(groupings, parse_methods("leader(cosine=0.9)"), [annotator("perfect")])
    assert unit.frame["recall"].to_list() == [1.0, None, 1.0]
    assert unit.frame["judged"].to_list() == [0, 1, 0]


def test_queries_are_drawn_by_seed():
    pools = [
        GroupedPools.of(
            pl.DataFrame({"query_id": [f"q{at}" for at in range(30)], "doc_id": ["d"] * 30}),
            Qrels.from_dict({f"q{at}": {"d": 1} for at in range(30)}),
            queries=5,
            seed=seed,
        ).queries
        for seed in (1, 1, 2)
    ]
    assert pools[0] == pools[1] != pools[2]
    assert len(pools[0]) == 5


def test_mistakes():
    pool = pl.DataFrame({"query_id": ["q"], "doc_id": ["a"]})
    truth = Qrels.from_dict({"q": {"a": 1}})
    pools = GroupedPools.of(pool, truth)
    with pytest.raises(NoOverlap, match="No pooled image has a label"):
        GroupedPools.of(pool, Qrels.from_dict({"q": {"b": 1}}))
    with pytest.raises(NoOverlap, match="no pool has a relevant image"):
        GroupedPools.of(pool, truth, relevant_from=2)
    with pytest.raises(MissingColumns):
        GroupedPools.of(pool.drop("doc_id"), truth)
    with pytest.raises(BadSetting, match=r"`queries` must be >= 1 \(got 0\)"):
        GroupedPools.of(pool, truth, queries=0)
    with pytest.raises(DataError, match="No pooled image has a vector"):
        Groupings(pools, Vectors.of(["x"], np.ones((1, 2))))
    with pytest.raises(BadSetting, match="leader needs vectors"):
        list(simulate(Groupings(pools), [Setting("leader")], [annotator("typical")]))
    with pytest.raises(BadSetting, match="near-duplicate needs hashes"):
        Groupings(pools).check([Setting("near-duplicate")])
    with pytest.raises(BadSetting, match="repetitions"):
        Chance.draw(pools, 0, 0)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("tipical", UnknownName, "Did you mean 'typical'"),
        ("typical(acuracy_relevant=1)", UnknownName, "Did you mean 'accuracy_relevant'"),
        ("typical(accuracy_relevant=1.2)", BadSetting, "0 to 1"),
        ("typical(judge_seconds=-1)", BadSetting, "0 or more"),
        ("typical(check_all=-1)", BadSetting, "0 or more"),
        ("typical(check_all=2.5)", BadSetting, "a whole number"),
        ("typical(split=maybe)", BadSetting, "yes or no"),
        ("typical(tie=both)", UnknownName, "relevant"),
        ("typical(tie)", BadSetting, "value=number"),
        ("typical(", BadSetting, "name or name"),
        ("typical,typical", BadSetting, "twice"),
        ("perfect", BadSetting, "always simulated"),
        (" ", BadSetting, "no annotator type"),
    ],
)
def test_mistakes_in_annotators(text, error, said):
    with pytest.raises(error, match=said):
        parse_annotators(text)


def test_own_types():
    mine, typical = parse_annotators("mine(accuracy_relevant=0.9,split=yes),typical(review=all)")
    assert (mine.name, mine.accuracy_relevant, mine.split) == ("mine", 0.9, True)
    assert mine.check_all == typical.check_all == 8
    assert typical.review == "all"
    assert mine.settings["name"] == "mine"
    with pytest.raises(BadSetting, match="two annotator types are named typical"):
        with_bounds([typical, typical])


def test_references_are_those_of_the_documentation():
    page = Path(__file__).parents[3] / "docs" / "reference" / "grouping.md"
    listed = page.read_text().split("## References")[1]
    assert [line[2:] for line in listed.splitlines() if line.startswith("- ")] == references()
