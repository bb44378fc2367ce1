import numpy as np
import pytest
from scipy.stats import kendalltau

from venire.errors import BadSetting
from venire.stats.rank_correlation import (
    RankCorrelation,
    count_swaps,
    rank_scores,
    tau_ap,
    tau_ap_b,
    tau_b,
    tau_b_many,
)

TEN = list(range(10, 0, -1))
TWELVE = np.arange(12, 0, -1).astype(float)


def swapped(at):
    out = TEN.copy()
    out[at], out[at + 1] = out[at + 1], out[at]
    return out


def test_tau_ap_of_the_notes():
    # Ten systems, the top two or the bottom two swapped.
    assert tau_ap(TEN, swapped(0)) == pytest.approx(0.7777778, abs=1e-7)
    assert tau_ap(TEN, swapped(8)) == pytest.approx(0.9753086, abs=1e-7)
    assert tau_ap(TEN, TEN) == pytest.approx(1.0)
    assert tau_ap(TEN, TEN[::-1]) == pytest.approx(-1.0)


def test_tau_of_twelve_systems():
    # One swap of 66 pairs .9697, three .909.
    twelve = np.arange(12)
    once = twelve.copy()
    once[[0, 1]] = once[[1, 0]]
    thrice = once.copy()
    thrice[[3, 4]], thrice[[6, 7]] = thrice[[4, 3]], thrice[[7, 6]]
    assert tau_b(twelve, once) == pytest.approx(0.9697, abs=1e-4)
    assert tau_b(twelve, thrice) == pytest.approx(0.909, abs=1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_tau_b_beside_scipy(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 6, (2, 15))
    assert tau_b(first, second) == pytest.approx(kendalltau(first, second).statistic)


def swap_twelve(*ranks):
    after = TWELVE.copy()
    for rank in ranks:
        after[[rank, rank + 1]] = after[[rank + 1, rank]]
    return after[None]


def test_tau_of_swaps_among_66_pairs():
    # The article: each swapped pair lowers tau by 2/66.
    assert tau_b_many(TWELVE, swap_twelve(0))[0] == pytest.approx(0.9697, abs=5e-5)
    assert tau_b_many(TWELVE, swap_twelve(0, 4, 8))[0] == pytest.approx(0.909, abs=5e-4)
    assert tau_b_many(TWELVE, -TWELVE[None])[0] == -1
    assert count_swaps(TWELVE, swap_twelve(0, 4, 8)).tolist() == [3]


def test_many_taus_with_ties_are_scipys():
    rng = np.random.default_rng(5)
    before = rng.integers(0, 5, 9).astype(float)
    after = rng.integers(0, 5, (20, 9)).astype(float)
    theirs = [kendalltau(before, row).statistic for row in after]
    np.testing.assert_allclose(tau_b_many(before, after), theirs)


def test_tau_of_equal_scores_is_undefined():
    assert np.isnan(tau_b_many(np.ones(3), np.array([[1.0, 2.0, 3.0]]))[0])
    assert tau_b(np.ones(3), [1, 2, 3]) is None


def test_tau_ap_with_ties_is_the_mean_over_orders():
    # a and b tie in the estimate: the orders a b c and b a c have 1 and (0/1 + 2/2) - 1 = 0.
    assert tau_ap([3, 2, 1], [2, 2, 1]) == pytest.approx((1.0 + 0.0) / 2)
    # All tied: the mean over all orders is that of a random order, 0.
    assert tau_ap(TEN, [1] * 10) == pytest.approx(0.0)


def test_swapped_pairs_are_named_better_first():
    found = RankCorrelation.of(["a", "b", "c", "d"], [1, 2, 3, 4], [2, 1, 3, 4])
    assert found.swapped == (("b", "a"),)
    assert (found.pairs, found.largest_shift) == (6, 1)
    assert found.tau == pytest.approx(4 / 6)


def test_undefined_has_a_reason():
    assert RankCorrelation.of(["a"], [1], [1]).reason == "fewer than two systems"
    tied = RankCorrelation.of(["a", "b"], [1, 1], [1, 2])
    assert (tied.tau, tied.tau_ap) == (None, None)
    assert tied.reason == "all systems tie in one of the rankings"


def test_wrong_input():
    with pytest.raises(BadSetting, match="same systems"):
        tau_b([1, 2], [1])
    with pytest.raises(BadSetting, match="finite numbers"):
        tau_b([1, np.nan], [1, 2])
    with pytest.raises(BadSetting, match="`names` must have one name per score"):
        RankCorrelation.of(["a"], [1, 2], [1, 2])


def test_tied_systems_share_the_best_rank():
    assert rank_scores([1.0, 1.0, 0.5]).tolist() == [1, 1, 3]
    assert rank_scores(np.array([0.2, 0.5, 0.2, 0.1])).tolist() == [2, 1, 2, 4]
    assert rank_scores([[1.0, 2.0], [2.0, 1.0]]).tolist() == [[2, 1], [1, 2]]


# The data and the coefficients, to four digits, of the tests of ircor, the package of the paper's
# authors (tests/testthat, version 1.1): scores without ties, and the same rounded.
IRCOR = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        [0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1],
        [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1],
        (0.8519, 0.7454, 0.8333, 0.7321),
    ),
    (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        [0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4],
        [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6],
        (0.2504, 0.2692, 0.2880, 0.297),
    ),
    (
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        [0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4],
        [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2],
        (-0.6971, -0.5558, -0.668, -0.7047),
    ),
]


@pytest.mark.parametrize(("x", "y", "x_tied", "y_tied", "wanted"), IRCOR)
def test_ap_correlations_beside_the_authors_package(x, y, x_tied, y_tied, wanted):
    plain, one_tied, both_ways, both_tied = wanted
    assert tau_ap(x, y) == pytest.approx(plain, abs=5e-5)
    assert tau_ap(x, y_tied) == pytest.approx(one_tied, abs=5e-5)
    assert tau_ap_b(x, y) == pytest.approx(both_ways, abs=5e-5)
    assert tau_ap_b(x_tied, y_tied) == pytest.approx(both_tied, abs=5e-5)
    assert tau_ap_b(y_tied, x_tied) == pytest.approx(both_tied, abs=5e-5)


@pytest.mark.parametrize("seed", range(20))
def test_equal_rankings_have_an_ap_correlation_of_one_tied_or_not(seed):
    scores = np.random.default_rng(seed).integers(0, 4, 9)
    assert tau_ap_b(scores, scores * 2 + 1) == pytest.approx(1.0)
    assert tau_ap_b(scores, np.ones(9)) is None
    assert tau_ap_b([1.0], [1.0]) is None
