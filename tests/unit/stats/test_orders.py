import numpy as np
import pytest
from scipy.stats import kendalltau

from venire.stats.many_orders import kendall_taus, ranks_of, swapped_pairs

TWELVE = np.arange(12, 0, -1).astype(float)


def swap(*places):
    after = TWELVE.copy()
    for at in places:
        after[[at, at + 1]] = after[[at + 1, at]]
    return after[None]


def test_tau_of_swaps_among_66_pairs():
    # The article: each swapped pair lowers tau by 2/66.
    assert kendall_taus(TWELVE, swap(0))[0] == pytest.approx(0.9697, abs=5e-5)
    assert kendall_taus(TWELVE, swap(0, 4, 8))[0] == pytest.approx(0.909, abs=5e-4)
    assert kendall_taus(TWELVE, -TWELVE[None])[0] == -1
    assert swapped_pairs(TWELVE, swap(0, 4, 8)).tolist() == [3]


def test_tau_with_ties_is_scipys():
    rng = np.random.default_rng(5)
    before = rng.integers(0, 5, 9).astype(float)
    after = rng.integers(0, 5, (20, 9)).astype(float)
    theirs = [kendalltau(before, row).statistic for row in after]
    np.testing.assert_allclose(kendall_taus(before, after), theirs)


def test_tau_of_equal_scores_is_undefined():
    assert np.isnan(kendall_taus(np.ones(3), np.array([[1.0, 2.0, 3.0]]))[0])


def test_ranks_share_ties():
    assert ranks_of(np.array([0.2, 0.5, 0.2, 0.1])).tolist() == [2, 1, 2, 4]
