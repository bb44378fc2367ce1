import numpy as np
import polars as pl
import pytest

from venire import Judgments
from venire.tables.codes import code, code_pairs

TABLE = {
    "query_id": ["q2", "q1", "q1", "q2", "q1", "q1"],
    "doc_id": ["a", "b", "a", "a", "b", "b"],
    "annotator_id": ["y", "x", "x", "x", "w", "x"],
    "label": [3, 1, 3, 0, 1, 0],
}


def test_codes_follow_the_order_of_bytes():
    codes, values = code(pl.Series("id", ["d9", "é", "d10", "D", "d9"]))
    assert values.to_list() == ["D", "d10", "d9", "é"]
    assert codes.tolist() == [2, 3, 1, 0, 2]
    assert codes.dtype == np.int32


def test_no_rows_no_codes():
    codes, values = code(pl.Series("id", [], dtype=pl.String))
    assert codes.size == 0
    assert len(values) == 0


def test_codes_are_independent_of_tables_read_before():
    code(pl.Series("id", ["zz", "aa", "mm"]))
    codes, values = code(pl.Series("id", ["mm", "aa"]))
    assert codes.tolist() == [1, 0]
    assert values.to_list() == ["aa", "mm"]


def test_pairs_are_coded_in_order():
    first = np.array([1, 0, 1], np.int32)
    second = np.array([0, 2, 0], np.int32)
    codes, distinct = code_pairs(first, second, 3)
    assert distinct.tolist() == [2, 3]
    assert codes.tolist() == [1, 0, 1]


def test_pairs_do_not_overflow_32_bits():
    first = np.array([100_000, 0], np.int32)
    second = np.array([99_999, 1], np.int32)
    _, distinct = code_pairs(first, second, 100_000)
    assert distinct.tolist() == [1, 100_000 * 100_000 + 99_999]


def test_rows_are_grouped_by_item_then_annotator_then_label():
    codes = Judgments.of(TABLE, repeats="all").codes
    # Items in order: q1 a, q1 b, q2 a; annotators: w x y; grades: 0 1 3.
    assert codes.items.select("query_id", "doc_id").rows() == [
        ("q1", "a"),
        ("q1", "b"),
        ("q2", "a"),
    ]
    assert codes.annotators.to_list() == ["w", "x", "y"]
    assert codes.indptr.tolist() == [0, 1, 4, 6]
    assert codes.annotator.tolist() == [1, 0, 1, 1, 1, 2]
    assert codes.label.tolist() == [2, 1, 0, 1, 0, 2]
    assert codes.row.tolist() == [2, 4, 5, 1, 3, 0]
    assert codes.items["first"].to_list() == [2, 1, 0]
    assert codes.query.tolist() == [0, 0, 1]


def test_counts():
    codes = Judgments.of(TABLE, repeats="all").codes
    assert (codes.n_items, codes.n_annotators, codes.n_judgments) == (3, 3, 6)
    assert codes.per_item.tolist() == [1, 3, 2]
    assert codes.per_annotator.tolist() == [1, 4, 1]
    assert codes.item_of().tolist() == [0, 1, 1, 1, 2, 2]


def test_the_order_of_rows_does_not_matter():
    one = Judgments.of(TABLE, repeats="all").codes
    order = [5, 0, 3, 1, 4, 2]
    shuffled = {name: [cells[at] for at in order] for name, cells in TABLE.items()}
    other = Judgments.of(shuffled, repeats="all").codes
    for name in ("indptr", "annotator", "label", "query"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    assert one.annotators.equals(other.annotators)
    assert one.items.drop("first").equals(other.items.drop("first"))


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(["z", "y", "x", "w"])])
def test_the_type_of_ids_does_not_matter(kind):
    table = {**TABLE, "annotator_id": pl.Series(TABLE["annotator_id"], dtype=kind)}
    assert Judgments.of(table, repeats="all").codes.annotators.to_list() == ["w", "x", "y"]


def test_labels_are_positions_on_the_whole_scale():
    codes = Judgments.of(TABLE, repeats="all", scale="-1,0,1,2,3").codes
    assert sorted(codes.label.tolist()) == [1, 1, 2, 2, 4, 4]


def test_an_empty_table_has_codes():
    empty = {name: pl.Series([], dtype=pl.String) for name in TABLE}
    codes = Judgments.of(empty).codes
    assert (codes.n_items, codes.n_annotators, codes.n_judgments) == (0, 0, 0)
    assert codes.indptr.tolist() == [0]
    assert codes.per_item.tolist() == []
    assert codes.items.height == 0


def test_codes_are_made_once():
    judgments = Judgments.of(TABLE, repeats="all")
    assert judgments.codes is judgments.codes
