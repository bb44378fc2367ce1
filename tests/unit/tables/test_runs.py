import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from venire import Runs
from venire.errors import DataError, MissingColumns, UnknownName, VenireError

BASE = {
    "query_id": ["q1", "q1", "q2"],
    "doc_id": ["a", "b", "a"],
    "score": [1.5, 2.0, -1.0],
    "run_id": ["r", "r", "r"],
}


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


def ranking(scores, **options):
    return Runs.from_dict({"q": scores}).with_ranks(**options)["doc_id"].to_list()


def test_every_dataframe_gives_the_same_table(door):
    assert Runs.of(door(BASE)).frame.equals(pl.DataFrame(BASE))


def test_rows_without_a_run_are_named(door):
    table = {name: BASE[name] for name in ("query_id", "doc_id", "score")}
    assert Runs.of(door(table)).frame["run_id"].to_list() == ["run"] * 3
    assert Runs.of(door(table), run_id="mine").frame["run_id"].to_list() == ["mine"] * 3


def test_a_missing_run_name_is_filled():
    runs = Runs.of({**BASE, "run_id": ["r", None, "s"]}, run_id="mine")
    assert runs.frame["run_id"].to_list() == ["r", "mine", "s"]


def test_whole_scores_are_doubles():
    assert Runs.of({**BASE, "score": [3, 2, 1]}).frame["score"].dtype == pl.Float64


@pytest.mark.parametrize("score", ["nan", "NaN", "inf", "-Infinity", "high", "", None, "1,5"])
def test_a_score_that_is_no_finite_number_is_refused_with_its_row(score):
    with pytest.raises(DataError, match=r"row 1: score (must be a finite number|is empty)"):
        Runs.of({**BASE, "score": ["1", score, "2"]})


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf"), None])
def test_a_number_that_is_not_finite_is_refused_with_its_row(score):
    with pytest.raises(DataError, match=r"row 1: score (must be a finite number|is empty)"):
        Runs.of({**BASE, "score": [1.0, score, 2.0]})


def test_exponents_are_numbers():
    runs = Runs.of({**BASE, "score": ["1.2e-3", "5E-4", "-1e2"]})
    assert runs.frame["score"].to_list() == [0.0012, 0.0005, -100.0]


def test_a_document_twice_is_refused_with_its_row():
    table = {**BASE, "query_id": ["q", "q", "q"], "doc_id": ["a", "b", "a"]}
    with pytest.raises(DataError, match="row 2: q a is ranked a second time"):
        Runs.of(table)


def test_a_document_may_come_again_for_another_query_or_run():
    table = {
        "query_id": ["q", "p", "q"],
        "doc_id": ["a"] * 3,
        "score": [1] * 3,
        "run_id": ["r", "r", "s"],
    }
    assert len(Runs.of(table)) == 3


def test_missing_columns_list_what_was_there():
    with pytest.raises(MissingColumns) as caught:
        Runs.of({"query_id": ["q"], "docno": ["d"], "sim": [1.0]})
    assert caught.value.missing == ("doc_id", "score")
    assert caught.value.present == ("query_id", "docno", "sim")


def test_columns_are_mapped():
    table = {"qid": ["q"], "docno": ["d"], "score": [9.0], "sim": [1.0], "tag": ["t"]}
    columns = {"query_id": "qid", "doc_id": "docno", "score": "sim", "run_id": "tag"}
    assert Runs.of(table, columns=columns).frame.rows() == [("q", "d", 1.0, "t")]


def test_a_mapping_with_whole_number_ids():
    assert Runs.from_dict({1: {2: 0.5}}).frame.rows() == [("1", "2", 0.5, "run")]


@pytest.mark.parametrize("score", ["high", None, float("nan")])
def test_a_mapping_with_a_score_that_is_no_number_is_refused(score):
    with pytest.raises(VenireError):
        Runs.from_dict({"q": {"d": score}})


# Ties


def test_scores_fall():
    assert ranking({"a": 1, "b": 3, "c": 2}) == ["b", "c", "a"]


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("trec", ["z", "d9", "d10", "D1"]),
        ("docid-ascending", ["z", "D1", "d10", "d9"]),
        ("file-order", ["z", "d10", "d9", "D1"]),
    ],
)
def test_equal_scores(ties, expected):
    assert ranking({"d10": 1, "d9": 1, "D1": 1, "z": 2}, ties=ties) == expected


def test_trec_is_the_default_tie_rule():
    assert ranking({"d10": 1, "d9": 1}) == ["d9", "d10"]


