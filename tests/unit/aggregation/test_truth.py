import numpy as np
import polars as pl
import pytest
from sklearn.metrics import ndcg_score

from venire import Judgments, Qrels
from venire.aggregation.check.truth import pearson, score_against_gold, score_queries
from venire.aggregation.mean import Mean
from venire.errors import NoOverlap
from venire.stats.rank_correlation import tau_b


def test_ndcg_agrees_with_scikit_learn_where_nothing_ties():
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(6), 9)
    estimate = rng.permutation(query.size).astype(float)
    grade = rng.integers(1, 5, query.size).astype(float)
    ours = score_queries(pl.Series(query), estimate, grade)
    for at in range(6):
        here = query == at
        theirs = ndcg_score([2 ** grade[here] - 1], [estimate[here]])
        assert ours[at] == pytest.approx(theirs, rel=1e-12)


def test_ties_keep_the_order_they_came_in():
    query = pl.Series(["q", "q"])
    first = score_queries(query, np.array([1.0, 1.0]), np.array([2.0, 1.0]))
    second = score_queries(query, np.array([1.0, 1.0]), np.array([1.0, 2.0]))
    # Gains 3 and 1: (1 + 3 / log2 3) / (3 + 1 / log2 3).
    assert first.tolist() == [1.0]
    assert second[0] == pytest.approx((1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3)))


def test_one_value_has_no_correlation():
    assert pearson(np.ones(4), np.arange(4.0)) is None


def test_no_common_pair_is_refused():
    judgments = Judgments.from_dict(
        {"query_id": ["q"], "doc_id": ["a"], "annotator_id": ["x"], "label": [1]}
    )
    with pytest.raises(NoOverlap, match="q/z"):
        score_against_gold(Mean().fit(judgments), Qrels.from_dict({"q": {"z": 1}}))


def test_tau_of_one_swap_of_twelve_systems():
    first = {f"s{at}": float(at) for at in range(12)}
    second = first | {"s3": 4.0, "s4": 3.0}
    assert tau_b(list(first.values()), [second[name] for name in first]) == pytest.approx(
        1 - 4 / (12 * 11)
    )
    assert tau_b(list(first.values()), [1.0] * 12) is None
