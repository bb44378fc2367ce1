"""Against an independent implementation: dense, in log space, written from the paper."""

import numpy as np
import pytest

from venire.aggregation.binary import BinaryDecomposition
from venire.aggregation.dawid_skene import DawidSkene
from venire.aggregation.kernels.counts import pool_adjacent
from venire.aggregation.regularised_dawid_skene import RegularisedDawidSkene
from venire.errors import BadSetting, UnknownName


def dense_em(judgments, size, strength=0.0, sweeps=500, rows_to=None, prior_of=None):
    """Dawid and Skene (1979), equations 2.3 to 2.5, one loop an item."""
    rows = judgments.frame.select("doc_id", "annotator_id", "label").rows()
    items = sorted({row[0] for row in rows})
    people = sorted({row[1] for row in rows})
    posterior = np.zeros((len(items), size))
    for doc, _, label in rows:
        posterior[items.index(doc), int(label)] += 1
    posterior /= posterior.sum(axis=1, keepdims=True)
    previous = -np.inf
    added = strength * (np.full((size, size), 1 / size) if rows_to is None else rows_to)
    for _ in range(sweeps):
        prior = posterior.mean(axis=0) if prior_of is None else prior_of
        confusion = np.tile(added, (len(people), 1, 1))
        for doc, person, label in rows:
            confusion[people.index(person), :, int(label)] += posterior[items.index(doc)]
        total = confusion.sum(axis=2, keepdims=True)
        confusion = np.where(total > 0, confusion / np.maximum(total, 1e-300), 1 / size)
        log = np.tile(np.log(np.maximum(prior, 1e-12)), (len(items), 1))
        for doc, person, label in rows:
            log[items.index(doc)] += np.log(
                np.maximum(confusion[people.index(person), :, int(label)], 1e-12)
            )
        top = log.max(axis=1, keepdims=True)
        likelihood = (top[:, 0] + np.log(np.exp(log - top).sum(axis=1))).sum()
        if strength:
            likelihood += (added * np.log(np.maximum(confusion, 1e-12))).sum()
        posterior = np.exp(log - top)
        posterior /= posterior.sum(axis=1, keepdims=True)
        if abs(likelihood - previous) < 1e-9:
            break
        previous = likelihood
    return dict(zip(items, posterior, strict=True)), likelihood


@pytest.mark.parametrize("strength", [0.0, 2.0])
def test_grades_and_likelihood_are_those_of_the_dense_algorithm(small, strength):
    judgments, _ = small
    expected, likelihood = dense_em(judgments, 4, strength)
    posterior = DawidSkene(strength=strength, tolerance=1e-9, max_iterations=500).fit(judgments)
    assert posterior.bounds["bound"][-1] == pytest.approx(likelihood, abs=1e-6)
    for doc, found in zip(posterior.items["doc_id"], posterior.probabilities, strict=True):
        assert found == pytest.approx(expected[doc], abs=1e-5)


def test_drawn_to_an_ordinal_matrix_under_a_given_grade_prior(small):
    judgments, _ = small
    # Rows by hand: each grade further off half as likely.
    rows = np.array([[8, 4, 2, 1], [4, 8, 4, 2], [2, 4, 8, 4], [1, 2, 4, 8]], float)
    rows /= rows.sum(axis=1, keepdims=True)
    expected, likelihood = dense_em(
        judgments, 4, 5.0, rows_to=rows, prior_of=np.array([4, 3, 2, 1]) / 10
    )
    posterior = DawidSkene(
        strength=5.0, towards="ordinal", grade_prior="4,3,2,1", tolerance=1e-9, max_iterations=500
    ).fit(judgments)
    assert posterior.bounds["bound"][-1] == pytest.approx(likelihood, abs=1e-6)
    for doc, found in zip(posterior.items["doc_id"], posterior.probabilities, strict=True):
        assert found == pytest.approx(expected[doc], abs=1e-5)


def test_the_regularised_model_is_a_setting_of_the_other(small):
    judgments, _ = small
    found = RegularisedDawidSkene().fit(judgments)
    other = DawidSkene(strength=12.0, towards="uniform-when-many", grade_prior="balanced").fit(
        judgments
    )
    assert found.model == "regularised-dawid-skene"
    assert np.array_equal(found.probabilities, other.probabilities)


def test_drawn_to_the_pooled_matrix_people_become_alike(small):
    judgments, _ = small
    loose = DawidSkene(towards="pooled", strength=1.0).fit(judgments).state["state"]
    tight = DawidSkene(towards="pooled", strength=1e6).fit(judgments).state["state"]
    assert np.ptp(tight.confusion, axis=0).max() < 1e-3 < np.ptp(loose.confusion, axis=0).max()


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"towards": "mean"}, UnknownName, "Choose from ordinal, pooled, uniform"),
        ({"grade_prior": "flat"}, BadSetting, "learnt, uniform or one number per grade"),
        ({"grade_prior": "1,0,1,1"}, BadSetting, "must have probabilities > 0"),
        ({"grade_prior": "1,2,3"}, BadSetting, r"one number per grade, 4 in all \(got 3\)"),
    ],
)
def test_settings_that_mean_nothing_are_refused(small, settings, error, message):
    with pytest.raises(error, match=message):
        DawidSkene(**settings).fit(small[0])


def test_the_binary_estimate_sums_the_steps(small):
    judgments, _ = small
    posterior = BinaryDecomposition(tolerance=1e-9).fit(judgments)
    total = 0.0
    for k in range(3):
        frame = judgments.frame.with_columns(
            (judgments.frame["label"] > k).cast(int).alias("label")
        )
        binary = type(judgments).of(frame, scale="0,1")
        expected, _ = dense_em(binary, 2)
        total = total + np.array([expected[doc][1] for doc in posterior.items["doc_id"]])
    assert posterior.estimate == pytest.approx(total, abs=1e-4)
    assert posterior.mean == pytest.approx(posterior.estimate, abs=1e-9)
    mean = posterior.probabilities @ np.arange(4)
    assert mean == pytest.approx(posterior.estimate, abs=1e-9)
    assert (posterior.probabilities >= -1e-12).all()


def test_pooling_gives_the_nearest_falling_row():
    above = np.array([[0.9, 0.5, 0.1], [0.2, 0.6, 0.1], [0.1, 0.2, 0.6]])
    weight = np.array([1.0, 1.0, 2.0])
    found = pool_adjacent(above, weight)
    # By hand: row 2 pools the first two; row 3 pools all: (.1 + .2 + 2 * .6) / 4.
    assert found == pytest.approx(np.array([[0.9, 0.5, 0.1], [0.4, 0.4, 0.1], [0.375] * 3]))
