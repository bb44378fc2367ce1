"""Another panel: values by hand and by enumeration, invariance, and known truth."""

import itertools

import numpy as np
import polars as pl
import pytest

from venire import Qrels, Runs
from venire.errors import BadSetting
from venire.evaluation.ranks import ABSENT
from venire.evaluation.score import rank, score
from venire.reliability.panels import (
    LEAST_PAIRS,
    Panel,
    align_grades,
    compare_panels,
    find_swaps,
    measure_discordance,
    restrict_pairs,
)

MEASURE = "nDCG@10"


def make_world(seed, topics=12, documents=20, systems=5):
    """Runs of known skill, and the true grades of all documents."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([0, 1, 2], (topics, documents), p=[0.6, 0.25, 0.15])
    rows = []
    for system in range(systems):
        signal = truth + rng.normal(0, 0.8 + 0.25 * system, truth.shape)
        for topic, document in np.ndindex(truth.shape):
            score_of = float(signal[topic, document])
            rows.append((f"t{topic}", f"d{document}", score_of, f"s{system}"))
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score", "run_id"], orient="row")
    pairs = pl.DataFrame(
        {
            "query_id": [f"t{topic}" for topic, _ in np.ndindex(truth.shape)],
            "doc_id": [f"d{document}" for _, document in np.ndindex(truth.shape)],
            "relevance": truth.ravel(),
        }
    )
    qrels = Qrels(pairs)
    table = rank(qrels, Runs.of(frame))
    return table, table.grades(qrels), rng


def add_errors(grades, rate, rng):
    """Grades that are off by one with the given probability."""
    errors = (rng.random(len(grades)) < rate) * rng.choice([-1, 1], len(grades))
    return np.clip(grades + errors, 0, 2)


def test_discordance_by_hand():
    # s0 > s1 > s2 becomes s1 > s2 > s0: two pairs swap, the smaller differences .1 and .2.
    amount, swaps = measure_discordance(np.array([0.5, 0.4, 0.2]), np.array([0.1, 0.6, 0.3]))
    assert swaps == 2
    assert amount == pytest.approx(0.1 + 0.2)
    assert find_swaps(np.array([0.5, 0.4, 0.2]), np.array([0.1, 0.6, 0.3])).tolist() == [
        True,
        True,
        False,
    ]


def test_aligned_grades_have_the_targets_distribution_and_the_panels_order():
    rng = np.random.default_rng(3)
    target = rng.integers(0, 4, 200)
    grades = rng.integers(0, 3, 200)
    aligned = align_grades(target, grades, rng)
    assert sorted(aligned) == sorted(target)
    for low, high in itertools.pairwise(np.unique(grades)):
        assert aligned[grades == low].max() <= aligned[grades == high].min()


def test_a_panel_that_is_only_stricter_swaps_nothing_by_more_than_chance():
    table, grades, rng = make_world(1)
    noisy = add_errors(grades, 0.2, rng)
    stricter = np.maximum(noisy - 1, 0)
    (result,) = compare_panels(table, grades, [Panel("strict", stricter)], MEASURE, exchanges=99)
    assert result.leniency < -0.2
    assert result.p > 0.05


def test_equal_grades_swap_nothing():
    table, grades, _ = make_world(2)
    (result,) = compare_panels(table, grades, [Panel("same", grades)], MEASURE, exchanges=99)
    assert (result.systems_swapped, result.p, result.leniency) == (0, 1.0, 0.0)


def test_scores_are_those_of_the_common_pairs():
    table, grades, rng = make_world(4)
    half = np.where(rng.random(len(grades)) < 0.5, add_errors(grades, 0.3, rng), ABSENT)
    (result,) = compare_panels(table, grades, [Panel("half", half)], MEASURE, exchanges=99)
    common = half != ABSENT
    first, second = (
        score(table, np.where(common, some, ABSENT), [MEASURE]).mean[0] for some in (grades, half)
    )
    assert result.pairs == common.sum()
    assert result.systems_swapped == find_swaps(first, second).sum()


def test_a_result_does_not_depend_on_the_other_panels_or_their_order():
    table, grades, rng = make_world(5)
    panels = [Panel(name, add_errors(grades, 0.3, rng)) for name in ("a", "b", "c")]
    alone = compare_panels(table, grades, panels[:1], MEASURE, exchanges=99)[0]
    together = compare_panels(table, grades, panels[::-1], MEASURE, exchanges=99)[-1]
    assert together.p == alone.p
    assert together.p_corrected >= alone.p_corrected


def test_small_panels_are_not_tested_and_say_why():
    table, grades, _ = make_world(6)
    few = np.full(len(grades), ABSENT)
    few[: LEAST_PAIRS - 1] = grades[: LEAST_PAIRS - 1]
    narrow = np.where(table.topic < 5, grades, ABSENT)
    results = compare_panels(table, grades, [Panel("few", few), Panel("narrow", narrow)], MEASURE)
    assert [result.p for result in results] == [None, None]
    assert [result.reason for result in results] == [
        "judged 49 pairs of the qrels; 50 are needed",
        "judged 5 topics of the qrels; 6 are needed",
    ]
    with pytest.raises(BadSetting):
        compare_panels(table, grades, [Panel("same", grades)], MEASURE, exchanges=0)


def test_swaps_of_told_apart_systems_are_counted_in_most_drawn_rows():
    table, grades, _ = make_world(7, systems=3)
    # In the reversed row the best documents are the worst, so that the order turns round.
    rows = np.stack([2 - grades, 2 - grades, grades])
    told_apart = np.ones(3, dtype=bool)
    (result,) = compare_panels(
        table, grades, [Panel("two of three", rows)], MEASURE, told_apart=told_apart, exchanges=99
    )
    assert result.systems_swapped == pytest.approx(2 / 3 * 3)
    assert result.told_apart_swapped == 3
    (result,) = compare_panels(
        table, grades, [Panel("one of three", rows[[0, 2, 2]])], MEASURE,
        told_apart=told_apart, exchanges=99,
    )  # fmt: skip
    assert result.told_apart_swapped == 0


def test_only_the_compared_systems_count():
    table, grades, rng = make_world(8)
    noisy = add_errors(grades, 0.3, rng)
    (result,) = compare_panels(
        table, grades, [Panel("x", noisy)], MEASURE, systems=np.array([0, 3, 4]), exchanges=99
    )
    means = [score(table, some, [MEASURE]).mean[0][[0, 3, 4]] for some in (grades, noisy)]
    assert result.system_pairs == 3
    assert result.systems_swapped == find_swaps(*means).sum()


def test_a_restricted_table_scores_as_the_whole():
    table, grades, rng = make_world(9)
    is_included = rng.random(len(grades)) < 0.4
    whole = score(table, np.where(is_included, grades, ABSENT), [MEASURE])
    part = score(restrict_pairs(table, is_included), grades[is_included], [MEASURE])
    assert part.mean == pytest.approx(whole.mean)


@pytest.mark.slow
def test_equal_panels_are_seldom_found_and_a_biased_one_often():
    """40 worlds: a level of .05 gives 2 on average, and 6 or more in 1.4% of such tests."""
    false, found = 0, 0
    for seed in range(40):
        table, grades, rng = make_world(seed, topics=10, documents=30, systems=6)
        qrels, equal = (add_errors(grades, 0.3, rng) for _ in range(2))
        # The biased panel grades up what the last system ranks first, and down what it does not.
        favoured = np.zeros(len(grades), bool)
        last = table.segment // len(table.topics) == len(table.runs) - 1
        favoured[table.pair[last & (table.rank <= 10)]] = True
        bent = np.clip(equal + np.where(favoured, 1, -1) * (rng.random(len(grades)) < 0.7), 0, 2)
        results = [
            compare_panels(table, qrels, [Panel("x", panel)], MEASURE, exchanges=99, seed=seed)[0]
            for panel in (equal, bent)
        ]
        false += results[0].p <= 0.05
        found += results[1].p <= 0.05
    assert false <= 5
    assert found >= 24
