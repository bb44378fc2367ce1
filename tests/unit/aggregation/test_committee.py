"""Weights by what members foretell of strangers; folds, tempering, and the shares of the grades."""

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

from venire import Judgments
from venire.aggregation.annotator_types.model import AnnotatorTypes
from venire.aggregation.check.truth import score_against_gold
from venire.aggregation.committee import MEMBERS, Committee
from venire.aggregation.committee_folds import (
    MOST,
    HeldOut,
    assign_annotators,
    leave_out,
    match_labels,
    sample_items,
)
from venire.aggregation.committee_members import Opinions, find_shares, set_prior, temper
from venire.aggregation.committee_weights import (
    LARGEST_SHARE,
    RIDGE,
    fit_weights,
    learn_from_strangers,
    measure_trust,
)
from venire.aggregation.minimax_entropy.model import MinimaxEntropy
from venire.simulation.crowds.kinds import simulated_crowd
from venire.testing.crowds import make_crowd


def make_held(rng, errors, careless=0):
    """Return labels of 20 annotators, of whom some do not look, and members with such errors."""
    n = 3000
    truth = rng.uniform(0, 3, n)
    who = rng.integers(0, 20, n)
    label = truth + rng.normal(size=n) * 0.5
    label = np.where(who < careless, rng.uniform(0, 3, n), label)
    x = truth[:, None] + rng.normal(size=(n, len(errors))) * np.array(errors)
    return HeldOut(x, label, who, 20)


def test_the_member_that_foretells_best_has_the_weight():
    held = make_held(np.random.default_rng(0), [0.2, 0.8, 1.5])
    weights = learn_from_strangers(held, np.full(3, 1 / 3))
    assert weights.sum() == pytest.approx(1.0)
    assert weights[0] > 0.8
    assert weights[2] < 0.05


def test_weights_are_the_minimum_of_the_formula():
    rng = np.random.default_rng(1)
    held = make_held(rng, [0.5, 0.7, 0.9])
    trust = rng.uniform(0.2, 1.0, held.label.size)
    found = fit_weights(held.x, held.label, trust)
    q = trust / trust.sum()
    x, y = held.x - q @ held.x, held.label - q @ held.label
    slope = (q * y) @ x / (q @ x**2)
    lined = x * slope
    pull = RIDGE * np.mean(q @ lined**2)

    def loss(a):
        return q @ (y - lined @ a) ** 2 + pull * np.sum((a - 1 / 3) ** 2)

    a = minimize(loss, np.full(3, 1 / 3), bounds=[(0, None)] * 3, tol=1e-14).x
    assert found == pytest.approx(a * slope / np.sum(a * slope), abs=1e-4)


def test_who_does_not_look_is_not_trusted_and_nobody_decides_alone():
    held = make_held(np.random.default_rng(2), [0.4, 0.5], careless=5)
    trust = measure_trust(held)
    assert trust[:5].max() < 0.1 * trust[5:].min()
    heavy = held._replace(annotator=np.where(held.annotator < 18, 0, held.annotator))
    total = measure_trust(heavy) * np.bincount(heavy.annotator, minlength=20)
    assert total.max() <= 1.01 * LARGEST_SHARE * total.sum() or np.count_nonzero(total) < 10


def test_few_labels_hardly_move_the_default():
    held = make_held(np.random.default_rng(3), [0.2, 1.5])
    few = HeldOut(held.x[:5], held.label[:5], held.annotator[:5], 20)
    default = np.array([0.0, 1.0])
    assert learn_from_strangers(few, default)[1] >= 50 / 55
    none = HeldOut(held.x[:0], held.label[:0], held.annotator[:0], 20)
    assert learn_from_strangers(none, default).tolist() == [0.0, 1.0]
    same = HeldOut(held.x, np.ones(held.label.size), held.annotator, 20)
    assert learn_from_strangers(same, default).tolist() == [0.0, 1.0]