def test_ids_compare_by_bytes():
    # UTF-8: z is 7A, é is C3 A9, U+FFFD is EF BF BD, U+1F600 is F0 9F 98 80.
    ids = ["z", "\U0001f600", "é", "\ufffd", "zz"]
    assert ranking(dict.fromkeys(ids, 1)) == ["\U0001f600", "\ufffd", "é", "zz", "z"]


def test_scores_are_compared_as_doubles():
    assert ranking({"b": 0.93, "a": 0.93000000001}) == ["a", "b"]


def test_zero_and_minus_zero_are_equal():
    assert ranking({"a": 0.0, "b": -0.0}) == ["b", "a"]
    assert ranking({"a": -0.0, "b": 0.0}) == ["b", "a"]
    assert ranking({"b": -0.0, "a": 0.0}, ties="file-order") == ["b", "a"]


def test_ranks_start_at_one_for_each_run_and_query():
    table = {
        "query_id": ["q", "p", "q", "q"],
        "doc_id": ["a", "a", "b", "a"],
        "score": [1, 1, 2, 5],
        "run_id": ["r", "r", "r", "s"],
    }
    frame = Runs.of(table).with_ranks()
    found = {(run, query, doc): rank for query, doc, _, run, rank in frame.iter_rows()}
    assert found == {
        ("r", "q", "b"): 1,
        ("r", "q", "a"): 2,
        ("r", "p", "a"): 1,
        ("s", "q", "a"): 1,
    }


def test_file_order_does_not_depend_on_rows_between():
    size = 200
    table = {
        "query_id": ["q", "p"] * size,
        "doc_id": [f"d{at * 7919 % size}" for at in range(size) for _ in range(2)],
        "score": [1.0] * (2 * size),
    }
    ranked = Runs.of(table).with_ranks(ties="file-order").filter(pl.col("query_id") == "q")
    assert ranked["doc_id"].to_list() == table["doc_id"][::2]


def test_an_unknown_tie_rule_is_refused():
    with pytest.raises(UnknownName, match="Unknown tie rule 'random'"):
        ranking({"a": 1}, ties="random")


def test_an_empty_run_is_ranked():
    assert Runs.from_dict({}).with_ranks().height == 0


# Out again


def test_out_to_pandas_and_arrow_and_in_again():
    runs = Runs.of(BASE)
    for table in (runs.to_pandas(), runs.to_arrow(), runs.frame):
        assert Runs.of(table).frame.equals(runs.frame)


ENDINGS = [
    kind + packed
    for kind in (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".txt", ".run", "")
    for packed in ("", ".gz", ".xz", ".zst")
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_written_and_read_is_the_same_table(tmp_path, ending):
    table = {
        "query_id": ["1", "1", "1", "2"],
        "doc_id": ["d,1", "ü\u00a0", "my_doc_id", "a"],
        "score": [1 / 3, 1 / 3, 1e-300, -12345678.9],
        "run_id": ["r", "r", "r", "r"],
    }
    path = tmp_path / f"out{ending}"
    Runs.of(table).write(path)
    assert Runs.read(path).frame.equals(pl.DataFrame(table))


@pytest.mark.parametrize("ties", ["trec", "file-order"])
def test_a_written_trec_run_keeps_every_ranking(tmp_path, ties):
    runs = Runs.of({**BASE, "query_id": ["q"] * 3, "doc_id": ["b", "c", "a"], "score": [1, 2, 1]})
    runs.write(tmp_path / "a.run")
    again = Runs.read(tmp_path / "a.run")
    assert again.with_ranks(ties=ties).equals(runs.with_ranks(ties=ties))


def test_two_runs_in_one_file(tmp_path):
    runs = Runs.of({**BASE, "query_id": ["q"] * 3, "doc_id": ["a"] * 3, "run_id": ["r", "s", "t"]})
    runs.write(tmp_path / "a.run")
    assert Runs.read(tmp_path / "a.run").frame.sort("run_id").equals(runs.frame)


@pytest.mark.parametrize(
    ("name", "run"),
    [("bm25.csv", "bm25"), ("bm25.csv.gz", "bm25"), ("my run.v2.csv", "my run.v2")],
)
def test_a_table_without_runs_is_named_after_its_file(tmp_path, name, run):
    path = tmp_path / name
    Runs.of(BASE).write(path)
    frame = pl.DataFrame(BASE).drop("run_id")
    if not name.endswith(".gz"):
        frame.write_csv(path)
    else:
        import gzip

        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    assert set(Runs.read(path).frame["run_id"]) == {run}
