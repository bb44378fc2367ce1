"""No model contradicts a crowd that (nearly) agrees, and one annotator alone is not certain."""

import numpy as np
import pytest

from venire import Judgments, plugins
from venire.aggregation.annotator_types.model import AnnotatorTypes
from venire.aggregation.base import balance_grades
from venire.aggregation.minimax_entropy.model import MinimaxEntropy
from venire.aggregation.regularised_dawid_skene import RegularisedDawidSkene
from venire.aggregation.unchecked import assume_grades, find_unchecked

COMMITTEE = pytest.param("committee", marks=pytest.mark.slow)
SINGLE = [name for name in plugins.names("aggregator") if name != "committee"]
VARIANTS = {
    "grades": AnnotatorTypes(grid="grades"),
    "halves": AnnotatorTypes(grid="halves"),
    "categorical": MinimaxEntropy(form="categorical"),
}


def make_crowd(people, documents, grade, size, others=()):
    """Return judgments of one grade; ``others`` are (document, label) of the first annotator."""
    labels = np.full((documents, people), grade)
    for document, label in others:
        labels[document, 0] = label
    return Judgments.from_dict(
        {"query_id": ["q"] * labels.size,
         "doc_id": [f"d{m}" for m in range(documents) for _ in range(people)],
         "annotator_id": [f"w{n}" for _ in range(documents) for n in range(people)],
         "label": labels.reshape(-1)}, scale=",".join(map(str, range(size)))
    )  # fmt: skip


def fit(name, judgments):
    model = VARIANTS[name] if name in VARIANTS else plugins.load("aggregator", name)()
    return model.fit(judgments)


@pytest.mark.parametrize("name", [*SINGLE, *VARIANTS, COMMITTEE])
@pytest.mark.parametrize(
    ("people", "documents", "grade", "size", "others"),
    [
        (3, 40, 2, 3, ()),
        (3, 40, 0, 3, ((0, 1), (7, 2))),
        (2, 30, 1, 2, ()),
        (5, 60, 4, 5, ((0, 1), (7, 2), (9, 0))),
    ],
)
def test_a_unanimous_crowd_is_not_moved(name, people, documents, grade, size, others):
    posterior = fit(name, make_crowd(people, documents, grade, size, others))
    split = [f"d{document}" for document, _ in others]
    agreed = ~posterior.items["doc_id"].is_in(split).to_numpy()
    assert set(posterior.grades()[agreed]) == {float(grade)}
    assert np.abs(posterior.mean[agreed] - grade).max() < 0.5


@pytest.mark.parametrize("name", ["dawid-skene", "binary", "regularised-dawid-skene"])
def test_one_annotator_is_not_certain(name):
    judgments = Judgments.from_dict(
        {"query_id": ["q"] * 4, "doc_id": list("abcd"), "annotator_id": ["x"] * 4,
         "label": [0, 1, 2, 1]}
    )  # fmt: skip
    posterior = fit(name, judgments)
    assert posterior.grades().tolist() == [0.0, 1.0, 2.0, 1.0]
    # Labels 1/2 and 1/4 as likely: 4/7, 2/7, 1/7 from an end grade, 1/4, 1/2, 1/4 from the middle.
    ends = np.array([4 / 7, 1 / 4, 1 / 7])
    expected = ends / ends.sum()
    assert posterior.probabilities[0] == pytest.approx(expected)
    assert posterior.items["sd"].min() > 0.5
    assert any("uncertainty is assumed" in note for note in posterior.notes)


def test_only_items_that_nothing_checks_are_assumed():
    judgments = Judgments.from_dict(
        {"query_id": ["q"] * 5, "doc_id": ["a", "a", "b", "c", "d"],
         "annotator_id": ["x", "y", "x", "z", "u"], "label": [0, 0, 1, 1, 0]}
    )  # fmt: skip
    codes = judgments.codes
    known = np.where(codes.items["doc_id"] == "d", 0, -1).astype(np.int16)
    rows = find_unchecked(codes, known)
    assert codes.items["doc_id"].gather(rows).to_list() == ["c"]
    assert assume_grades(np.array([0], np.int16), 2) == pytest.approx(np.array([[2 / 3, 1 / 3]]))


def test_few_labels_say_something_in_the_regularised_model():
    judgments = Judgments.from_dict(
        {"query_id": ["q"] * 6, "doc_id": list("aaabbb"), "annotator_id": list("xyzxyz"),
         "label": [1, 1, 1, 2, 1, 2]}
    )  # fmt: skip
    low, high = RegularisedDawidSkene().fit(judgments).mean
    assert low < 1.35
    assert high > 1.5


def test_the_balanced_prior_is_uniform_for_grades_in_use():
    even = balance_grades(make_crowd(3, 30, 0, 3, [(m, m % 3) for m in range(30)]))
    # Shares .8889, .1111, .1111 after the first annotator's: s^2 / (s^2 + 1/144).
    share = np.array([1 - 20 / 90, 10 / 90, 10 / 90])
    weight = share**2 / (share**2 + 1 / 144)
    assert even == pytest.approx(weight / weight.sum(), abs=1e-5)
    unanimous = balance_grades(make_crowd(3, 30, 2, 3))
    assert unanimous == pytest.approx([0.0, 0.0, 1.0], abs=1e-5)
