"""A trait is named only where it is sure and differs from the middle of the crowd."""

import math

import numpy as np
import polars as pl
import pytest

from venire import Judgments, Qrels
from venire.aggregation import base
from venire.aggregation.annotator_types.descriptions import describe_type, describe_types
from venire.aggregation.annotator_types.distinctive_traits import (
    build_prior,
    compare_with_middle,
    find_middle,
    find_shares,
)
from venire.aggregation.annotator_types.evidence import compute_evidence
from venire.aggregation.annotator_types.grid import Types
from venire.aggregation.annotator_types.model import AnnotatorTypes
from venire.simulation.crowds.annotators import AnnotatorType, judge
from venire.tables.scale import Scale


def make_types(bias=(0.0,), reliability=(1.0,), names=("uniform",), spam=None, size=2):
    """Types of every bias and reliability; error and scale do not differ."""
    a, e = (part.reshape(-1) for part in np.meshgrid(bias, reliability, indexing="ij"))
    spam = np.zeros(a.size, np.int64) if spam is None else np.array(spam)
    ones = np.ones(a.size)
    pi = np.full((len(names), size), 1 / size)
    return Types(a, ones, ones, e, spam, pi, tuple(names))


def test_the_middle_is_the_median_of_the_weighed_crowd():
    levels = np.array([-1.0, 0.0, 1.0])
    shares = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0.5, 0.5]])
    # Weights .2, .3, .3: below 0 .2 of .8, up to 0 .65 of .8.
    assert find_middle(levels, shares, np.array([0.2, 0.3, 0.3])) == 0.0
    # Somebody who never looks has no say.
    assert find_middle(levels, shares, np.array([1.0, 0.0, 0.0])) == -1.0


def test_shares_of_bias_are_those_of_labels_that_look():
    types = make_types(bias=(0.0, 0.5), reliability=(1.0, 0.25))
    # Types (0, 1), (0, .25), (.5, 1), (.5, .25); posterior .2 .4 .1 .3.
    levels, shares = find_shares(types, "bias", np.array([[0.2, 0.4, 0.1, 0.3]]))
    assert levels.tolist() == [0.0, 0.5]
    # .2 + .4 / 4 = .3 and .1 + .3 / 4 = .175, of .475.
    assert shares[0] == pytest.approx([0.3 / 0.475, 0.175 / 0.475])
    _, whole = find_shares(types, "reliability", np.array([[0.2, 0.4, 0.1, 0.3]]))
    assert whole[0] == pytest.approx([0.7, 0.3])


def test_the_prior_holds_most_people_for_like_most():
    types = make_types(bias=(-0.5, 0.0, 0.5), reliability=(1.0, 0.5))
    middles = {"bias": 0.0, "error": 1.0, "scale": 1.0, "reliability": 1.0}
    prior = np.exp(build_prior(types, middles))
    # .7 on the middle, .15 on each other, half on each reliability.
    expected = [0.075, 0.075, 0.35, 0.35, 0.075, 0.075]
    assert prior == pytest.approx(expected)


# 300 judgments count half, and the prior odds are 3 to 7: the posterior is .95 where
# exp(gap / 2) 3 / 7 = 19, that is gap = 2 ln(19 * 7 / 3) = 7.584.
@pytest.mark.parametrize(("gap", "direction"), [(7.5, 0), (7.7, 1)])
def test_a_trait_is_named_from_a_posterior_of_95_percent(gap, direction):
    types = make_types(bias=(0.0, 0.5))
    evidence = np.array([[30.0, 0.0], [30.0, 0.0], [0.0, gap]])
    traits, posterior = compare_with_middle(types, np.full(2, 0.5), evidence, np.full(3, 300))
    assert traits["bias"].middle == 0.0
    assert traits["bias"].direction.tolist() == [0, 0, direction]
    odds = math.exp(gap / 2) * 3 / 7
    assert posterior[2, 1] == pytest.approx(odds / (1 + odds))
    assert traits["bias"].mean[2] == pytest.approx(0.5 * odds / (1 + odds))


def test_who_is_sure_to_be_like_the_middle_has_no_trait():
    types = make_types(bias=(0.0, 0.5))
    evidence = np.array([[0.0, 90.0], [0.0, 90.0], [90.0, 0.0]])
    traits, _ = compare_with_middle(types, np.full(2, 0.5), evidence, np.full(3, 50))
    # Most are at .5, so the one at 0 is the strict one.
    assert traits["bias"].middle == 0.5
    assert traits["bias"].direction.tolist() == [0, 0, -1]


