"""Published intervals: Newcombe 1998 (both papers)."""

import pytest
from scipy.stats import binomtest

from venire.errors import BadSetting
from venire.stats.proportion import difference, wilson


@pytest.mark.parametrize(
    ("hits", "tries", "low", "high"),
    # Newcombe, "Two-sided confidence intervals for the single proportion" (1998), method 3.
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_published(hits, tries, low, high):
    found = wilson(hits, tries)
    assert found.low == pytest.approx(low, abs=6e-5)
    assert found.high == pytest.approx(high, abs=6e-5)


@pytest.mark.parametrize(
    ("a", "m", "b", "n", "low", "high"),
    # Newcombe 1998, table II, method 10, cases (a) to (h).
    [
        (56, 70, 48, 80, 0.0524, 0.3339),
        (9, 10, 3, 10, 0.1705, 0.8090),
        (6, 7, 2, 7, 0.0582, 0.8062),
        (5, 56, 0, 29, -0.0381, 0.1926),
        (0, 10, 0, 20, -0.1611, 0.2775),
        (0, 10, 0, 10, -0.2775, 0.2775),
        (10, 10, 0, 20, 0.6791, 1.0),
        (10, 10, 0, 10, 0.6075, 1.0),
    ],
)  # fmt: skip
def test_newcombe_as_published(a, m, b, n, low, high):
    _, l1, u1 = difference(wilson(a, m), wilson(b, n))
    assert l1 == pytest.approx(low, abs=6e-5)
    assert u1 == pytest.approx(high, abs=6e-5)


def test_wilson_as_scipy_gives_it():
    for tries in (1, 3, 17):
        for hits in range(tries + 1):
            theirs = binomtest(hits, tries).proportion_ci(method="wilson")
            assert wilson(hits, tries).low == pytest.approx(theirs.low, abs=1e-12)
            assert wilson(hits, tries).high == pytest.approx(theirs.high, abs=1e-12)


def test_nothing_is_known_without_tries():
    assert wilson(0, 0).value is None
    with pytest.raises(BadSetting):
        difference(wilson(0, 0), wilson(1, 2))
    with pytest.raises(BadSetting):
        wilson(3, 2)
