"""Pairs told apart: by the test they rest on, by invariance, by known truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from venire.errors import BadSetting
from venire.evaluation.paired_tests import compute_tukey_p
from venire.evaluation.told_apart import tell_apart


def draw_scores(seed, systems=6, topics=15, spread=0.1, noise=0.15):
    rng = np.random.default_rng(seed)
    return rng.normal(0.5, spread, systems)[:, None] + rng.normal(0, noise, (systems, topics))


def name_pairs(result):
    high, low = np.triu_indices(len(result.systems), 1)
    return {
        (result.systems[high[pair]], result.systems[low[pair]])
        for pair in np.flatnonzero(result.apart)
    }


def test_within_a_group_the_randomised_tukey_test_decides():
    scores = draw_scores(3, spread=0.05)
    names = list("abcdef")
    result = tell_apart(scores, names, permutations=200, seed=5)
    rows = [names.index(name) for name in result.systems]
    pairs = [(high, low) for high in range(6) for low in range(high + 1, 6)]
    p = compute_tukey_p(scores[rows], pairs, 200, np.random.default_rng(5))
    assert result.apart.tolist() == (p < 0.05).tolist()


def test_systems_of_groups_that_stand_clear_are_told_apart():
    rng = np.random.default_rng(1)
    scores = np.array([0.9, 0.6, 0.6, 0.3])[:, None] + rng.normal(0, 0.03, (4, 10))
    result = tell_apart(scores, list("abcd"), permutations=100)
    assert name_pairs(result) >= {("a", "b"), ("a", "c"), ("a", "d"), ("b", "d"), ("c", "d")}
    assert result.count_worse()["a"] == 3
    assert result.count_worse()["d"] == 0


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_a_hopeless_system_a_copy_or_another_order_changes_nothing(seed):
    scores, names = draw_scores(seed), list("abcdef")
    before = name_pairs(tell_apart(scores, names, permutations=60))
    shuffled = np.random.default_rng(seed).permutation(6)
    hopeless = tell_apart(np.vstack([scores, np.full(15, -5.0)]), [*names, "z"], permutations=60)
    copied = tell_apart(np.vstack([scores, scores[2]]), [*names, "z"], permutations=60)
    other = tell_apart(scores[shuffled], [names[row] for row in shuffled], permutations=60)
    assert {pair for pair in name_pairs(hopeless) if "z" not in pair} == before
    assert name_pairs(copied) == before
    assert name_pairs(other) == before


def test_equal_systems_are_told_apart_in_one_set_of_twenty_at_most():
    found = 0
    for seed in range(60):
        scores = draw_scores(seed, spread=0.0)
        found += tell_apart(scores, list("abcdef"), permutations=99, seed=seed).apart.any()
    # Level .05 gives 3 on average; 8 or more have a probability of .01.
    assert found <= 7


def test_copies_are_compared_among_themselves_and_count_as_one_against_others():
    rng = np.random.default_rng(0)
    scores = rng.random(30)
    better = scores + 0.005 + rng.normal(0, 0.002, 30)
    table = np.stack([scores, better, scores, scores - 0.5])
    result = tell_apart(table, list("abcd"))
    assert result.copies == (("a", "b"), ("c", "b"))
    assert result.find_better("a", "b") == result.find_better("b", "c") == "b"
    assert result.find_better("a", "c") is None
    assert [result.find_better(name, "d") for name in "abc"] == ["a", "b", "c"]


def test_the_same_scores_three_times_tell_nothing_apart():
    result = tell_apart(np.tile(draw_scores(0)[:1], (3, 1)), list("abc"))
    assert [result.find_better(*pair) for pair in ("ab", "ac", "bc")] == [None] * 3


def test_one_topic_tells_nothing_apart():
    assert not tell_apart(np.array([[0.9], [0.1]]), ["a", "b"]).apart.any()


def test_no_permutation_is_refused():
    with pytest.raises(BadSetting) as refused:
        tell_apart(draw_scores(1), list("abcdef"), permutations=0)
    assert refused.value.argument == "permutations"