def test_words_of_those_who_do_not_look():
    types = make_types(
        reliability=(1.0, 0.5, 0.0, 0.0, 0.0), names=("uniform", "observed", "1"),
        spam=(0, 0, 0, 1, 2),
    )  # fmt: skip
    sure = np.full((6, 5), 0.0)
    sure[0, 0] = sure[1, 1] = sure[2, 4] = 1.0
    sure[3, [2, 3]] = 0.5
    sure[4, [2, 4]] = 0.5
    sure[5, [0, 2]] = 0.06, 0.94
    traits, _ = compare_with_middle(types, np.full(5, 0.2), 400 * sure, np.full(6, 100))
    traits["reliability"] = traits["reliability"]._replace(middle=1.0)
    texts = describe_types(types, traits, sure, ("0", "1"))
    assert texts == [
        "like most", "often does not look", "clicks one label: 1", "random", "does not look",
        "like most",
    ]  # fmt: skip


def test_words_of_traits():
    nothing = {"often": False, "error": 0, "bias": 0.0, "scale": 0}
    assert describe_type(**nothing) == "like most"
    assert describe_type(**nothing | {"scale": 1}) == "stretches the scale"
    assert describe_type(**nothing | {"error": 1, "bias": -0.8}) == (
        "less exact than most, strict by a whole grade"
    )
    assert describe_type(**nothing | {"often": True, "bias": 0.3}) == (
        "often does not look, lenient by a quarter of a grade"
    )


def prepare(labels, gold=None):
    judgments = Judgments.from_dict(
        {
            "query_id": ["q"] * len(labels),
            "doc_id": [doc for doc, _, _ in labels],
            "annotator_id": [who for _, who, _ in labels],
            "label": [label for _, _, label in labels],
        },
        scale="0,1,2",
    )
    model = AnnotatorTypes(grid="grades", difficulties="1")
    known, _ = base.find_known_grades(judgments, gold)
    problem = model._make_problem(judgments, known)
    return judgments, problem, problem.begin()


def test_evidence_on_known_grades_is_the_likelihood():
    labels = [("a", "x", 0), ("b", "x", 1), ("b", "y", 2)]
    judgments, problem, state = prepare(labels, Qrels.from_dict({"q": {"a": 1, "b": 2}}))
    evidence, count = compute_evidence(problem, state)
    x = judgments.codes.annotators.to_list().index("x")
    # ln P(0 | grade 1) + ln P(1 | grade 2) per type.
    expected = problem.chances[0, :, 1] + problem.chances[1, :, 2]
    assert evidence[x] == pytest.approx(expected, abs=1e-3)
    assert sorted(count.tolist()) == [1, 2]


def test_items_that_nobody_else_judged_are_no_evidence():
    _, problem, state = prepare([("a", "x", 2), ("b", "x", 0), ("b", "y", 0)])
    _, count = compute_evidence(problem, state)
    assert count.tolist() == [1, 1]


def test_at_most_150_judgments_per_annotator_count():
    labels = [(f"d{n}", who, n % 3) for n in range(400) for who in ("x", "y")]
    _, problem, state = prepare(labels)
    _, count = compute_evidence(problem, state)
    assert count.tolist() == [150, 150]


@pytest.mark.slow
@pytest.mark.parametrize("shares", [(0.25, 0.25, 0.25, 0.25), (0.64, 0.1, 0.15, 0.11)])
def test_people_who_are_alike_are_like_most(shares):
    """Stated: at most 5% of those like the middle are named; 240 people of six crowds."""
    rng = np.random.default_rng(8)
    texts = []
    for seed in range(6):
        grades = pl.DataFrame({
            "query_id": [f"q{n % 20}" for n in range(600)],
            "doc_id": [f"d{n}" for n in range(600)],
            "relevance": rng.choice(4, 600, p=shares),
        })  # fmt: skip
        crowd = {f"w{n}": AnnotatorType("usual", sd=0.6, attention=0.95) for n in range(40)}
        judgments = judge(grades, Scale.of(range(4)), crowd, overlap=5, seed=seed)
        texts += AnnotatorTypes().fit(judgments).annotators["type"].to_list()
    assert np.mean([text != "like most" for text in texts]) <= 0.05
