"""Missing labels, labels beyond any scale, and ids with blanks around them."""

import pytest

from venire import Judgments, Runs
from venire.errors import BadLine

ROWS = {"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "annotator_id": ["x"] * 3}


@pytest.mark.parametrize(
    ("labels", "scale"),
    [([1, None, 0], None), (["1", "", " "], None), (["good", None, "bad"], "bad,good")],
)
def test_rows_without_a_label_are_refused_and_counted(labels, scale):
    with pytest.raises(BadLine, match="row 1: label is empty") as error:
        Judgments.from_dict({**ROWS, "label": labels}, scale=scale)
    missing = sum(label in (None, "", " ") for label in labels)
    assert (f"({missing} rows have none)" in error.value.reason) == (missing > 1)
    assert error.value.code == "missing-label"
    table = Judgments.from_dict({**ROWS, "label": labels}, scale=scale, drop_labels=[""])
    assert len(table) == 3 - missing


def test_a_label_beyond_any_scale_needs_a_scale():
    with pytest.raises(BadLine, match=r"row 1: label is 9.2e\+124; without a scale") as error:
        Judgments.from_dict({**ROWS, "label": [1, 9.2e124, 0]})
    assert error.value.code == "large-label"
    Judgments.from_dict({**ROWS, "label": [0, 2_000_000, 0]}, scale="0,2000000")


def test_ids_with_blanks_around_them_are_counted():
    table = Judgments.from_dict({**ROWS, "doc_id": [" a", "a", "b "], "label": [0, 1, 1]})
    assert table.notes == (
        "2 ids begin or end with a blank, for example ' a'; an id with a blank and one without "
        "are different",
    )
    runs = Runs.from_dict({"q ": {"a": 1.0}})
    assert runs.notes[0].startswith("1 id begins or ends with a blank, for example 'q '")
