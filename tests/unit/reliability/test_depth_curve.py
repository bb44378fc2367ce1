import pytest

from venire import Qrels, Runs
from venire.evaluation.score import rank
from venire.reliability.depth_curve import compute_depth_curve


def test_by_hand():
    """Two runs: at depth 1 `late` has found nothing; at 3 both are as under all judgments."""
    qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 1, "d": 1, "hidden": -1}})
    rows = [("early", "abc"), ("late", "bxd")]
    runs = Runs.of(
        {
            "query_id": ["q"] * 6,
            "doc_id": [doc for _, docs in rows for doc in docs],
            "score": [3, 2, 1] * 2,
            "run_id": [name for name, _ in rows for _ in range(3)],
        }
    )
    table = rank(qrels, runs)
    found = compute_depth_curve(table, table.grades(qrels), "P@3")
    # Judged in the first 1: a, b; in the first 2: no more (b, x); in the first 3: c, d.
    assert found.rows() == [
        (1, 2, 1, pytest.approx(1 / 3), 1.0),
        (2, 2, 1, pytest.approx(1 / 3), 1.0),
        (3, 4, 3, 1.0, 1.0),
    ]


def test_nothing_relevant_and_nothing_found():
    qrels = Qrels.from_dict({"q": {"a": 0}})
    table = rank(qrels, Runs.from_dict({"q": {"x": 1.0}}))
    (row,) = compute_depth_curve(table, table.grades(qrels)).rows()
    assert row == (1, 0, 0, None, None)
