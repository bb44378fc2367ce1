"""Matrices of taus agree with the taus of single pairs of orders."""

import numpy as np
import pytest

from venire.stats.order_agreement import mean_off_diagonal, tau_ap_b_matrix, tau_b_matrix
from venire.stats.rank_correlation import tau_ap_b, tau_b


@pytest.mark.parametrize(("matrix", "single"), [(tau_b_matrix, tau_b), (tau_ap_b_matrix, tau_ap_b)])
def test_each_cell_is_the_tau_of_its_two_orders(matrix, single):
    rng = np.random.default_rng(3)
    first = rng.integers(0, 4, (6, 5)).astype(float)  # many ties
    second = rng.normal(size=(4, 5))
    second[2] = 1.0  # all tie
    cells = matrix(first, second)
    for i, row in enumerate(first):
        for k, other in enumerate(second):
            expected = single(row, other)
            if expected is None:
                assert np.isnan(cells[i, k])
            else:
                assert cells[i, k] == pytest.approx(expected, abs=1e-12)


def test_mean_over_pairs_of_different_orders():
    # Orders abc, acb, cba: taus 1/3, -1, -1/3.
    scores = np.array([[3.0, 2, 1], [3, 1, 2], [1, 2, 3]])
    assert mean_off_diagonal(tau_b_matrix(scores, scores)) == pytest.approx(-1 / 3)
    assert np.isnan(mean_off_diagonal(np.full((2, 2), np.nan)))