def test_folds_hold_annotators_whole_and_do_not_depend_on_ids():
    judgments, _ = make_crowd(0)
    fold = assign_annotators(judgments.codes)
    load = np.bincount(fold, weights=judgments.codes.per_annotator)
    assert load.size == 5
    assert load.max() - load.min() <= judgments.codes.per_annotator.max()
    parts = leave_out(judgments, fold)
    for number, part in enumerate(parts):
        out = set(judgments.codes.annotators.filter(pl.Series(fold == number)))
        assert not out & set(part.frame["annotator_id"])
        assert len(part) == len(judgments) - load[number]
    new = {name: f"x{99 - rank}" for rank, name in enumerate(judgments.codes.annotators)}
    renamed = Judgments.of(
        judgments.frame.with_columns(pl.col("annotator_id").replace_strict(new)), scale="0,1,2,3"
    )
    other = dict(zip(renamed.codes.annotators, assign_annotators(renamed.codes), strict=True))
    assert [other[new[name]] for name in judgments.codes.annotators] == fold.tolist()


def test_each_label_meets_the_opinion_formed_without_its_annotator():
    judgments = Judgments.from_dict(
        {"query_id": ["q"] * 5, "doc_id": ["a", "b", "a", "b", "c"],
         "annotator_id": ["x", "x", "y", "y", "y"], "label": [0, 20, 10, 20, 0]}
    )  # fmt: skip
    fold = np.array([0, 1])
    opinions = []
    for part, value in zip(leave_out(judgments, fold), (7.0, 9.0), strict=True):
        items = part.codes.items.select("query_id", "doc_id")
        x = np.full((len(items), 1), value) + 10 * np.arange(len(items))[:, None]
        opinions.append((items, Opinions(["m"], x, np.empty(0), np.empty(0))))
    held = match_labels(judgments, fold, opinions, 10.0)
    # x is foretold by y (a, b, c: 7, 17, 27), y by x (a, b: 9, 19); nobody foretells c for y.
    assert sorted(zip(held.annotator, held.label, held.x[:, 0], strict=True)) == [
        (0, 0.0, 0.7), (0, 2.0, 1.7), (1, 1.0, 0.9), (1, 2.0, 1.9)
    ]  # fmt: skip


def test_tempering_by_hand():
    p = np.array([[0.9, 0.1], [0.3, 0.7]])
    average = np.array([0.6, 0.4])
    tempered = temper(p, np.array([1, 11]), average)
    assert tempered[0] == pytest.approx(p[0], abs=1e-5)  # one judgment shares no error
    odds = (0.3 / 0.7 / 1.5) ** 0.5 * 1.5  # 11 judgments are worth half of them
    assert tempered[1] == pytest.approx([odds / (1 + odds), 1 / (1 + odds)], abs=1e-5)


def test_members_take_the_shares_of_the_grades_as_prior():
    shares = np.array([0.64, 0.32, 0.04])
    model = set_prior("annotator-types", AnnotatorTypes(), shares, 0.5)
    root = np.sqrt(shares) / np.sqrt(shares).sum()
    assert [float(x) for x in model.grade_prior.split(",")] == pytest.approx(root, abs=1e-6)
    other = MinimaxEntropy()
    assert set_prior("minimax-entropy", other, shares, 0.5) is other
    assert find_shares({}) is None


def test_large_tables_are_sampled_by_item(monkeypatch):
    judgments, _ = make_crowd(0)
    assert sample_items(judgments, 0) is judgments
    assert MOST == 20_000
    monkeypatch.setattr("venire.aggregation.committee_folds.MOST", 100)
    part = sample_items(judgments, 0)
    assert 60 <= len(part) <= 140
    kept = part.frame.select("query_id", "doc_id").unique()
    whole = judgments.frame.join(kept, on=["query_id", "doc_id"], how="semi")
    assert len(whole) == len(part)


def test_progress_counts_the_fits():
    judgments, _ = make_crowd(0, items=20)
    events = []
    Committee(members="mean,binary").fit(judgments, progress=events.append)
    assert [event.task for event in events if event.task.startswith("committee")] == [
        "committee: members"
    ] * 2 + ["committee: weights"] * 10
    assert [event.total for event in events if event.task == "committee: weights"] == [10] * 10


@pytest.mark.slow
@pytest.mark.parametrize("name", ["good", "random", "skewed", "lenient-strict"])
def test_the_committee_is_near_the_best_member(name):
    judgments, truth = simulated_crowd(name, seed=11)  # a seed that nothing was chosen with
    committee = Committee().fit(judgments)
    best = min(score_against_gold(member, truth).mse for member in committee.state.values())
    assert score_against_gold(committee, truth).mse <= 1.08 * best
    assert len(committee.state) == len(MEMBERS.split(","))
