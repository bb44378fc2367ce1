"""The grid and the tilt against plain sums; what is said of people against who they were."""

import numpy as np
import pytest
from scipy.stats import norm

from venire import Scale
from venire.aggregation import loop
from venire.aggregation.annotator_types.grid import (
    SPAM,
    build_places,
    build_types,
    log_chances,
    spread_prior,
    tilt,
)
from venire.aggregation.annotator_types.inference import Problem
from venire.aggregation.annotator_types.model import AnnotatorTypes
from venire.errors import BadSetting, UnknownName
from venire.simulation.crowds.annotators import AnnotatorType, judge
from venire.testing.crowds import make_crowd


def test_chances_are_those_of_the_formula():
    scale = Scale.of([0, 1, 2])
    places = build_places(scale, "halves", np.array([0.5, 1.0]))
    types = build_types(3, np.array([0.5, 0.3, 0.2]), SPAM, bias=True, scale=True)
    found = np.exp(log_chances(types, places))
    assert found.sum(axis=1) == pytest.approx(1.0, abs=1e-7)
    edges = [-np.inf, 0.5, 1.5, np.inf]
    for h in range(0, types.count, 37):
        for t in range(places.position.size):
            mu = 1.0 + types.scale[h] * (places.position[t] - 1.0) + types.bias[h]
            sd = types.error[h] * places.difficulty[t]
            e = types.reliability[h]
            for r in range(3):
                cell = norm.cdf(edges[r + 1], mu, sd) - norm.cdf(edges[r], mu, sd)
                expected = e * cell + (1 - e) * types.pi[types.spam[h], r]
                assert found[h, r, t] == pytest.approx(expected, abs=2e-9)


@pytest.mark.parametrize("grid", ["grades", "halves", "fine"])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_every_grade_is_a_position_and_every_place_has_the_nearest(grid, size):
    scale = Scale.of(10.0 * np.arange(size))
    places = build_places(scale, grid, np.array([1.0]))
    assert places.positions[places.grades] == pytest.approx(np.arange(size))
    assert (places.grade[places.grades] == np.arange(size)).all()
    away = np.abs(places.position[:, None] - np.arange(size))
    near = np.sort(away, axis=1)
    assert (places.edge == (np.abs(near[:, 0] - near[:, 1]) < 1e-9)).all()
    assert (places.grade[~places.edge] == away[~places.edge].argmin(axis=1)).all()
    assert places.position[places.edge] == pytest.approx(places.grade[places.edge] + 0.5)


def test_a_place_on_a_threshold_is_divided_as_the_integral_of_a_line_through_its_neighbours():
    from scipy.integrate import quad

    from venire.aggregation.kernels.types import infer_grades

    places = build_places(Scale.of([0, 1, 2]), "halves", np.array([0.8, 1.3]))
    rng = np.random.default_rng(5)
    log_prior = np.log(rng.dirichlet(np.full(places.position.size, 2.0)))
    none = np.zeros(0, np.int32)
    grades, mean, _, _ = infer_grades(
        np.zeros(2, np.int64), none, none.astype(np.int16), np.zeros((1, 3, log_prior.size)),
        log_prior, np.zeros(1, np.int64), np.array([log_prior.size]), places.position,
        places.difficulty, places.grade, places.edge, 2, 3,
    )  # fmt: skip
    expected = np.zeros(3)
    for t, p in enumerate(np.exp(log_prior)):
        at = places.position[t]
        if at == int(at):
            expected[int(at)] += p
            continue
        slope = (log_prior[t + 2] - log_prior[t - 2]) / 1.0
        upper = quad(lambda x, slope=slope: np.exp(slope * x), 0.0, 0.25)[0]
        lower = quad(lambda x, slope=slope: np.exp(slope * x), -0.25, 0.0)[0]
        expected[int(at)] += p * lower / (lower + upper)
        expected[int(at) + 1] += p * upper / (lower + upper)
    assert grades[0] == pytest.approx(expected, abs=1e-12)
    assert mean[0] == pytest.approx(np.exp(log_prior) @ places.position)


@pytest.mark.parametrize("grid", ["grades", "halves", "fine"])
@pytest.mark.parametrize(
    "prior", [[0.5, 0.5], [0.25] * 4, [0.9, 0.06, 0.04], [0.1, 0.2, 0.3, 0.25, 0.15]]
)
def test_every_grade_has_its_mass_on_every_grid(grid, prior):
    from venire.aggregation.kernels.types import infer_grades

    prior = np.array(prior)
    places = build_places(Scale.of(range(prior.size)), grid, np.array([0.8, 1.3]))
    position = spread_prior(places, prior)
    both = np.outer(position, [0.5, 0.5]).reshape(-1)
    none = np.zeros(0, np.int32)
    # An item without judgments has the grades of the prior.
    grades, _, _, _ = infer_grades(
        np.zeros(2, np.int64), none, none.astype(np.int16), np.zeros((1, prior.size, both.size)),
        np.log(both), np.zeros(1, np.int64), np.array([both.size]), places.position,
        places.difficulty, places.grade, places.edge, 2, prior.size,
    )  # fmt: skip
    assert grades[0] == pytest.approx(prior, abs=1e-6)
    if prior.size in (2, 4):  # equal grades: the same from both ends of the scale
        assert position == pytest.approx(position[::-1])


