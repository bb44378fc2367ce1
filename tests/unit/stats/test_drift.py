from math import comb

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from venire.errors import BadSetting
from venire.stats.drift import bayes_factors, chance_below, departure, estimate_dispersion


def test_the_bayes_factor_is_a_ratio_of_integrals():
    # Independent of the closed form: both chances integrated over the rate.
    wave = [True, False, True]
    prior, last = beta(0.5, 0.5), beta(2.5, 8.5)
    for n in (1, 2, 3):
        r = sum(wave[:n])
        chance = [
            quad(lambda p, r=r, n=n, of=of: p**r * (1 - p) ** (n - r) * of.pdf(p), 0, 1)[0]
            for of in (prior, last)
        ]
        assert bayes_factors(2, 10, wave)[n - 1] == pytest.approx(chance[0] / chance[1], rel=1e-6)


def test_the_mean_of_the_bayes_factor_is_one_when_the_rate_is_the_same():
    # Enumerated: over all r of n tries, weighed by their chance under the earlier wave.
    n, hits, tries = 6, 3, 20
    total = 0.0
    for r in range(n + 1):
        wave = [True] * r + [False] * (n - r)
        chance = quad(
            lambda p, r=r: p**r * (1 - p) ** (n - r) * beta(hits + 0.5, tries - hits + 0.5).pdf(p),
            0, 1,
        )[0]  # fmt: skip
        total += comb(n, r) * chance * bayes_factors(hits, tries, wave)[-1]
    assert total == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("batches", [300, 400, 1000])
def test_a_jump_is_raised_within_a_twentieth_of_the_wave(batches):
    """5% to 54%, as one campaign had it; 200 waves, the earlier one drawn each time too."""
    rng = np.random.default_rng(batches)
    raised = [
        departure(rng.binomial(batches, 0.05), batches, rng.random(batches // 20) < 0.54)
        for _ in range(200)
    ]
    assert np.mean([one.raised_at is not None and one.rises for one in raised]) >= 0.95


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.1, 0.3, 0.54])
def test_steady_waves_raise_few_alarms(rate):
    rng = np.random.default_rng(int(rate * 100))
    wrong = [
        departure(rng.binomial(400, rate), 400, rng.random(400) < rate).raised_at
        for _ in range(200)
    ]
    assert np.mean([at is not None for at in wrong]) <= 0.05


def test_a_fall_is_raised_too():
    found = departure(54, 100, [False] * 40)
    assert found.raised_at is not None
    assert not found.rises


def test_nothing_is_raised_without_an_earlier_wave():
    assert departure(0, 0, [True] * 20).raised_at is None
    assert departure(5, 100, []).raised_at is None
    with pytest.raises(BadSetting):
        departure(5, 4, [True])
    with pytest.raises(BadSetting, match="alpha"):
        departure(1, 4, [True], alpha=2)


def test_the_chance_of_a_low_accuracy():
    assert chance_below(3, 10, 0.6) == pytest.approx(beta(4, 8).cdf(0.6))
    with pytest.raises(BadSetting):
        chance_below(3, 2, 0.6)


def test_people_who_differ_are_not_independent_trials():
    # Ten people of ten trials, five with all hits, five with none: p = .5, each adds 5^2 / 2.5.
    people = ([10] * 5 + [0] * 5, [10] * 10)
    assert estimate_dispersion([people]) == pytest.approx((10 + 100) / (10 + 9))
    # A second wave without hits says nothing; one as even as can be lowers it to the floor.
    assert estimate_dispersion([people, ([0, 0], [3, 3])]) == pytest.approx(110 / 19)
    assert estimate_dispersion([([5] * 9, [10] * 9)]) == 1.0
    assert estimate_dispersion([]) == 1.0


def test_the_alarm_needs_as_much_more_evidence_as_trials_depend():
    wave = [True] * 4
    factors = bayes_factors(5, 100, wave)
    assert departure(5, 100, wave).raised_at == int(np.argmax(factors >= 20)) + 1
    held = departure(5, 100, wave, dispersion=4.0)
    assert held.evidence == pytest.approx(factors.max() ** 0.25)
    with pytest.raises(BadSetting, match="dispersion"):
        departure(5, 100, wave, dispersion=0.5)
