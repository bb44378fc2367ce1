import pytest

from venire import Runs
from venire.errors import BadSetting, UnknownName
from venire.pooling.base import Lists
from venire.pooling.fused import Fused


def table(rows):
    columns = zip(*rows, strict=True)
    names = ("run_id", "query_id", "doc_id", "score")
    return Lists.of(Runs.of(dict(zip(names, map(list, columns), strict=True))))


SCORED = table(
    [
        ("A", "q", "a", 4.0),
        ("A", "q", "b", 2.0),
        ("A", "q", "c", 0.0),
        ("B", "q", "b", 10.0),
        ("B", "q", "c", 6.0),
    ]
)


def test_reciprocal_rank():
    frame = Fused(budget=3).pool(SCORED).frame
    assert frame["doc_id"].to_list() == ["b", "c", "a"]
    # b: second and first; c: third and second; a: first.
    wanted = [1 / 62 + 1 / 61, 1 / 63 + 1 / 62, 1 / 61]
    assert frame["gain"].to_list() == pytest.approx(wanted)
    assert frame["rank"].to_list() == [1, 2, 1]


def test_combsum():
    frame = Fused(budget=3, fusion="combsum").pool(SCORED).frame
    # A: 1, 1/2, 0; B: 1, 0.
    assert dict(zip(frame["doc_id"], frame["gain"], strict=True)) == {"b": 1.5, "a": 1, "c": 0}
    assert frame["doc_id"].to_list() == ["b", "a", "c"]


def test_equal_scores_count_one():
    flat = table([("A", "q", "a", 3.0), ("A", "q", "b", 3.0)])
    assert Fused(fusion="combsum").pool(flat).frame["gain"].to_list() == [1, 1]


def test_budget_is_a_topic_and_short_topics_are_said():
    two = table([("A", "q1", "a", 2.0), ("A", "q1", "b", 1.0), ("A", "q2", "a", 1.0)])
    pool = Fused(budget=2).pool(two)
    assert pool.frame["query_id"].to_list() == ["q1", "q1", "q2"]
    assert pool.notes == ("1 topic has fewer than 2 documents",)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"budget": 0}, r"`budget` must be >= 1 \(got 0\)"),
        ({"fusion": "sum"}, "Unknown fusion 'sum'. Choose from combsum, reciprocal-rank"),
        ({"constant": -1}, r"`constant` must be >= 0 \(got -1\)"),
    ],
)
def test_wrong_settings(settings, said):
    with pytest.raises((BadSetting, UnknownName), match=said):
        Fused(**settings)
