"""Against the objective written out with plain sums, and scipy's own optimiser."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax, softmax

from venire.aggregation.loop import Shard
from venire.aggregation.minimax_entropy.inference import Problem, build_tables, collect_gradient
from venire.aggregation.minimax_entropy.model import MinimaxEntropy
from venire.errors import BadSetting, UnknownName
from venire.testing import check_aggregator

FORMS = ("ordinal", "categorical")


def problem_of(judgments, form, alpha=1.5, beta=2.5):
    codes = judgments.codes
    known = np.full(codes.n_items, -1, np.int16)
    return Problem(
        codes.indptr, codes.annotator, codes.label, known, codes.n_annotators,
        judgments.scale.size, alpha, beta, form == "ordinal",
    )  # fmt: skip


def table_of(row, size, ordinal):
    """The table of one annotator or item, cell by cell, from the definition."""
    if not ordinal:
        return row.reshape(size, size)
    table = np.zeros((size, size))
    for c in range(size):
        for k in range(size):
            for s in range(1, size):
                cells = np.array([[-1.0, 1.0], [-1.0, 1.0]]) * row[2 * s - 2 : 2 * s, None]
                table[c, k] += cells[int(c >= s), int(k >= s)]
    return table


def objective(problem, sigma, tau, q):
    """sum q ln P - alpha/2 |sigma|^2 - beta/2 |tau|^2, the penalties over all cells of tables."""
    size, cells = problem.size, 2.0 if problem.ordinal else 1.0
    value = -0.5 * cells * (problem.alpha * (sigma**2).sum() + problem.beta * (tau**2).sum())
    for m in range(problem.indptr.size - 1):
        for j in range(problem.indptr[m], problem.indptr[m + 1]):
            table = table_of(sigma[problem.annotator[j]], size, problem.ordinal)
            table = table + table_of(tau[m], size, problem.ordinal)
            value += q[m] @ log_softmax(table, axis=1)[:, problem.label[j]]
    return value


@pytest.fixture
def tiny(small):
    judgments, _ = small
    frame = judgments.frame.filter(judgments.frame["label"] < 3).head(40)
    return type(judgments).of(frame, scale="0,1,2")


@pytest.mark.parametrize("form", FORMS)
def test_the_gradient_is_that_of_finite_differences(tiny, form):
    problem = problem_of(tiny, form)
    rng = np.random.default_rng(1)
    n, m = problem.n_annotators, problem.indptr.size - 1
    sigma = rng.normal(size=(n, problem.width))
    q = softmax(rng.normal(size=(m, 3)), axis=1)
    state = problem.make_state(sigma, rng.normal(size=(m, problem.width)), q)
    sums, _ = problem.reduce(state, [problem.sweep(state, Shard(0, m), hold=True)])
    found = collect_gradient(sums.gradient, ordinal=problem.ordinal)
    found = found - (2.0 if problem.ordinal else 1.0) * problem.alpha * sigma

    def at(flat):
        return objective(problem, flat.reshape(sigma.shape), sums.tau, q)

    expected = approx_fprime(sigma.ravel(), at, 1e-6).reshape(sigma.shape)
    assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    "form",
    [pytest.param(one, marks=[pytest.mark.slow] if one == "ordinal" else []) for one in FORMS],
)
def test_with_grades_held_it_climbs_to_the_maximum_that_scipy_finds(tiny, form):
    problem = problem_of(tiny, form)
    rng = np.random.default_rng(2)
    n, m, d = problem.n_annotators, problem.indptr.size - 1, problem.width
    q = softmax(2 * rng.normal(size=(m, 3)), axis=1)
    state = problem.make_state(np.zeros((n, d)), np.zeros((m, d)), q)
    values = []
    for _ in range(150):
        sums, _ = problem.reduce(state, [problem.sweep(state, Shard(0, m), hold=True)])
        state = problem.update(state, sums)
        if len(values) < 20:
            values.append(objective(problem, state.sigma, state.tau, q))
    assert (np.diff(values) > -1e-10).all()

    def below(flat):
        return -objective(problem, flat[: n * d].reshape(n, d), flat[n * d :].reshape(m, d), q)

    best = minimize(
        below,
        np.concatenate([state.sigma.ravel(), state.tau.ravel()]) * 0.9,
        method="L-BFGS-B",
        options={"maxfun": 40_000, "ftol": 1e-12},
    )  # fmt: skip
    assert objective(problem, state.sigma, state.tau, q) >= -best.fun - 1e-5


def test_ordinal_tables_are_the_sums_of_the_thresholds_tables():
    rows = np.random.default_rng(0).normal(size=(3, 8))
    found = build_tables(rows, 5, ordinal=True)
    for row, table in zip(rows, found, strict=True):
        assert table == pytest.approx(table_of(row, 5, ordinal=True))


@pytest.mark.parametrize("prior", [np.full(3, 1 / 3), np.array([0.5, 0.3, 0.2]), None])
def test_grades_are_the_products_of_the_chances_and_the_prior(tiny, prior):
    problem = replace(problem_of(tiny, "ordinal"), fixed=prior)
    m = problem.indptr.size - 1
    state = problem.begin([Shard(0, m)])
    sums, bound = problem.reduce(state, [problem.sweep(state, Shard(0, m))])
    for at in range(m):
        score = np.log(state.prior)
        for j in range(problem.indptr[at], problem.indptr[at + 1]):
            table = table_of(state.sigma[problem.annotator[j]], 3, ordinal=True)
            table = table + table_of(sums.tau[at], 3, ordinal=True)
            score += log_softmax(table, axis=1)[:, problem.label[j]]
        assert sums.q[at] == pytest.approx(softmax(score), abs=1e-9)
    entropy = -(sums.q * np.log(sums.q)).sum()
    value = objective(problem, state.sigma, sums.tau, sums.q)
    value += float((sums.q @ np.log(state.prior)).sum())
    if prior is None:  # learnt, under a Dirichlet prior of one item more
        value += float(np.log(state.prior).mean())
    assert bound == pytest.approx(value + entropy)


def test_the_categorical_form_conforms():
    check_aggregator(MinimaxEntropy(form="categorical"))


@pytest.mark.parametrize(
    ("setting", "value", "error"),
    [("form", "nominal", UnknownName), ("alpha", -1.0, BadSetting), ("beta", 0.0, BadSetting)],
)
def test_settings_that_mean_nothing_are_refused(setting, value, error):
    with pytest.raises(error, match=setting):
        MinimaxEntropy(**{setting: value})
