import polars as pl
import pytest

from venire import Qrels, Runs
from venire.errors import NoOverlap
from venire.evaluation.score import rank
from venire.reliability.substitution import substitute

QRELS = Qrels.from_dict({"q": {"a": 2, "b": 0, "c": 1}, "r": {"x": 1}})
RUNS = Runs(
    pl.concat(
        [
            Runs.from_dict({"q": {"a": 2, "b": 1}, "r": {"x": 1}}, run_id="first").frame,
            Runs.from_dict({"q": {"b": 2, "a": 1}, "r": {"x": 1}}, run_id="second").frame,
        ]
    )
)


@pytest.fixture
def table():
    return rank(QRELS, RUNS)


def other(table, grades):
    return table.grades(Qrels.from_dict(grades))


def test_scores_on_the_pairs_of_both(table):
    assessor = other(table, {"q": {"a": 0, "b": 1}})
    found = substitute(table, table.grades(QRELS), assessor, "RR", assessor="A1")
    # Only a and b of topic q: first 1 and second 1/2, then the other way round.
    rows = {row["run_id"]: row for row in found.frame.to_dicts()}
    assert (rows["first"]["score"], rows["first"]["score_other"]) == (1.0, 0.5)
    assert (rows["second"]["rank"], rows["second"]["rank_other"]) == (2, 1)
    assert (found.pairs, found.topics) == (2, 1)
    assert found.order.tau == -1.0
    assert found.order.swapped == (("first", "second"),)
    assert found.mean_change == 0.5


def test_who_is_stricter(table):
    grades = table.grades(QRELS)
    strict = substitute(table, grades, other(table, {"q": {"a": 1, "b": 0}}), assessor="A1")
    assert (strict.leniency, strict.stricter) == (-0.5, "A1")
    lenient = substitute(table, grades, other(table, {"q": {"a": 2, "b": 2}}), assessor="A1")
    assert (lenient.leniency, lenient.stricter) == (1.0, "qrels")
    assert (lenient.relevant, lenient.relevant_other) == (0.5, 1.0)
    assert substitute(table, grades, grades).stricter == "neither"


def test_nothing_in_common(table):
    with pytest.raises(NoOverlap, match="A9 judged no pair"):
        substitute(table, table.grades(QRELS), other(table, {"z": {"a": 1}}), assessor="A9")
