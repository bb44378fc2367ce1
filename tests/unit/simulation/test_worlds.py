"""Fitted crowds and the worlds drawn from them."""

from itertools import product

import numpy as np
import pytest

from venire.simulation.campaigns.fitted_crowd import (
    CrowdDraw,
    draw_category,
    draw_classes,
    draw_crowds,
    draw_types,
)
from venire.simulation.campaigns.worlds import JudgingDesign, judge_anew, settle_expected


def design_of(annotator, per_pair, topic, judges, rule="mean", grades=2):
    indptr = np.concatenate([[0], np.cumsum(per_pair)])
    return JudgingDesign(
        indptr, np.array(annotator, np.int32), np.array(topic), np.arange(float(grades)), rule,
        np.array(judges),
    )  # fmt: skip


def test_categories_are_drawn_by_their_weights():
    weight = np.log(np.array([0.2, 0.5, 0.3])) + 40.0
    chances = (np.arange(1000) + 0.5) / 1000
    drawn = [draw_category(weight, chance) for chance in chances]
    assert np.bincount(drawn).tolist() == [200, 500, 300]


def test_conditional_draws_are_those_of_the_formula():
    # Two pairs, two annotators, 2 classes, 2 types: every probability by hand.
    theta = np.array([[[0.9, 0.1], [0.6, 0.4]], [[0.3, 0.7], [0.5, 0.5]]])
    share = np.array([[0.7, 0.3], [0.2, 0.8]])
    indptr, annotator = np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32)
    label, stratum, kinds = np.array([0, 1, 1, 1], np.int16), np.array([0, 1]), np.array([0, 1])
    expected = []
    for p, (a, b) in enumerate(((0, 1), (1, 1))):
        weight = [share[p, c] * theta[c, 0, a] * theta[c, 1, b] for c in range(2)]
        expected.append(weight[1] / sum(weight))
    drawn = np.empty((500, 2), np.int64)
    for n, chance in enumerate((np.arange(500) + 0.5) / 500):
        draw_classes(indptr, annotator, label, kinds, np.log(theta), np.log(share), stratum,
                     np.full(2, chance), drawn[n])  # fmt: skip
    assert drawn.mean(axis=0) == pytest.approx(expected, abs=0.003)

    classes, of_type = np.array([0, 1]), np.array([0.4, 0.6])
    expected = []
    for labels in ((0, 1), (1, 1)):  # of each annotator, on both pairs
        weight = [of_type[t] * theta[0, t, labels[0]] * theta[1, t, labels[1]] for t in range(2)]
        expected.append(weight[1] / sum(weight))
    for n, chance in enumerate((np.arange(500) + 0.5) / 500):
        draw_types(indptr, annotator, label, classes, np.log(theta), np.log(of_type),
                   np.full(2, chance), drawn[n])  # fmt: skip
    assert drawn.mean(axis=0) == pytest.approx(expected, abs=0.003)


def test_settled_labels_of_a_tiny_crowd_are_enumerated():
    # One pair, three annotators of two types; the mean of 3 labels settles it.
    theta = np.array([[[0.8, 0.2], [0.3, 0.7]]])
    shares = np.array([0.25, 0.75])
    one = (shares @ theta[0])[1]  # a new person says 1
    crowd = CrowdDraw(np.zeros(1, np.int64), np.zeros(3, np.int64), theta)
    design = design_of([0, 1, 2], [3], [0], [1, 2, 3, 5])
    rng = np.random.default_rng(0)
    worlds = [judge_anew(design, crowd, shares, rng) for _ in range(4000)]
    settled = np.array([world.grades[:, 0] for world in worlds])
    for place, judges in enumerate((1, 2, 3, 5)):
        expected = sum(
            one ** sum(labels) * (1 - one) ** (judges - sum(labels))
            for labels in product((0, 1), repeat=judges)
            if sum(labels) / judges > 0.5  # a tie goes to the lower grade
        )
        assert settled[:, place].mean() == pytest.approx(expected, abs=0.025)
    assert all(world.own_grades[0] == world.grades[2, 0] for world in worlds)
    assert settle_expected(design, crowd, shares).tolist() == [int(one > 0.5)]


def test_with_fewer_judgments_whole_topics_of_a_person_are_left_out():
    # Both annotators judge all 8 pairs of both topics; people of type 0 say 0, of type 1 say 1.
    theta = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    crowd = CrowdDraw(np.zeros(16, np.int64), np.zeros(2, np.int64), theta)
    design = design_of([0, 1] * 16, [2] * 16, [0] * 8 + [1] * 8, [1, 2, 3, 4])
    rng = np.random.default_rng(5)
    differ = further = 0
    for _ in range(200):
        world = judge_anew(design, crowd, np.array([0.5, 0.5]), rng)
        first = world.grades[0].reshape(2, 8)
        assert (first == first[:, :1]).all()  # one person per topic
        differ += first[0, 0] != first[1, 0]
        labels = world.labels.reshape(2, 8, 2)
        assert (labels == labels[:, :1]).all()
        further += world.grades[2, 0] != world.grades[1, 0]
    # Two of four (topic x person) turns go to the other person; half of these are of another type.
    assert differ / 200 == pytest.approx(0.25, abs=0.1)
    assert further  # a third judgment comes from a new person


def test_a_crowd_of_known_confusion_is_recovered():
    rng = np.random.default_rng(2)
    truth = np.repeat([0, 1, 2], 60)
    annotator = np.tile(np.arange(12, dtype=np.int32), 75)[: truth.size * 5]
    item = np.repeat(np.arange(truth.size), 5)
    is_random = annotator >= 9  # a quarter of the people
    right = np.where(rng.random(item.size) < 0.9, truth[item], rng.integers(0, 3, item.size))
    label = np.where(is_random, rng.integers(0, 3, item.size), right).astype(np.int16)
    indptr = np.arange(truth.size + 1) * 5
    predicted = np.zeros((2, 3, 3))  # looking or not, grade, label
    draws = list(draw_crowds(indptr, annotator, label, 3, np.zeros(truth.size, np.int64), 10, rng))
    for crowd in draws:
        for group, people in enumerate((np.arange(9), np.arange(9, 12))):
            table = crowd.theta[:, crowd.annotator_type[people]].mean(axis=1)
            for grade in range(3):
                predicted[group, grade] += table[crowd.pair_class[truth == grade]].mean(axis=0)
    predicted /= len(draws)
    looking = np.full((3, 3), 0.1 / 3) + 0.9 * np.eye(3)
    assert predicted[0] == pytest.approx(looking, abs=0.08)
    assert predicted[1] == pytest.approx(np.full((3, 3), 1 / 3), abs=0.12)
