import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from venire import Qrels
from venire.errors import DataError, MissingColumns, VenireError

BASE = {"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "a"], "relevance": [2, 0, -1]}


def duck(columns):
    frame = pl.DataFrame(columns)  # noqa: F841
    return duckdb.sql("select * from frame")


DOORS = {
    "dict": dict,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pandas": pd.DataFrame,
    "pyarrow": pa.table,
    "duckdb": duck,
}


@pytest.fixture(params=DOORS)
def door(request):
    return DOORS[request.param]


def test_every_dataframe_gives_the_same_table(door):
    qrels = Qrels.of(door(BASE))
    assert qrels.frame.equals(pl.DataFrame(BASE))
    assert qrels.notes == ()


@pytest.mark.parametrize("ids", [[1, 1, 2], pl.Series(["1", "1", "2"], dtype=pl.Categorical)])
def test_ids_become_text(ids):
    assert Qrels.of({**BASE, "query_id": ids}).frame["query_id"].to_list() == ["1", "1", "2"]


def test_columns_that_are_not_ours_are_left_behind():
    frame = Qrels.of({**BASE, "iteration": [0, 0, 0]}).frame
    assert frame.columns == ["query_id", "doc_id", "relevance"]


@pytest.mark.parametrize("grades", [["2", " 0", "-1.0"], [2.0, 0.0, -1.0]])
def test_whole_grades_are_whole_numbers(grades):
    frame = Qrels.of({**BASE, "relevance": grades}).frame
    assert frame["relevance"].to_list() == [2, 0, -1]
    assert frame["relevance"].dtype == pl.Int64


def test_decimal_grades_are_kept():
    frame = Qrels.of({**BASE, "relevance": [0.25, 1, 2]}).frame
    assert frame["relevance"].to_list() == [0.25, 1.0, 2.0]


@pytest.mark.parametrize("grade", ["high", "", "nan", "inf", None])
def test_a_grade_that_is_no_number_is_refused_with_its_row(grade):
    with pytest.raises(DataError, match=r"row 1: relevance (must be a finite number|is empty)"):
        Qrels.of({**BASE, "relevance": ["1", grade, "0"]})


def test_a_huge_grade_is_no_crash():
    try:
        frame = Qrels.of({**BASE, "relevance": [1e300, 0.0, 1.0]}).frame
    except VenireError:
        return
    assert frame["relevance"][0] == 1e300


def test_missing_columns_list_what_was_there(door):
    with pytest.raises(MissingColumns) as caught:
        Qrels.of(door({"topic": ["q"], "doc_id": ["d"], "relevance": [1]}))
    assert caught.value.missing == ("query_id",)
    assert set(caught.value.present) == {"topic", "doc_id", "relevance"}


def test_columns_are_mapped():
    table = {"topic": ["q"], "docno": ["d"], "grade": [1], "relevance": [0]}
    columns = {"query_id": "topic", "doc_id": "docno", "relevance": "grade"}
    assert Qrels.of(table, columns=columns).frame.rows() == [("q", "d", 1)]


def test_a_pair_twice_with_the_same_grade_is_noted():
    qrels = Qrels.of({"query_id": ["q", "q"], "doc_id": ["d", "d"], "relevance": [1, 1]})
    assert len(qrels) == 1
    assert qrels.notes[0].startswith("1 rows")


@pytest.mark.parametrize(
    ("docs", "grades", "row"),
    [
        (["d", "d"], [0, 1], 1),
        (["a", "d", "b", "d"], [0, 1, 0, 2], 3),
        (["d", "d", "d"], [1, 1, 2], 2),
        (["a", "a", "d", "d"], [1, 1, 1, 2], 3),
    ],
)
def test_a_pair_twice_with_another_grade_names_the_row_that_differs(docs, grades, row):
    table = {"query_id": ["q"] * len(docs), "doc_id": docs, "relevance": grades}
    with pytest.raises(DataError, match=f"row {row}: q "):
        Qrels.of(table)


def test_from_and_to_a_mapping():
    grades = {"q2": {"b": 1, "a": 0}, "q1": {"a": 3}}
    assert Qrels.from_dict(grades).to_dict() == grades
    assert Qrels.from_dict({}).to_dict() == {}


def test_a_mapping_with_whole_number_ids():
    assert Qrels.from_dict({1: {2: 1}}).to_dict() == {"1": {"2": 1}}


@pytest.mark.parametrize("grade", ["high", None])
def test_a_mapping_with_a_grade_that_is_no_number_is_refused(grade):
    with pytest.raises(VenireError):
        Qrels.from_dict({"q": {"d": grade}})


def test_an_empty_table_is_asked_for_rows():
    empty = Qrels.from_dict({})
    assert len(empty) == 0
    with pytest.raises(DataError, match=r"mine\.txt"):
        empty.require_rows("mine.txt")


def test_out_to_pandas_and_arrow_and_in_again():
    qrels = Qrels.of(BASE)
    for table in (qrels.to_pandas(), qrels.to_arrow(), qrels.frame):
        assert Qrels.of(table).frame.equals(qrels.frame)


ENDINGS = [
    kind + packed
    for kind in (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".txt", ".qrels", "")
    for packed in ("", ".gz", ".xz", ".zst")
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_written_and_read_is_the_same_table(tmp_path, ending):
    qrels = Qrels.of({**BASE, "doc_id": ["d,1;2", "ü\u00a0x", "my_doc_id"]})
    path = tmp_path / f"out{ending}"
    qrels.write(path)
    assert Qrels.read(path).frame.equals(qrels.frame)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_decimal_grades_survive_writing(tmp_path, ending):
    qrels = Qrels.of({**BASE, "relevance": [1 / 3, 0.1, 2]})
    path = tmp_path / f"out{ending}"
    qrels.write(path)
    assert Qrels.read(path).frame.equals(qrels.frame)


def test_decimal_grades_are_read_back_only_when_asked_for(tmp_path):
    path = tmp_path / "qrels.txt"
    Qrels.from_dict({"q": {"d": 0.5}}).write(path)
    with pytest.raises(VenireError, match="must be a whole number"):
        Qrels.read(path)
    assert Qrels.read(path, decimals=True).to_dict() == {"q": {"d": 0.5}}
