import numpy as np
import polars as pl
import pytest

from venire import Qrels, Runs
from venire.errors import BadSetting, UnknownName
from venire.simulation.pools.second_assessor import SecondAssessor
from venire.simulation.pools.substitution import simulate_substitution

QRELS = Qrels.from_dict({"q": {"a": 1}})
RUNS = Runs(
    pl.concat(
        [
            Runs.from_dict({"q": {"a": 2, "b": 1}}, run_id="good").frame,
            Runs.from_dict({"q": {"a": 1, "b": 2}}, run_id="odd").frame,
        ]
    )
)


def test_the_same_assessor_changes_nothing():
    found = simulate_substitution(
        QRELS, RUNS, SecondAssessor(keep=1.0, false_positives=0.0), seeds=3
    )
    for row in found.frame.iter_rows(named=True):
        assert {name: row[name] for name in row if name != "seed"} == {
            "overlap": 1, "kappa": 1, "change": 0, "relative_change": 0, "tau": 1, "swapped": 0
        }  # fmt: skip


@pytest.mark.parametrize(
    "assessor",
    [
        # b is the only document of the pool that was not relevant, and the favoured run's best.
        SecondAssessor(keep=0.0, false_positives=1.0, depth=2),
        SecondAssessor(keep=0.0, favour="odd", top=1, accept=1.0, depth=2),
    ],
)
def test_the_opposite_assessor(assessor):
    found = simulate_substitution(QRELS, RUNS, assessor, seeds=2)
    # good: AP 1 -> 1/2; odd: 1/2 -> 1. Kappa: P = 0, P_e = 1/2.
    row = found.frame.row(1, named=True)
    assert row == pytest.approx(
        {
            "seed": 1, "overlap": 0, "kappa": -1, "change": 0.5, "relative_change": 0.75,
            "tau": -1, "swapped": 1,
        }
    )  # fmt: skip
    assert found.systems.rows() == [("good", 1.0, 1), ("odd", 0.5, 2)]
    assert found.ranks.filter(pl.col("seed") == 1).rows() == [
        (1, "good", 0.5, 2),
        (1, "odd", 1.0, 1),
    ]
    assert found.by_run()[1] == {
        "run": "odd", "score": 0.5, "rank": 2, "median_score": 1.0, "median_rank": 1.0,
        "best_rank": 1, "worst_rank": 1, "first": 1.0,
    }  # fmt: skip
    assert found.summary()[0] == {"quantity": "overlap", "median": 0, "low": 0, "high": 0}


def crowded(topics=200, documents=20):
    """Ten relevant documents (five of grade 2, five of 1) and ten others a topic."""
    names = [f"d{at:02d}" for at in range(documents)]
    grades = [2] * 5 + [1] * 5 + [0] * 10
    qrels = {f"q{at}": dict(zip(names, grades, strict=True)) for at in range(topics)}
    scores = dict(zip(names, range(documents, 0, -1), strict=True))
    first = Runs.from_dict(dict.fromkeys(qrels, scores), run_id="first").frame
    other = first.with_columns(-pl.col("score"), run_id=pl.lit("other"))
    return Qrels.from_dict(qrels), Runs(pl.concat([first, other]))


def test_rates_hold_and_rows_may_stand_in_any_order():
    qrels, runs = crowded()
    assessor = SecondAssessor(keep={2: 0.9, 1: 0.4}, false_positives=0.2)
    found = simulate_substitution(qrels, runs, assessor, seeds=20, measure="NumRel")
    # Expected a topic: 5 x .9 + 5 x .4 + 10 x .2 = 8.5; variance 5 x .09 + 5 x .24 + 10 x .16.
    draws = 200 * 20
    error = 3 * np.sqrt(3.25 / draws)
    # A count is added up over the topics, as `venire evaluate` does.
    assert found.scores[:, 0].mean() / 200 == pytest.approx(8.5, abs=error)
    shuffled = Qrels(qrels.frame.sample(fraction=1, shuffle=True, seed=3))
    mixed = Runs(runs.frame.sample(fraction=1, shuffle=True, seed=4))
    again = simulate_substitution(shuffled, mixed, assessor, seeds=20, measure="NumRel")
    assert found.frame.equals(again.frame)


def test_seeds_may_be_named():
    qrels, runs = crowded(5)
    assessor = SecondAssessor(keep=0.5)
    both = simulate_substitution(qrels, runs, assessor, seeds=[7, 8])
    assert both.frame["seed"].to_list() == [7, 8]
    assert simulate_substitution(qrels, runs, assessor, seeds=[8]).frame.equals(both.frame[1:])


def test_what_cannot_be():
    with pytest.raises(BadSetting, match="`keep` must be between 0 and 1"):
        SecondAssessor(keep={1: 1.5})
    with pytest.raises(BadSetting, match="`false_positives` must be between 0 and 1"):
        SecondAssessor(keep=1.0, false_positives=-0.1)
    with pytest.raises(BadSetting, match="no probability for grade 1"):
        simulate_substitution(QRELS, RUNS, SecondAssessor(keep={2: 0.5}))
    with pytest.raises(UnknownName, match="good"):
        simulate_substitution(QRELS, RUNS, SecondAssessor(keep=1.0, favour="goood"))
    with pytest.raises(BadSetting, match="at least one seed"):
        simulate_substitution(QRELS, RUNS, SecondAssessor(keep=1.0), seeds=0)
    one = Runs(RUNS.frame.filter(pl.col("run_id") == "good"))
    with pytest.raises(BadSetting, match="two runs"):
        simulate_substitution(QRELS, one, SecondAssessor(keep=1.0))
