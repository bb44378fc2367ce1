"""Disjoint halves of the judgments, and their extrapolation."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from venire.simulation.campaigns.disjoint_halves import (
    UNSETTLED,
    draw_halves,
    find_half_size,
    lengthen,
)

GRADES = np.array([0.0, 1.0])
MIDDLE = np.array([0.5])


def test_extrapolation_by_hand():
    # sin(pi/6) = 1/2; Spearman-Brown for twice the length: 2 r / (1 + r) = 2/3, for half: 1/3.
    replicated, settled = lengthen(1 / 3, 2, [1, 2, 4])
    assert np.sin(np.pi / 2 * replicated) == pytest.approx([1 / 3, 1 / 2, 2 / 3])
    assert np.sin(np.pi / 2 * settled) ** 2 == pytest.approx([1 / 3, 1 / 2, 2 / 3])
    assert replicated[1] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("tau", "expected"), [(-0.4, 0.0), (0.0, 0.0), (1.0, 1.0)])
def test_extrapolation_at_the_ends(tau, expected):
    for values in lengthen(tau, 1, [1, 3]):
        assert values == pytest.approx([expected, expected])


def test_extrapolation_is_right_for_normal_scores():
    # Two systems: their true difference has variance 1, the noise of one judge 2. The tau of a
    # pair is the chance of the same sign less that of another one.
    rng = np.random.default_rng(0)
    true = rng.normal(size=400_000)

    def order(judges):
        return np.sign(true + rng.normal(size=true.size) * np.sqrt(2 / judges))

    replicated, settled = lengthen(float(np.mean(order(2) * order(2))), 2, [1, 5])
    for place, judges in enumerate((1, 5)):
        assert replicated[place] == pytest.approx(np.mean(order(judges) * order(judges)), abs=0.01)
        assert settled[place] == pytest.approx(np.mean(order(judges) * np.sign(true)), abs=0.01)


def test_halves_are_all_pairs_of_disjoint_judgments_equally_often():
    labels = np.array([0, 1, 1, 0, 1], np.int16)  # 3 judgments of one pair, 2 of another
    indptr = np.array([0, 3, 5])
    rng = np.random.default_rng(1)
    counts = Counter()
    draws = 3000
    for _ in range(draws):
        halves = draw_halves(indptr, labels, rng.random((2, 2)), MIDDLE, GRADES, False)
        counts[tuple(halves[:, 0])] += 1
        assert sorted(halves[:, 1]) == [0, 1]  # both of the two, never one twice
    expected = Counter((a, b) for a, b in permutations([0, 1, 1], 2))
    for halves, number in expected.items():
        assert counts[halves] / draws == pytest.approx(number / 6, abs=0.03)


def test_a_pair_with_too_few_judgments_is_in_neither_half():
    halves = draw_halves(
        np.array([0, 1, 3]), np.array([1, 1, 1], np.int16), np.full((2, 2), 0.5), MIDDLE, GRADES,
        False,
    )  # fmt: skip
    assert halves.tolist() == [[UNSETTLED, 1], [UNSETTLED, 1]]


def test_half_of_the_median():
    assert [find_half_size(np.array(n)) for n in ([2, 2, 9], [5, 5], [7, 7, 1], [1, 1])] == [
        1, 2, 3, 1,
    ]  # fmt: skip
