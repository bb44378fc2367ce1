"""The order of the best systems on other topics: by enumeration, by invariance, by known truth."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, ttest_rel

from venire.errors import BadSetting
from venire.evaluation.clear_groups import find_clear_cuts, merge_copies, size_of_top_group
from venire.reliability.top_order import (
    ONE_SYSTEM,
    TOO_FEW_TOPICS,
    compare_halves,
    count_topics_needed,
    estimate_top_order,
    lengthen,
)


def names(count):
    return [f"s{number:02}" for number in range(count)]


def draw_scores(seed, systems=12, topics=20, spread=0.05, noise=0.2):
    rng = np.random.default_rng(seed)
    skill = rng.normal(0.5, spread, systems)
    return skill[:, None] + rng.normal(0, noise, (systems, topics))


def test_halves_agree_with_the_enumeration_of_all_of_them():
    scores = draw_scores(1, systems=4, topics=6)
    halves = list(itertools.combinations(range(6), 3))
    orders = np.array([[*half, *sorted(set(range(6)) - set(half))] for half in halves])
    expected = []
    for half in halves:
        rest = sorted(set(range(6)) - set(half))
        naming, judging = scores[:, half].mean(axis=1), scores[:, rest].mean(axis=1)
        best = sorted(range(4), key=lambda system: -naming[system])[:3]
        expected.append(kendalltau([3, 2, 1], judging[best]).statistic)
    tau, _ = compare_halves(scores, 3, orders)
    assert tau == pytest.approx(np.mean(expected), abs=1e-12)


def test_lengthening_is_greiner_and_spearman_brown():
    # sin(pi/4) = .70711; 2 r / (1 + r) = .82843; 2/pi asin(.82843) = .62153
    assert lengthen(0.5, 2) == pytest.approx(0.62153, abs=5e-6)
    assert lengthen(-0.2, 2) == -0.2
    assert lengthen(1.0, 2) == pytest.approx(1.0)


@given(st.floats(0.05, 0.95), st.integers(3, 60), st.floats(0.05, 0.99))
def test_topics_needed_are_the_least_that_reach_the_target(tau, topics, target):
    needed = count_topics_needed(tau, topics, target)
    assert lengthen(tau, needed / topics) >= target - 1e-6
    if needed > 1:
        assert lengthen(tau, (needed - 1) / topics) < target


def test_the_top_group_is_cut_by_a_paired_t():
    scores = draw_scores(2, systems=8, spread=0.2)
    scores = scores[np.argsort(-scores.mean(axis=1))]

    def is_clear(size):
        return all(
            ttest_rel(scores[high], scores[low]).statistic > 4
            for high in range(size)
            for low in range(size, 8)
        )

    expected = next((size for size in range(2, 8) if is_clear(size)), 8)
    assert size_of_top_group(scores) == expected


def test_all_groups_that_stand_clear_are_found():
    rng = np.random.default_rng(1)
    means = np.array([0.9, 0.6, 0.59, 0.3])[:, None]
    scores = means + rng.normal(0, 0.02, (4, 10))
    assert find_clear_cuts(scores) == [1, 3]
    assert size_of_top_group(scores) == 3


def test_copies_count_once_and_the_best_stays():
    scores = np.array([[0.50, 0.50], [0.49, 0.49], [0.46, 0.50]])
    distinct, counts_as = merge_copies(scores)
    assert distinct == [0, 2]  # .0283 away from the first, .0224 from the copy
    assert counts_as == [0, 0, 2]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_a_hopeless_system_a_copy_or_another_order_changes_nothing(seed):
    scores = draw_scores(seed)
    systems = names(12)
    before = estimate_top_order(scores, systems, splits=20)
    hopeless = np.vstack([scores, np.full((2, 20), -5.0)])
    copied = np.vstack([scores, scores[3]])
    shuffled = np.random.default_rng(seed).permutation(12)
    others = (
        estimate_top_order(hopeless, [*systems, "x", "y"], splits=20),
        estimate_top_order(copied, [*systems, "z"], splits=20),
        estimate_top_order(scores[shuffled], [systems[row] for row in shuffled], splits=20),
    )
    for after in others:
        assert (after.tau, after.top, after.topics_needed) == (
            before.tau,
            before.top,
            before.topics_needed,
        )
    assert others[1].copies[-1] in {(copy, "s03") for copy in ("z",)} | set(before.copies)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (draw_scores(3, topics=5), TOO_FEW_TOPICS),
        (draw_scores(3, systems=1), ONE_SYSTEM),
        (np.tile(draw_scores(3, systems=1), (3, 1)), ONE_SYSTEM),
    ],
)
def test_what_is_undefined_says_why(scores, reason):
    result = estimate_top_order(scores, names(len(scores)))
    assert result.tau is None
    assert result.reason == reason


@pytest.mark.parametrize(
    ("changes", "argument"),
    [({"k": 1}, "k"), ({"splits": 0}, "splits"), ({"target": 1.0}, "target")],
)
def test_a_setting_that_cannot_be_is_refused(changes, argument):
    with pytest.raises(BadSetting) as refused:
        estimate_top_order(draw_scores(4), names(12), **changes)
    assert refused.value.argument == argument


def test_the_difference_needed_is_that_of_a_paired_t_test():
    scores = np.vstack([draw_scores(5, systems=1), draw_scores(6, systems=1)])
    result = estimate_top_order(scores, ["a", "b"])
    errors = (scores[0] - scores[1]).std(ddof=1) / math.sqrt(20)
    assert result.difference_needed == pytest.approx(2.093024 * errors, rel=1e-6)


@pytest.mark.parametrize("spread", [0.01, 0.05])
def test_systems_of_known_skill_repeat_as_estimated(spread):
    predicted, realised = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        skill = rng.normal(0.5, spread, 15)[:, None]
        scores = skill + rng.normal(0, 0.2, (15, 40))
        others = (skill + rng.normal(0, 0.2, (15, 40))).mean(axis=1)
        result = estimate_top_order(scores, names(15), splits=20, seed=seed)
        rows = [names(15).index(system) for system in result.top[: result.k]]
        predicted.append(result.tau)
        realised.append(kendalltau(range(result.k, 0, -1), others[rows]).statistic)
    error = np.std(np.subtract(predicted, realised)) / math.sqrt(60)
    assert abs(np.mean(predicted) - np.mean(realised)) < max(3 * error, 0.05)
