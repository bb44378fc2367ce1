import numpy as np
import pytest

from venire import Scale
from venire.errors import BadSetting, DataError, UnknownLabel, UnknownName
from venire.tables.scale import infer


@pytest.mark.parametrize(
    ("text", "values", "names"),
    [
        ("0,1,2", (0, 1, 2), ("0", "1", "2")),
        (" 0 , 1 ,", (0, 1), ("0", "1")),
        ("-1,0.5", (-1, 0.5), ("-1", "0.5")),
        ("bad,fair,good", (0, 1, 2), ("bad", "fair", "good")),
        ("1=bad, 4=very good", (1, 4), ("bad", "very good")),
    ],
)
def test_text_is_read(text, values, names):
    scale = Scale.parse(text)
    assert scale.values == values
    assert scale.names == names


@pytest.mark.parametrize(
    "text", ["", " , ", "2,1,0", "0,0", "bad,bad", "0=bad,1", "0=bad,x=good", "nan,1", "0,inf"]
)
def test_text_that_is_no_scale_is_refused(text):
    with pytest.raises(BadSetting):
        Scale.parse(text)


def test_values_are_sorted_and_each_once():
    assert Scale.of([2, 0, 2, 1]).values == (0, 1, 2)


@pytest.mark.parametrize("values", [[], [float("nan")], [float("inf")]])
def test_values_that_are_no_scale_are_refused(values):
    with pytest.raises(BadSetting):
        Scale.of(values)


def test_255_grades_are_the_most():
    assert Scale.of(range(255)).size == 255
    with pytest.raises(BadSetting, match="256"):
        Scale.of(range(256))


@pytest.mark.parametrize(
    ("values", "relevant"),
    [((0, 1, 2), 1), ((-2, -1, 0), 0), ((0, 0.5), 0.5), ((3,), 3), ((-1, 0, 2), 2)],
)
def test_relevant_from_the_smallest_above_zero_or_the_top(values, relevant):
    assert Scale(values).relevant_from == relevant


def test_names_must_match_in_number_and_differ():
    with pytest.raises(BadSetting):
        Scale((0, 1), ("bad",))
    with pytest.raises(BadSetting):
        Scale((0, 1), ("bad", "bad"))


@pytest.mark.parametrize(
    ("values", "outer", "expected"),
    [
        ((0, 1, 2), "half-step", [-0.5, 0.5, 1.5, 2.5]),
        ((0, 1, 4), "half-step", [-0.5, 0.5, 2.5, 5.5]),
        ((3,), "half-step", [2.5, 3.5]),
        ((0, 1), "infinite", [-np.inf, 0.5, np.inf]),
    ],
)
def test_thresholds(values, outer, expected):
    assert Scale(values).thresholds(outer=outer).tolist() == expected


def test_unknown_outer_thresholds_are_refused():
    with pytest.raises(UnknownName, match="whole"):
        Scale((0, 1)).thresholds(outer="whole")


def test_mean_is_over_the_grades():
    assert Scale((0, 1, 5)).mean == 2


def test_index_is_the_position():
    assert Scale((-1, 0, 4)).index([4, -1, 0, 4]).tolist() == [2, 0, 1, 2]
    assert Scale((0, 1)).index([]).tolist() == []


@pytest.mark.parametrize(
    ("label", "text"), [(3, "3"), (-1, "-1"), (0.5, "0.5"), (float("nan"), "nan"), (1e300, "1e")]
)
def test_index_refuses_what_is_off_the_scale(label, text):
    with pytest.raises(UnknownLabel) as caught:
        Scale((0, 1, 2)).index([0, label])
    assert caught.value.scale == ("0", "1", "2")
    assert caught.value.label.startswith(text.rstrip("e"))


def test_nearest_gives_half_way_to_the_lower():
    means = np.array([-9, 0.5, 0.51, 2.5, 2.6, 99])
    assert Scale((0, 1, 4)).nearest(means).tolist() == [0, 0, 1, 1, 2, 2]


def test_infer_takes_what_occurs():
    assert infer([2, 0, 2]).values == (0, 2)
    with pytest.raises(DataError):
        infer([])


def test_no_labels_have_no_scale():
    with pytest.raises(DataError, match="so the scale is unknown") as error:
        infer([])
    assert error.value.code == "unknown-scale"
