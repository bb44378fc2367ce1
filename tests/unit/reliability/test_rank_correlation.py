import numpy as np
import pytest
from scipy.stats import kendalltau

from venire.errors import BadSetting
from venire.reliability.rank_correlation import RankCorrelation, places, tau_ap, tau_b

TEN = list(range(10, 0, -1))


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
    with pytest.raises(BadSetting, match="not a number"):
        tau_b([1, np.nan], [1, 2])
    with pytest.raises(BadSetting, match="names"):
        RankCorrelation.of(["a"], [1, 2], [1, 2])


def test_places_share_the_best():
    assert places([1.0, 1.0, 0.5]).tolist() == [1, 1, 3]
