"""The test for a judge who favours a system, held to exact populations and enumerations."""

from itertools import product

import numpy as np
import polars as pl
import pytest

from venire import Qrels, Runs
from venire.errors import BadSetting, NoOverlap
from venire.evaluation.ranks import ABSENT, RankTable
from venire.reliability.favour_power import estimate_power
from venire.reliability.favour_statistic import FavourStatistic
from venire.reliability.favour_verdict import assess_favour
from venire.reliability.favoured_system import (
    NO_DISAGREEMENT,
    TOO_FEW_RUNS,
    Comparison,
    detect_favoured_system,
)
from venire.reliability.judge_audit import _correct, audit_judges
from venire.reliability.related_runs import list_groups, merge_copies

CELLS = np.array(
    [
        [1.0, 0.5, 0.0, 0.0, 0.63, 0.0],
        [1.0, 0.0, 0.63, 0.0, 0.5, 0.0],
        [0.63, 1.0, 0.5, 0.0, 0.0, 0.0],
        [0.0, 0.63, 1.0, 0.5, 0.0, 0.0],
    ]
)
"""Weights of six patterns of ranks for four runs."""


def make_population(qrels_error, judge_error, relevant=(3, 3, 2, 2, 1, 0), topics=4):
    """Return a population in which every pattern has each outcome in its exact proportion.

    A pattern's documents are relevant with ``relevant`` / 4; errors are in quarters, too, and
    independent of the ranks given the truth. Topics differ in nothing.
    """
    weight, qrels, judge = [], [], []
    for cell, quarters in enumerate(relevant):
        for truth_draw, qrels_draw, judge_draw in product(range(4), repeat=3):
            truth = truth_draw < quarters
            weight.append(CELLS[:, cell])
            qrels.append(truth ^ (qrels_draw < qrels_error))
            judge.append(truth ^ (judge_draw < judge_error))
    weight = np.tile(np.array(weight).T, topics)
    starts = np.arange(topics + 1) * len(qrels)
    return weight, starts, *(np.tile(np.array(grades, float), topics) for grades in (qrels, judge))


@pytest.mark.parametrize("errors", [(1, 0), (1, 1), (0, 1), (1, 3)])
def test_errors_that_do_not_look_at_runs_contribute_exactly_nothing(errors):
    weight, starts, qrels, judge = make_population(*errors)
    statistic = FavourStatistic(weight, qrels, starts, list_groups(weight))
    for _, coarse, _ in statistic._operators():
        nu = coarse.contributions(judge[:, None], starts)
        np.testing.assert_allclose(nu, 0.0, atol=1e-8)
        # And not because nothing can be seen: a judge who adds the ranks of a run is seen.
        favours = judge + weight[0]
        assert np.abs(coarse.contributions(favours[:, None], starts)[0]).min() > 1.0


def test_an_unbiased_judge_contributes_nothing_on_average_over_all_errors():
    """All 2^12 patterns of errors of a judge who errs on a quarter; the qrels do not err."""
    rng = np.random.default_rng(1)
    weight = rng.random((4, 12))
    truth = np.tile([1.0, 0.0, 1.0, 0.0], 3)
    starts = np.array([0, 4, 8, 12])
    errors = np.array(list(product([False, True], repeat=12)))
    chance = 0.25 ** errors.sum(axis=1) * 0.75 ** (~errors).sum(axis=1)
    judges = np.where(errors, 1 - truth, truth).T
    statistic = FavourStatistic(weight, truth, starts, list_groups(weight))
    for _, coarse, fine in statistic._operators():
        for operator in (coarse, fine):
            nu = operator.contributions(judges, starts)
            np.testing.assert_allclose(nu @ chance, 0.0, atol=1e-9)


def test_leniency_scale_and_topics_cancel_and_the_gain_is_what_was_added():
    rng = np.random.default_rng(2)
    weight = rng.random((5, 60))
    grade = rng.integers(0, 4, 60).astype(float)
    starts = np.arange(0, 61, 6)
    lenient = 1.5 * grade + np.repeat(rng.normal(size=10), 6) + 2
    statistic = FavourStatistic(weight, grade, starts, list_groups(weight))
    groups = list(statistic.groups)
    added = lenient + 0.3 * weight[2]
    outcome = statistic.test(np.stack([lenient, added], axis=1), 99, 0)
    np.testing.assert_allclose(outcome.gain[:, 0], 0.0, atol=1e-9)
    assert outcome.gain[groups.index((2,)), 1] == pytest.approx(0.3)


