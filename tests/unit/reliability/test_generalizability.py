import numpy as np
import pytest

from venire.errors import BadSetting
from venire.evaluation.score import Scores
from venire.measures import parse
from venire.reliability.generalizability import generalizability


@pytest.mark.parametrize("seed", range(5))
def test_relative_is_cronbachs_alpha(seed):
    # For the topics at hand E rho^2 is alpha = k/(k-1) (1 - sum var(topic) / var(sum over topics)).
    values = np.random.default_rng(seed).normal(size=(7, 12)) + np.arange(7)[:, None]
    alpha = 12 / 11 * (1 - values.var(axis=0, ddof=1).sum() / values.sum(axis=1).var(ddof=1))
    assert generalizability(values).relative() == pytest.approx(alpha)


BRENNAN = """
101000000000 111001000000 111110000000 110110010000 111110100000
111011100000 111111100000 111101111100 111111111110 111111111111
"""
"""Ten persons by twelve items: Brennan, Generalizability Theory (2001), table 2.2, page 28."""


def test_the_textbooks_example():
    """Persons are systems, items topics; components of table 2.3, and its E rho^2 and Phi."""
    found = generalizability([[int(score) for score in row] for row in BRENNAN.split()])
    assert found.system == pytest.approx(0.0574, abs=5e-5)
    assert found.topic == pytest.approx(0.0754, abs=5e-5)
    assert found.residual == pytest.approx(0.1269, abs=5e-5)
    assert found.relative() == pytest.approx(0.8445, abs=5e-5)
    assert found.absolute() == pytest.approx(0.7730, abs=5e-5)


def test_the_textbooks_example_by_explicit_sums():
    """Mean squares from the sums of squares of a table, as a two-way analysis of variance has."""
    x = np.array([[int(score) for score in row] for row in BRENNAN.split()], dtype=float)
    p, i = x.shape
    correction = x.sum() ** 2 / x.size
    persons = (x.sum(axis=1) ** 2).sum() / i - correction
    items = (x.sum(axis=0) ** 2).sum() / p - correction
    residual = (x**2).sum() - correction - persons - items
    noise = residual / ((p - 1) * (i - 1))
    found = generalizability(x)
    assert found.residual == pytest.approx(noise)
    assert found.system == pytest.approx((persons / (p - 1) - noise) / i)
    assert found.topic == pytest.approx((items / (i - 1) - noise) / p)


def test_components_by_hand():
    # Systems .0 .2 .4 on average, topics add nothing, and a residual of +-e in a Latin pattern.
    e = 0.03
    found = generalizability([[e, -e], [0.2 - e, 0.2 + e], [0.4, 0.4]])
    # MS_e = 4 e^2 / (2 * 1); MS_s = 2 * (2 * .04) / 2.
    assert found.residual == pytest.approx(2 * e**2)
    assert found.system == pytest.approx((0.08 - 2 * e**2) / 2)
    assert found.topic == 0.0


def test_topics_needed_reach_the_target_and_no_fewer_do():
    found = generalizability(
        np.random.default_rng(1).normal(size=(8, 30)) + np.arange(8)[:, None] / 4
    )
    n = found.topics_needed(0.95)
    assert found.relative(n) >= 0.95 > found.relative(n - 1)


def test_undefined_has_a_reason():
    assert generalizability([[1.0, 2.0]]).reason == "fewer than two systems"
    assert generalizability([[1.0], [2.0]]).reason == "fewer than two topics"
    flat = generalizability(np.ones((3, 4)))
    assert (flat.relative(), flat.topics_needed()) == (None, None)
    assert flat.reason == "systems differ by no more than chance would make them"


def test_wrong_input():
    with pytest.raises(BadSetting, match="table of numbers"):
        generalizability([1.0, 2.0])
    with pytest.raises(BadSetting, match="target"):
        generalizability([[1.0, 2.0], [2.0, 3.0]]).topics_needed(1.0)


def scores_of(values):
    values = np.asarray(values, dtype=float)
    names = [f"s{at}" for at in range(len(values))]
    topics = [str(at) for at in range(values.shape[1])]
    return Scores([parse("AP")], names, topics, values[None], np.ones(values.shape, bool))
