from dataclasses import replace
from itertools import permutations

import numpy as np
import polars as pl
import pytest

from venire.errors import BadSetting, NoOverlap
from venire.evaluation.ranks import ABSENT, RankTable
from venire.reliability.favoured_system import (
    NO_DISAGREEMENT,
    Audit,
    _moments,
    detect_favoured_system,
)

TOPICS, DOCS, RUNS, DEPTH = 25, 20, 5, 10


def simulate(seed, *, favour=0.0):
    """Runs that rank by grade plus noise of their own, and a judge with random errors.

    With ``favour`` the judge raises what run 0 has in its first five by one grade that often.
    """
    rng = np.random.default_rng(seed)
    pairs = TOPICS * DOCS
    human = rng.choice(3, pairs, p=[0.6, 0.25, 0.15])
    score = human.reshape(1, TOPICS, DOCS) + rng.normal(0, 1.5, (RUNS, TOPICS, DOCS))
    order = np.argsort(-score, axis=2)
    topic = np.repeat(np.arange(TOPICS), DOCS)
    table = RankTable(
        runs=[f"r{at}" for at in range(RUNS)],
        topics=[f"t{at:02}" for at in range(TOPICS)],
        pairs=pl.DataFrame({"query_id": topic.astype(str), "doc_id": np.arange(pairs).astype(str)}),
        topic=topic,
        segment=np.repeat(np.arange(RUNS * TOPICS), DOCS),
        rank=np.tile(np.arange(1, DOCS + 1), RUNS * TOPICS),
        pair=(order + DOCS * np.arange(TOPICS)[None, :, None]).ravel(),
        retrieved=np.full(RUNS * TOPICS, DOCS),
    )
    # A lenient judge, wrong on a third: leniency alone must raise no alarm.
    judge = np.clip(human + rng.choice([-1, 0, 1], pairs, p=[0.1, 0.65, 0.25]), 0, 2)
    first = (order[0, :, :5] + DOCS * np.arange(TOPICS)[:, None]).ravel()
    raised = first[rng.random(first.size) < favour]
    judge[raised] = np.minimum(judge[raised] + 1, 2)
    return table, human, judge


def test_false_alarms_at_most_seven_percent():
    # Alpha .05 over 200 seeds: three standard errors are .046, the brief allows 7%.
    alarms = [
        detect_favoured_system(*simulate(seed), depth=DEPTH, permutations=199, seed=seed).p <= 0.05
        for seed in range(200)
    ]
    assert np.mean(alarms) <= 0.07


def test_power_at_least_eighty_percent():
    found = [
        detect_favoured_system(
            *simulate(seed, favour=0.7), depth=DEPTH, permutations=199, seed=seed
        )
        for seed in range(50)
    ]
    assert np.mean([one.p <= 0.05 and one.most == "r0" for one in found]) >= 0.8


def test_errors_of_the_qrels_show_both_ways_and_a_favour_does_not():
    """An honest judge beside qrels that err, with one run much better than the others."""
    for seed in range(10):
        table, truth, _ = simulate(seed)
        rng = np.random.default_rng(seed)
        spread = np.array([0.3, 1.5, 1.5, 1.5, 3.0])[:, None, None]
        noise = spread * rng.normal(size=(RUNS, TOPICS, DOCS))
        order = np.argsort(-(truth.reshape(1, TOPICS, DOCS) + noise), axis=2)
        pair = (order + DOCS * np.arange(TOPICS)[None, :, None]).ravel()
        qrels, judge = (
            np.clip(truth + rng.choice([-1, 0, 1], truth.size, p=[0.15, 0.7, 0.15]), 0, 2)
            for _ in range(2)
        )
        found = Audit.of("J", replace(table, pair=pair), qrels, judge, permutations=99)
        assert found.favoured.most == "r0"
        assert found.favoured.p <= 0.05
        assert found.both_ways()
        favours = Audit.of("J", *simulate(seed, favour=0.7), permutations=99)
        assert favours.favoured.p <= 0.05
        assert not favours.both_ways()


def test_moments_are_those_of_all_permutations():
    rng = np.random.default_rng(3)
    residual, weight = rng.normal(size=7), rng.normal(size=(2, 7))
    null = np.array(
        [
            weight @ residual[[*first, 3, *last]]
            for first in permutations(range(3))
            for last in permutations(range(4, 7))
        ]
    )
    mean, sd = _moments(weight, residual, np.array([0, 3, 4, 7]))
    np.testing.assert_allclose(null.mean(axis=0), mean)
    np.testing.assert_allclose(null.std(axis=0), sd)


def test_leniency_cancels():
    table, human, _ = simulate(0)
    found = detect_favoured_system(table, human, human + 1)
    assert (found.p, found.most) == (None, None)
    assert found.frame["reason"].unique().to_list() == [NO_DISAGREEMENT]


def test_only_pairs_of_both_count_and_the_seed_decides():
    table, human, judge = simulate(1, favour=0.7)
    some = judge.copy()
    some[::2] = ABSENT
    some[1::10] = -1
    found = detect_favoured_system(table, human, some, permutations=99, seed=5)
    assert found.pairs == TOPICS * DOCS // 2 - TOPICS * DOCS // 10
    again = detect_favoured_system(table, human, some, permutations=99, seed=5)
    assert found.frame.equals(again.frame)


def test_wrong_input():
    table, human, judge = simulate(2)
    with pytest.raises(NoOverlap, match="no pair in common"):
        detect_favoured_system(table, human, np.full_like(judge, ABSENT))
    with pytest.raises(BadSetting, match="`permutations` must be >= 1"):
        detect_favoured_system(table, human, judge, permutations=0)
