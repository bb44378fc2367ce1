"""Intervals by bootstrap over topics: by another program, by hand, by known truth."""

import numpy as np
import pytest
from scipy import stats

from venire.stats.topic_bootstrap import draw_topics, expand_tail, read_interval


@pytest.mark.parametrize("topics", [2, 5, 10, 40, 1000])
def test_the_tail_is_that_of_the_definition(topics):
    expected = stats.norm.cdf(np.sqrt(topics / (topics - 1)) * stats.t.ppf(0.025, topics - 1))
    assert expand_tail(topics) == pytest.approx(expected)


def test_each_resample_has_as_many_topics():
    drawn = draw_topics(7, 50, np.random.default_rng(0))
    assert drawn.shape == (50, 7)
    assert (drawn.sum(axis=1) == 7).all()


def test_draws_that_are_mostly_undefined_give_no_interval():
    assert read_interval(np.array([1.0, np.nan, np.nan]), 9) == (None, None, 2)
    assert read_interval(np.array([1.0, np.nan]), 9) == (None, None, 1)
    assert read_interval(np.array([]), 9) == (None, None, 0)
    assert read_interval(np.array([1.0, 2.0]), 1) == (None, None, 0)


def test_undefined_draws_are_left_out():
    low, high, undefined = read_interval(np.array([np.nan, 3.0, 3.0, 3.0]), 9)
    assert (low, high, undefined) == (3.0, 3.0, 1)


def test_intervals_of_a_mean_cover_with_ten_topics():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        values = rng.normal(size=10)
        means = draw_topics(10, 400, rng) @ values / 10
        low, high, _ = read_interval(means, 10)
        covered += low <= 0 <= high
    # The plain percentile interval covers .90; three standard errors of .95 are .033.
    assert covered / 400 >= 0.917
