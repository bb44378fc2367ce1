import numpy as np
import pytest
from scipy import stats

from venire import Qrels, Runs
from venire.errors import BadSetting
from venire.evaluation.paired_tests import compare_systems, holm
from venire.evaluation.score import Scores, score_runs
from venire.measures import parse


def scores_of(values, names="abc"):
    runs, topics = values.shape
    return Scores(
        [parse("AP")], list(names[:runs]), [f"t{at}" for at in range(topics)],
        values[None], np.ones((runs, topics), bool),
    )  # fmt: skip


def test_the_t_test_is_scipys():
    values = np.random.default_rng(0).random((2, 30))
    found = compare_systems(scores_of(values), permutations=10)[0]
    assert found.p_t == pytest.approx(stats.ttest_rel(values[0], values[1]).pvalue)
    assert found.difference == pytest.approx((values[0] - values[1]).mean())


def test_the_randomisation_test_is_the_enumeration_of_all_flips():
    difference = np.array([0.3, 0.1, 0.25, -0.05, 0.2, 0.15])
    values = np.stack([difference, np.zeros(6)])
    signs = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1)
    exact = np.mean(np.abs(difference @ signs) >= abs(difference.sum()) - 1e-12)
    found = compare_systems(scores_of(values), permutations=40_000)[0]
    # Three standard errors of a share from 40,000 draws.
    assert found.p_randomisation == pytest.approx(exact, abs=3 * (exact / 40_000) ** 0.5)


def test_holm_is_that_of_the_definition():
    # Smallest p times 3, next times 2, never falling: by hand.
    assert holm(np.array([0.01, 0.02, 0.03])).tolist() == pytest.approx([0.03, 0.04, 0.04])
    assert holm(np.array([0.6, 0.5])).tolist() == [1.0, 1.0]


def test_equal_systems_have_no_p_value():
    values = np.tile(np.random.default_rng(0).random(10), (2, 1))
    found = compare_systems(scores_of(values), permutations=10)[0]
    assert (found.p_t, found.p_randomisation, found.p_holm, found.p_tukey) == (None,) * 4
    assert found.ties == 10


def test_tukey_keeps_the_familywise_error_for_equal_systems():
    rng = np.random.default_rng(1)
    false = 0
    for trial in range(150):
        values = rng.normal(size=(6, 20)) + rng.normal(size=20)
        found = compare_systems(scores_of(values, "abcdef"), permutations=200, seed=trial)
        false += min(pair.p_tukey for pair in found) <= 0.05
    # Binomial(150, .05): 17 or more has a chance under 1 in 1,000.
    assert false < 17


def test_the_interval_is_scipys():
    values = np.random.default_rng(0).random((2, 30))
    found = compare_systems(scores_of(values), permutations=10, level=0.9)[0]
    expected = stats.ttest_rel(values[0], values[1]).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(("differences", "has_interval"), [(4, False), (5, True)])
def test_runs_that_differ_on_few_topics_have_no_interval(differences, has_interval):
    values = np.zeros((2, 40))
    values[0, :differences] = np.arange(1, differences + 1) / 10
    found = compare_systems(scores_of(values), permutations=10)[0]
    assert (found.low is not None) == has_interval == (found.high is not None)
    assert found.p_t is not None


def test_the_same_difference_on_all_topics_has_no_interval():
    found = compare_systems(scores_of(np.stack([np.ones(9), np.zeros(9)])), permutations=10)[0]
    assert (found.low, found.high, found.p_t) == (None, None, None)


@pytest.mark.parametrize("topics", [6, 12, 40])
def test_intervals_cover_the_true_difference(topics):
    rng = np.random.default_rng(topics)
    covered = 0
    for _ in range(400):
        values = np.stack([rng.laplace(0.1, 0.2, topics), np.zeros(topics)])
        pair = compare_systems(scores_of(values), permutations=1)[0]
        covered += pair.low <= 0.1 <= pair.high
    # Standard error of a share of .95: .011.
    assert 0.92 <= covered / 400 <= 0.985


def test_results_are_of_the_seed():
    values = np.random.default_rng(0).random((3, 12))
    first, second, other = (compare_systems(scores_of(values), seed=seed) for seed in (1, 1, 2))
    assert first == second
    assert first != other


def test_one_run_cannot_be_compared():
    scores = score_runs(Qrels.from_dict({"q": {"a": 1}}), Runs.from_dict({"q": {"a": 1}}), ["AP"])
    with pytest.raises(BadSetting, match="two runs"):
        compare_systems(scores)
