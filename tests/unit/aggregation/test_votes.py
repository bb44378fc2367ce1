import pytest

from venire import Judgments
from venire.aggregation.majority import Majority
from venire.aggregation.mean import Mean, Median


def of(labels, scale="0,1,2,3"):
    return Judgments.from_dict(
        {
            "query_id": ["q"] * len(labels),
            "doc_id": ["d"] * len(labels),
            "annotator_id": [f"w{at}" for at in range(len(labels))],
            "label": labels,
        },
        scale=scale,
    )


@pytest.mark.parametrize(
    ("labels", "majority", "mean", "median"),
    [
        ([3], 3, 3, 3),
        ([0, 3], 0, 1.5, 1.5),
        ([3, 1, 3, 1], 1, 2, 2),
        ([0, 0, 1, 3, 3], 0, 1.4, 1),
        ([0, 1, 2, 3], 0, 1.5, 1.5),
        ([2, 2, 0], 2, 4 / 3, 2),
    ],
)
def test_votes_by_hand(labels, majority, mean, median):
    judgments = of(labels)
    assert Majority().fit(judgments).estimate.tolist() == [majority]
    assert Mean().fit(judgments).estimate.tolist() == [mean]
    assert Median().fit(judgments).estimate.tolist() == [median]


def test_shares_of_the_votes_are_the_probabilities():
    posterior = Mean().fit(of([0, 0, 3, 1]))
    assert posterior.probabilities.tolist() == [[0.5, 0.25, 0.0, 0.25]]


def test_uneven_scales_use_their_values():
    assert Mean().fit(of([0, 10], scale="0,1,10")).estimate.tolist() == [5.0]


def test_rules_of_settled_grades():
    posterior = Mean().fit(of([0, 0, 3, 3, 3, 1, 1, 1]))
    assert posterior.mean.tolist() == [1.5]
    assert posterior.grades("mode").tolist() == [1.0]  # 1 and 3 tie: the lowest
    assert posterior.grades("rounded-mean").tolist() == [1.0]  # half-way goes down
    assert posterior.qrels("real").to_dict() == {"q": {"d": 1.5}}