def test_p_is_that_of_all_sign_flips():
    """With 6 topics all 64 flips can be listed; 4,000 random ones come within 4 standard errors."""
    rng = np.random.default_rng(10)
    weight = rng.random((4, 48))
    grade = rng.integers(0, 4, 48).astype(float)
    weight += 0.3 * grade
    judge = grade + rng.choice([-1, 0, 1], 48) + weight[0]
    starts = np.arange(0, 49, 8)
    statistic = FavourStatistic(weight, grade, starts, list_groups(weight))
    (_, coarse, _), *_ = statistic._operators()
    nu = coarse.contributions(judge[:, None], starts)[:, :, 0]
    ratio = nu / np.sqrt((nu**2).sum(axis=1))[:, None]
    # Below 20 topics one fitted quantity is corrected for.
    z = ratio.sum(axis=1) * np.sqrt(5 / 6)
    flips = np.array(list(product([-1, 1], repeat=6)))
    p = ((flips @ ratio.T).max(axis=1)[:, None] >= z - 1e-9).mean(axis=0)
    outcome = statistic.test(judge[:, None], 4000, 0)
    np.testing.assert_allclose(outcome.z[:, 0], z)
    best = int(np.argmax(z))
    error = 4 * np.sqrt(p[best] * (1 - p[best]) / 4000) + 1e-3
    assert outcome.p[best, 0] == pytest.approx(p[best], abs=error)


