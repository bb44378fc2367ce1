"""Calibration against truth that is known to be off by so much."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.optimize import approx_fprime

from venire import Judgments, Qrels
from venire.aggregation import calibration, weights
from venire.aggregation.calibration import (
    apply_temperature,
    calibrate,
    fit_line,
    fit_temperature,
    fit_widths,
    learn_calibration,
)
from venire.aggregation.check.calibration import build_reliability_diagram
from venire.aggregation.check.truth import score_against_gold
from venire.aggregation.committee import RESERVE, Committee
from venire.aggregation.committee_members import collect_opinions
from venire.aggregation.dawid_skene import DawidSkene
from venire.aggregation.mean import Mean
from venire.aggregation.weights import fit_convex, learn_weights
from venire.errors import BadSetting, DataError
from venire.simulation.crowds.kinds import CROWDS, simulated_crowd

MEMBERS = "regularised-dawid-skene,binary,dawid-skene"


@pytest.fixture(scope="module")
def made():
    judgments, truth = simulated_crowd("random", seed=3)
    order = np.random.default_rng(0).permutation(len(truth))
    return judgments, Qrels.of(truth.frame[order[:100]]), Qrels.of(truth.frame[order[100:]])


def test_a_line_that_is_off_is_found():
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 3, 4000)
    y = 0.4 + 0.7 * x + rng.normal(size=4000) * 0.2
    assert fit_line(x, y, 1.0) == pytest.approx((0.4, 0.7), abs=0.02)
    assert fit_line(x, y, 1e12) == pytest.approx((0.0, 1.0), abs=1e-6)


def test_a_temperature_and_offsets_that_are_off_are_found():
    rng = np.random.default_rng(2)
    p = rng.dirichlet([1.0, 1.0, 1.0], 20_000)
    true = apply_temperature(p, 2.0, (0.0, 0.5, -0.5))
    grade = np.array([rng.choice(3, p=row) for row in true])
    temperature, offsets = fit_temperature(p, grade, 1.0)
    assert temperature == pytest.approx(2.0, abs=0.15)
    assert offsets == pytest.approx((0.0, 0.5, -0.5), abs=0.08)


def test_gradients_are_those_of_finite_differences(monkeypatch):
    import scipy.optimize

    rng = np.random.default_rng(3)
    p, grade = rng.dirichlet([1.0, 2.0, 1.0], 50), rng.integers(0, 3, 50)
    seen = {}
    real = scipy.optimize.minimize

    def spy(function, x, **options):
        seen["f"] = function
        return real(function, x, **options)

    monkeypatch.setattr(scipy.optimize, "minimize", spy)
    for ask, at in (
        (lambda: fit_temperature(p, grade, 5.0), np.array([0.3, -0.2, 0.4])),
        (lambda: fit_widths(p[:, 0], p[:, 1], 0.8), np.array([-0.4, 0.3])),
    ):
        ask()
        expected = approx_fprime(at, lambda x: seen["f"](x)[0], 1e-7)
        assert seen["f"](at)[1] == pytest.approx(expected, abs=1e-4)


def test_weights_are_convex_and_find_the_good_member():
    rng = np.random.default_rng(4)
    y = rng.uniform(0, 3, 300)
    x = y[:, None] + rng.normal(size=(300, 4)) * np.array([0.2, 1.0, 1.0, 1.0])
    found = learn_weights(x, y, 0)[0].weight
    assert found.sum() == pytest.approx(1.0)
    assert found.min() >= 0
    assert found[0] > 0.6
    assert fit_convex(x, y, 1e9) == pytest.approx(np.full(4, 0.25), abs=1e-4)


def test_a_calibrated_result_is_nearer_and_as_sure_as_it_says(made):
    judgments, known, rest = made
    fitted = DawidSkene().fit(judgments)
    squeezed = 1.0 + 0.5 * fitted.mean  # a scale that is wrong by a known line
    columns = [pl.Series("mean", squeezed), pl.Series("estimate", squeezed)]
    before = replace(fitted, items=fitted.items.with_columns(columns))
    after = calibrate(before, known)
    assert after.calibration["pairs"] == 100
    assert "calibrated with 100 known pairs" in after.notes[-1]
    assert score_against_gold(after, rest).mse < score_against_gold(before, rest).mse
    assert (
        build_reliability_diagram(after, rest).error < build_reliability_diagram(before, rest).error
    )


def test_few_known_pairs_calibrate_nothing(made):
    judgments, known, _ = made
    few = Qrels.of(known.frame.head(49))
    with pytest.raises(BadSetting, match="must hold 50 or more pairs"):
        calibrate(Mean().fit(judgments), few)
    posterior = Committee(members=MEMBERS).fit(judgments, gold=few)
    assert posterior.calibration is None
    assert any("NOT calibrated: 49 known grades" in note for note in posterior.notes)


def test_a_committee_is_the_weighted_mean_of_its_tempered_members(made):
    judgments, _, _ = made
    posterior = Committee(members="dawid-skene,binary,mean").fit(judgments)
    grades = np.arange(4.0)
    weight = np.array([posterior.weights[name] for name in posterior.state])
    assert weight.sum() == pytest.approx(1.0)
    assert weight.min() >= 0.0
    means, seconds = [], []
    for name, member in posterior.state.items():
        p = member.probabilities
        if name != "mean":  # 5 judgments of errors that correlate by .1 are worth 5 / 1.4
            share = p.mean(axis=0) + 1e-6
            share /= share.sum()
            p = share * (np.maximum(p, 1e-9) / share) ** (1 / 1.4)
            p /= p.sum(axis=1, keepdims=True)
        means.append(p @ grades)
        seconds.append(p @ grades**2)
    expected = weight @ np.stack(means)
    assert posterior.mean == pytest.approx(expected)
    split = np.sqrt(weight @ np.stack(means) ** 2 - expected**2)
    assert posterior.items["split"].to_numpy() == pytest.approx(split, abs=1e-6)
    variance = weight @ np.stack(seconds) - expected**2
    assert posterior.items["sd"].to_numpy() ** 2 == pytest.approx(variance, abs=1e-6)
    assert any("judge these pairs again first" in note for note in posterior.notes)
    assert any("NOT calibrated: no known grades" in note for note in posterior.notes)


def test_the_member_that_disagrees_is_named(made):
    judgments, _, _ = made
    posterior = Committee(members="dawid-skene,binary,mean").fit(judgments)
    opinions = collect_opinions(posterior.state, np.arange(4.0))
    heard = np.array([posterior.weights[name] > 0.0 for name in posterior.state])
    away = np.abs(opinions.x - posterior.mean[:, None]) * heard
    named = posterior.items["furthest"].to_numpy()
    clear = np.sort(away, axis=1)[:, -1] - np.sort(away, axis=1)[:, -2] > 1e-6
    expected = np.array(list(posterior.state))[np.argmax(away, axis=1)]
    assert (named[clear] == expected[clear]).all()
    one = Judgments.from_dict({"query_id": ["q"], "doc_id": ["d"], "annotator_id": ["a"],
                               "label": [1]}, scale="0,1")  # fmt: skip
    alike = Committee(members="mean,majority").fit(one)
    assert alike.items["furthest"].to_list() == [None]
    assert not any("furthest" in note for note in alike.notes)


def test_what_is_learnt_without_a_fold_has_not_seen_it(monkeypatch):
    monkeypatch.setattr(weights, "STRENGTHS", (30.0,))
    rng = np.random.default_rng(10)
    y = rng.integers(0, 4, 100).astype(float)
    x = y[:, None] + rng.normal(size=(100, 3))
    out = calibration.assign_folds(100, 0) == 2
    whole, without = learn_weights(x, y, 0)
    other, same = learn_weights(x, np.where(out, 3.0 - y, y), 0)
    assert same[2] == pytest.approx(without[2], abs=1e-12)
    assert other.combine(x) != pytest.approx(whole.combine(x), abs=1e-3)


def test_known_grades_weigh_and_can_be_exchanged_without_a_new_fit(made):
    judgments, known, rest = made
    free = Committee(members=MEMBERS).fit(judgments)
    taught = Committee(members=MEMBERS).fit(judgments, gold=known, seed=5)
    again = Committee(members=MEMBERS).reweigh(free, judgments, known, seed=5)
    assert again.mean == pytest.approx(taught.mean, abs=1e-12)
    assert taught.calibration["pairs"] == 100
    assert any(note.startswith("weights learnt from known grades") for note in taught.notes)
    assert score_against_gold(taught, known).mse == 0.0
    held = taught.items.join(known.frame, on=["query_id", "doc_id"], how="semi")
    assert held["split"].max() == 0.0
    assert held["furthest"].null_count() == 100
    members = [score_against_gold(member, rest).mse for member in free.state.values()]
    assert score_against_gold(taught, rest).mse < min(members)
    assert RESERVE not in taught.state


def test_without_overlap_the_weights_are_those_of_members_that_need_none():
    judgments, _ = simulated_crowd("one-judgment", seed=0)
    posterior = Committee(members="mean,ordinal-mixture,binary").fit(judgments)
    assert dict(posterior.weights) == {"mean": 0.0, "ordinal-mixture": 0.5, "binary": 0.5}
    # No threshold: with some overlap the weights move by as much as the labels held out allow.
    one_more = judgments.frame.head(30).with_columns(pl.lit("w-new").alias("annotator_id"))
    some = replace(judgments, frame=pl.concat([judgments.frame, one_more]))
    moved = Committee(members="mean,ordinal-mixture,binary").fit(some)
    assert 0.2 < moved.weights["binary"] < 0.8


def test_intervals_cover_what_they_claim():
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 4, 3000)
    mean = truth + rng.normal(size=3000) * 0.6
    sd = np.full(3000, 0.1)  # far too sure
    p = np.eye(4)[truth] * 0.6 + 0.1
    found = learn_calibration(mean[:200], sd[:200], p[:200], np.arange(4.0), truth[:200], 0)
    centre = found.intercept + found.slope * mean[200:]
    inside = np.abs(centre - truth[200:]) < 1.96 * found.widen(sd[200:])
    assert 0.92 < inside.mean() < 0.98


def test_widths_of_the_true_variance_are_found():
    rng = np.random.default_rng(8)
    sd = rng.uniform(0.0, 1.0, 20_000)
    error = rng.normal(size=sd.size) * np.sqrt(0.3**2 + (1.5 * sd) ** 2)
    for unit in (1.0, 25.0):
        floor, spread = fit_widths(unit * error, unit * sd, 1.0)
        assert floor == pytest.approx(0.3 * unit, rel=0.05)
        assert spread == pytest.approx(1.5, rel=0.03)
    assert fit_widths(np.zeros(60), sd[:60], 0.9) == (0.0, 0.9)
    floor, _ = fit_widths(error[:500], np.zeros(500), 1.0)
    assert floor == pytest.approx(error[:500].std(), rel=0.01)


def test_members_that_tell_nothing_are_not_sure():
    rng = np.random.default_rng(7)
    grade = rng.integers(0, 3, 200)
    mean = 1.0 - 0.01 * grade + rng.normal(size=200) * 0.1  # the wrong way round: slope 0
    found = learn_calibration(
        mean, np.full(200, 0.1), np.full((200, 3), 1 / 3), np.arange(3.0), grade, 0
    )
    assert found.slope < 0.1
    assert found.widen(np.array([0.1])) == pytest.approx(grade.std(), abs=0.05)


def test_a_result_of_other_items_is_not_reweighed(made):
    judgments, known, _ = made
    posterior = Committee(members="dawid-skene,binary").fit(judgments)
    fewer = replace(judgments, frame=judgments.frame.head(2000))
    with pytest.raises(DataError, match="other items"):
        Committee(members="dawid-skene,binary").reweigh(posterior, fewer, known)


def test_the_diagram_by_hand():
    judgments, truth = simulated_crowd("good", seed=0)
    posterior = Mean().fit(judgments)
    p = np.tile([0.85, 0.05, 0.05, 0.05], (1000, 1))
    diagram = build_reliability_diagram(replace(posterior, probabilities=p), truth)
    lowest = float((truth.frame["relevance"] == 0).mean())
    assert diagram.bins.rows() == [(0.8, 0.9, 1000, pytest.approx(0.85), pytest.approx(lowest))]
    assert diagram.error == pytest.approx(abs(0.85 - lowest))


@pytest.mark.parametrize("members", ["binary", "binary,committee", ""])
def test_a_committee_of_one_or_of_itself_is_refused(members):
    with pytest.raises(BadSetting):
        Committee(members=members)


def test_crowds_are_ten_and_repeatable():
    assert len(CROWDS) == 10
    first, second = (simulated_crowd("adversaries", seed=2)[0] for _ in range(2))
    assert first.frame.equals(second.frame)
    assert calibration.FEWEST == 50