def test_a_warm_start_ends_where_a_cold_fit_ends():
    judgments, _ = make_crowd(3, items=80)
    first = AnnotatorTypes(grid="grades").fit(make_crowd(3, items=40)[0])
    cold, warm = (AnnotatorTypes(grid="grades").fit(judgments, start=x) for x in (None, first))
    assert warm.mean == pytest.approx(cold.mean, abs=1e-12)
    assert any("fitted anew" in note for note in warm.notes)


def test_the_tilt_sets_means_to_zero_and_is_the_nearest():
    rng = np.random.default_rng(4)
    weight = rng.gamma(0.3, size=200) + 1e-6
    traits = rng.normal(size=(200, 2)) + 0.8
    found = tilt(weight, traits)
    assert np.abs(found @ traits).max() < 1e-10
    # Exponential family: the log ratio is linear in the traits.
    ratio = np.log(found / weight)
    basis = np.column_stack([traits, np.ones(200)])
    left = ratio - basis @ np.linalg.lstsq(basis, ratio, rcond=None)[0]
    assert np.abs(left).max() < 1e-8
    with pytest.raises(BadSetting):
        tilt(weight, np.abs(traits))


def test_the_mean_bias_of_a_fit_is_zero():
    judgments, _ = make_crowd(1, items=80)
    codes = judgments.codes
    problem = Problem(
        codes.indptr, codes.annotator, codes.label, np.full(codes.n_items, -1, np.int16),
        codes.n_annotators, build_places(judgments.scale, "fine", np.array([0.6, 1.0, 1.7])),
        build_types(4, np.full(4, 0.25), SPAM, bias=True, scale=True), np.full(4, 0.25),
    )  # fmt: skip
    state = problem.begin()
    for _ in range(20):
        sums, _ = problem.reduce(state, [problem.sweep(state, loop.Shard(0, codes.n_items))])
        state = problem.update(state, sums)
        assert np.abs(state.weight @ problem.traits).max() < 1e-10


def test_the_bound_is_that_of_mean_field_written_out():
    judgments, _ = make_crowd(2, items=15, people=5, per_item=3, size=3)
    codes = judgments.codes
    m = codes.n_items
    problem = Problem(
        codes.indptr, codes.annotator, codes.label, np.full(m, -1, np.int16), codes.n_annotators,
        build_places(judgments.scale, "grades", np.array([1.0])),
        build_types(3, np.full(3, 1 / 3), ("uniform",), bias=False, scale=False), np.full(3, 1 / 3),
    )  # fmt: skip
    shard = loop.Shard(0, m)
    first = problem.begin()
    sums, _ = problem.reduce(first, [problem.sweep(first, shard)])
    state = problem.update(first, sums)
    (counts, taken), bound = problem.reduce(state, [problem.sweep(state, shard)])
    log_chance = log_chances(problem.types, problem.places)
    r = np.concatenate([part for _, part, _ in problem.iterate_responsibilities(first, sums[0])])
    value, log_prior = 0.0, np.log(np.full(3, 1 / 3))
    for at in range(m):
        log = log_prior.copy()
        for j in range(codes.indptr[at], codes.indptr[at + 1]):
            log += r[codes.annotator[j]] @ log_chance[:, codes.label[j]]
        value += np.log(np.exp(log).sum())
    value -= np.sum(r * np.log(r / state.weight))
    assert bound == pytest.approx(value, abs=1e-8)
    assert taken.sum() == pytest.approx(m)
    assert counts.sum() == pytest.approx(len(judgments))


def test_people_are_known_for_what_they_are():
    import polars as pl

    scale = Scale.of([0, 1, 2, 3])
    rng = np.random.default_rng(0)
    grades = pl.DataFrame({
        "query_id": [f"q{at % 20}" for at in range(600)],
        "doc_id": [f"d{at}" for at in range(600)],
        "relevance": rng.integers(0, 4, 600),
    })  # fmt: skip
    kinds = {
        "lenient": AnnotatorType("l", shift=0.6, sd=0.35, attention=0.99),
        "strict": AnnotatorType("s", shift=-0.6, sd=0.35, attention=0.99),
        "careful": AnnotatorType("c", sd=0.3, attention=0.99),
        "random": AnnotatorType("r", attention=0.0),
        "clicker": AnnotatorType("k", attention=0.0, habit="one-label"),
    }
    people = {f"{kind}-{at}": value for kind, value in kinds.items() for at in range(4)}
    judgments = judge(grades, scale, people, overlap=6, seed=1)
    found = AnnotatorTypes().fit(judgments).annotators
    said = dict(found.select("annotator_id", "type").iter_rows())
    for name, text in said.items():
        # Everybody who looks is about as exact: "careful" would not tell them from most.
        wanted = {
            "lenient": "lenient", "strict": "strict", "careful": "like most",
            "random": "random", "clicker": "clicks one label",
        }[name.split("-")[0]]  # fmt: skip
        assert wanted in text, (name, text)


@pytest.mark.parametrize(
    ("setting", "value", "error"),
    [
        ("grid", "coarse", UnknownName),
        ("spam", "bots", BadSetting),
        ("spam", "", BadSetting),
        ("difficulties", "1,0", BadSetting),
        ("grade_prior", "x", BadSetting),
    ],
)
def test_settings_that_mean_nothing_are_refused(setting, value, error):
    with pytest.raises(error, match=setting):
        AnnotatorTypes(**{setting: value})