def test_groups_are_branches_of_the_tree():
    weight = np.zeros((9, 40))
    rng = np.random.default_rng(0)
    base = rng.random((3, 40))
    for run in range(9):
        weight[run] = base[run // 3] + 0.01 * rng.random(40)
    groups = list_groups(weight)
    assert {(0, 1, 2), (3, 4, 5), (6, 7, 8)} <= set(groups)
    assert max(map(len, groups)) == 3
    assert merge_copies(np.vstack([weight[:2], weight[:1], 0 * weight[:1]])) == [(0, 2), (1,)]


TOPICS, DOCS = 24, 24


@pytest.fixture(autouse=True)
def few_trials(monkeypatch):
    """Simulate few favours of each run: these tests are not about their number."""
    monkeypatch.setattr("venire.reliability.favour_power.MOST_TRIALS", 10)


def simulate(seed, accept=0.0):
    """Return runs, qrels and judge: six runs, and a judge who may favour what run 0 has on top."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((TOPICS, DOCS)) < 0.3).astype(int)
    score = truth * np.linspace(1, 2, 6)[:, None, None] + rng.normal(size=(6, TOPICS, DOCS))
    rank = np.argsort(np.argsort(-score, axis=2), axis=2) + 1
    qrels, judge = (np.where(rng.random(truth.shape) < 0.1, 1 - truth, truth) for _ in range(2))
    judge = np.where((rank[0] <= 5) & (rng.random(truth.shape) < accept), 1, judge)
    query = np.repeat([f"t{topic:02}" for topic in range(TOPICS)], DOCS)
    doc = np.tile([f"d{document:02}" for document in range(DOCS)], TOPICS)
    runs = pl.concat(
        pl.DataFrame(
            {"query_id": query, "doc_id": doc, "score": -rank[run].ravel().astype(float)}
        ).with_columns(run_id=pl.lit(f"r{run}"))
        for run in range(6)
    )
    pairs = pl.DataFrame({"query_id": query, "doc_id": doc})
    return runs, *(pairs.with_columns(relevance=pl.Series(x.ravel())) for x in (qrels, judge))


def assess(runs, qrels, judge, seed=0):
    table = RankTable.of(Runs.of(runs), qrels.select("query_id", "doc_id"))
    grades, other = (table.grades(Qrels.of(frame)) for frame in (qrels, judge))
    audits = audit_judges(table, grades, [("J", other)], permutations=499, seed=seed)
    return audits[0], assess_favour(audits, "")


def copy_of(runs, run, name):
    return runs.filter(pl.col("run_id") == run).with_columns(run_id=pl.lit(name))


@pytest.mark.parametrize("accept", [0.0, 0.9])
def test_rows_copies_and_hopeless_runs_do_not_change_the_colour(accept):
    runs, qrels, judge = simulate(3, accept)
    audit, risk = assess(runs, qrels, judge)
    assert risk.light == ("red" if accept else risk.light)
    unjudged = copy_of(runs, "r1", "none").with_columns(doc_id="x" + pl.col("doc_id"))
    same = [
        (runs.sample(fraction=1, shuffle=True, seed=1), qrels.reverse(), judge.reverse()),
        (pl.concat([runs, copy_of(runs, "r2", "r2-copy")]), qrels, judge),
        (pl.concat([runs, unjudged]), qrels, judge),
    ]
    for changed in same:
        again, other = assess(*changed)
        assert (other.light, other.number) == (risk.light, risk.number)
        assert again.favoured.frame["z"].to_list() == pytest.approx(
            audit.favoured.frame["z"].to_list()
        )
    hopeless = copy_of(runs, "r1", "hopeless")
    hopeless = hopeless.with_columns(
        score=pl.Series(np.random.default_rng(0).random(hopeless.height))
    )
    assert assess(pl.concat([runs, hopeless]), qrels, judge)[1].light == risk.light


def test_a_favour_is_named_with_its_size_and_the_pairs_in_dispute():
    runs, qrels, judge = simulate(3, 0.9)
    audit, risk = assess(runs, qrels, judge)
    assert "r0" in audit.favoured.group
    assert audit.favoured.gain > 0.1
    assert risk.reason.startswith("J grades the first documents of r0")
    assert "the qrels may underrate" in risk.reason
    differ = qrels.join(judge, on=["query_id", "doc_id"], suffix="_judge").filter(
        pl.col("relevance") != pl.col("relevance_judge")
    )
    top = runs.filter(pl.col("run_id").is_in(list(audit.favoured.group)), pl.col("score") >= -10)
    wanted = differ.join(top, on=["query_id", "doc_id"], how="semi").select("query_id", "doc_id")
    assert audit.disputed.sort("query_id", "doc_id").equals(wanted.sort("query_id", "doc_id"))
    assert f"{wanted.height} pairs" in risk.next_step


def test_power_rises_with_pairs_and_a_run_without_audited_pairs_is_not_cleared():
    runs, qrels, judge = simulate(5)
    table = RankTable.of(Runs.of(runs), qrels.select("query_id", "doc_id"))
    grade, other = (table.grades(Qrels.of(frame)) for frame in (qrels, judge))
    few = np.where(np.arange(other.size) % DOCS < 4, other, ABSENT)
    shares = [
        estimate_power(Comparison.of(table, grade.astype(float), judged, 10), seed=1)
        for judged in (few, other)
    ]
    assert shares[0]["found"].fill_null(0).mean() < shares[1]["found"].mean()
    unjudged = copy_of(runs, "r1", "none").with_columns(doc_id="x" + pl.col("doc_id"))
    audit, _ = assess(pl.concat([runs, unjudged]), qrels, judge)
    assert audit.unaudited == ["none"]
    assert set(audit.seen) | set(audit.unseen) == {f"r{run}" for run in range(6)}


def test_holm():
    # Holm (1979): 3 x .01, 2 x .02, then at least the one before.
    assert _correct([0.02, None, 0.01, 0.03]) == [
        pytest.approx(0.06), None, pytest.approx(0.04), pytest.approx(0.06)
    ]  # fmt: skip


def test_the_same_grades_and_copies_of_one_run_are_not_tested():
    runs, qrels, judge = simulate(0)
    audit, risk = assess(runs, qrels, qrels)
    assert (audit.favoured.p, audit.favoured.reason) == (None, NO_DISAGREEMENT)
    assert (risk.light, risk.reason) == (
        "not checked", "no judge's grades differ from the qrels",
    )  # fmt: skip
    alike = pl.concat([copy_of(runs, "r1", name) for name in ("a", "b")])
    audit, risk = assess(alike, qrels, judge)
    assert (audit.favoured.reason, risk.light) == (TOO_FEW_RUNS, "not checked")


def test_only_pairs_of_both_count_and_the_seed_decides():
    runs, qrels, judge = simulate(1, 0.7)
    table = RankTable.of(Runs.of(runs), qrels.select("query_id", "doc_id"))
    human, other = (table.grades(Qrels.of(frame)) for frame in (qrels, judge))
    some = other.copy()
    some[::2] = ABSENT
    some[1::10] = -1
    result = detect_favoured_system(table, human, some, permutations=99, seed=5)
    is_common = (some >= 0) & (table.best_ranks() <= 10)
    assert result.pairs == is_common.sum()
    assert result.topics == TOPICS
    again = detect_favoured_system(table, human, some, permutations=99, seed=5)
    assert result.frame.equals(again.frame)


def test_wrong_input():
    runs, qrels, _ = simulate(2)
    table = RankTable.of(Runs.of(runs), qrels.select("query_id", "doc_id"))
    human = table.grades(Qrels.of(qrels))
    with pytest.raises(NoOverlap, match="no pair in common"):
        detect_favoured_system(table, human, np.full_like(human, ABSENT))
    with pytest.raises(BadSetting, match="`permutations` must be >= 1"):
        detect_favoured_system(table, human, human, permutations=0)
    with pytest.raises(BadSetting, match="`depth` must be >= 1"):
        detect_favoured_system(table, human, human, depth=0)
