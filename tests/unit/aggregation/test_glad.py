"""The bound and its gradient against enumeration over all grades."""

import numpy as np
import pytest

from venire.aggregation.glad import Glad
from venire.aggregation.kernels import glad as kernel


def enumerated(codes, alpha, log_beta, prior):
    """Sum over grades of P(grade) P(labels | grade), item by item, from Whitehill's formula."""
    total = 0.0
    size = prior.size
    for m in range(codes.n_items):
        likelihood = prior.copy()
        for j in range(codes.indptr[m], codes.indptr[m + 1]):
            right = 1 / (1 + np.exp(-alpha[codes.annotator[j]] * np.exp(log_beta[m])))
            for k in range(size):
                likelihood[k] *= right if codes.label[j] == k else (1 - right) / (size - 1)
        total += np.log(likelihood.sum()) - 0.5 * (log_beta[m] - 1.0) ** 2
    return total


def sweep(codes, alpha, log_beta, prior):
    known = np.full(codes.n_items, -1, np.int16)
    return kernel.sweep(
        codes.indptr, codes.annotator, codes.label, 0, codes.n_items, alpha, log_beta,
        np.log(prior), known, 1.0,
    )  # fmt: skip


@pytest.fixture
def state(small):
    codes = small[0].codes
    rng = np.random.default_rng(0)
    alpha = rng.normal(1, 0.5, codes.n_annotators)
    return codes, alpha, rng.normal(1, 0.5, codes.n_items), np.array([0.1, 0.2, 0.3, 0.4])


def test_the_bound_is_the_enumerated_likelihood(state):
    assert sweep(*state)[-1] == pytest.approx(enumerated(*state), rel=1e-12)


def test_the_step_of_ease_raises_the_likelihood(state):
    codes, alpha, _, prior = state
    moved = sweep(*state)[0]
    assert enumerated(codes, alpha, moved, prior) > enumerated(*state)


def test_the_gradient_of_ability_is_that_of_finite_differences(state):
    codes, alpha, log_beta, prior = state
    # At a fixed point of the ease, the expected gradient is that of the likelihood itself.
    for _ in range(300):
        log_beta = sweep(codes, alpha, log_beta, prior)[0]
    gradient = sweep(codes, alpha, log_beta, prior)[1]
    for n in range(codes.n_annotators):
        step = np.zeros_like(alpha)
        step[n] = 1e-6
        slope = (
            enumerated(codes, alpha + step, log_beta, prior)
            - enumerated(codes, alpha - step, log_beta, prior)
        ) / 2e-6
        assert gradient[n] == pytest.approx(slope, abs=1e-4)


def test_good_annotators_are_told_from_poor_ones(small):
    people = Glad().fit(small[0]).annotators.sort("annotator_id")
    expertise = people["expertise"].to_numpy()
    assert expertise[-2:].mean() > expertise[:2].mean()
