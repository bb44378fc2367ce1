import contextlib
import datetime as dt
import decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from venire import Judgments, Scale
from venire.errors import BadSetting, DataError, MissingColumns, UnknownName, VenireError

BASE = {
    "query_id": ["q1", "q1", "q2"],
    "doc_id": ["a", "b", "a"],
    "annotator_id": ["x", "y", "x"],
    "label": [0, 1, 2],
}


def data(**columns):
    return {**BASE, **columns}


def one(label, **columns):
    """One pair judged by one annotator as often as there are labels."""
    size = len(label)
    keys = {"query_id": ["q"] * size, "doc_id": ["d"] * size, "annotator_id": ["x"] * size}
    return {**keys, "label": label, **columns}


def duck(columns):
    frame = pl.DataFrame(columns)  # noqa: F841
    return duckdb.sql("select * from frame")


DOORS = {
    "dict": dict,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pandas": pd.DataFrame,
    "pandas-arrow": lambda c: pd.DataFrame(c).convert_dtypes(dtype_backend="pyarrow"),
    "pandas-nullable": lambda c: pd.DataFrame(c).convert_dtypes(),
    "pandas-category": lambda c: pd.DataFrame(c).astype("category"),
    "pyarrow": pa.table,
    "duckdb": duck,
}


@pytest.fixture(params=DOORS)
def door(request):
    return DOORS[request.param]


def test_every_dataframe_gives_the_same_table(door):
    judgments = Judgments.of(door(BASE))
    assert judgments.frame.equals(pl.DataFrame(BASE))
    assert judgments.frame.schema == pl.DataFrame(BASE).schema
    assert judgments.scale.values == (0, 1, 2)
    assert judgments.notes == ()


def test_whole_number_ids_become_text(door):
    frame = Judgments.of(door(data(query_id=[1, 1, 20], annotator_id=[7, -8, 7]))).frame
    assert frame["query_id"].to_list() == ["1", "1", "20"]
    assert frame["annotator_id"].to_list() == ["7", "-8", "7"]


@pytest.mark.parametrize("name", ["query_id", "doc_id", "annotator_id"])
def test_decimal_ids_are_refused(door, name):
    with pytest.raises(DataError, match=name):
        Judgments.of(door(data(**{name: [1.0, 2.0, 3.5]})))


def test_fixed_point_ids_are_refused():
    ids = [decimal.Decimal("1.50"), decimal.Decimal("2.00"), decimal.Decimal("3.00")]
    with pytest.raises(DataError, match="query_id"):
        Judgments.of(data(query_id=ids))


@pytest.mark.parametrize("empty", [None, ""])
@pytest.mark.parametrize("name", ["query_id", "doc_id", "annotator_id"])
def test_an_empty_id_is_refused_with_its_row(door, name, empty):
    ids = [*BASE[name][:2], empty]
    with pytest.raises(DataError, match=rf"row 2: {name} is empty"):
        Judgments.of(door(data(**{name: ids})))


def test_a_missing_pandas_id_among_whole_numbers_is_refused():
    with pytest.raises(DataError, match="query_id"):
        Judgments.of(pd.DataFrame(data(query_id=[1, 2, None])))


def test_a_pandas_column_of_mixed_ids_is_read_or_refused_in_words():
    frame = pd.DataFrame(data(query_id=[1, "q1", 2]))
    try:
        judgments = Judgments.of(frame)
    except VenireError:
        return
    assert judgments.frame["query_id"].to_list() == ["1", "q1", "2"]


@pytest.mark.parametrize(
    ("labels", "grades", "values"),
    [
        ([False, True, True], [0, 1, 1], (0, 1)),
        (["0", " 2 ", "1.0"], [0, 2, 1], (0, 1, 2)),
        ([0.0, 0.5, 2.0], [0.0, 0.5, 2.0], (0, 0.5, 2)),
        ([-2, 0, 10], [-2, 0, 10], (-2, 0, 10)),
        (pl.Series(["2", "10", "2"], dtype=pl.Categorical), [2, 10, 2], (2, 10)),
        (pl.Series(["0", "1", "0"], dtype=pl.Enum(["1", "0"])), [0, 1, 0], (0, 1)),
    ],
)
def test_labels_of_every_type(labels, grades, values):
    judgments = Judgments.of(data(label=labels))
    assert judgments.frame["label"].to_list() == grades
    assert judgments.scale.values == values


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical])
def test_named_labels(kind):
    labels = pl.Series(["good", " bad", "fair"]).cast(kind)
    judgments = Judgments.of(data(label=labels), scale="bad,fair,good")
    assert judgments.frame["label"].to_list() == [2, 0, 1]


def test_numbers_on_a_named_scale_are_its_values():
    judgments = Judgments.of(data(label=[1, 3, 1]), scale="1=bad,3=good")
    assert judgments.frame["label"].to_list() == [1, 3, 1]


def test_numbers_as_text_on_a_named_scale_are_its_values():
    judgments = Judgments.of(data(label=["1", "3", "1"]), scale="1=bad,3=good")
    assert judgments.frame["label"].to_list() == [1, 3, 1]


def test_a_named_label_off_the_scale_names_row_and_scale():
    with pytest.raises(DataError, match=r"row 1: .*poor.*bad, good"):
        Judgments.of(data(label=["good", "poor", "bad"]), scale="bad,good")


def test_a_label_off_the_scale_names_row_label_and_scale():
    with pytest.raises(DataError, match=r"row 2: label '2' is not on the scale 0, 1"):
        Judgments.of(BASE, scale="0,1")


def test_the_whole_scale_is_kept_where_a_grade_never_occurs():
    assert Judgments.of(BASE, scale="0,1,2,3").scale.size == 4
    assert Judgments.of(BASE, scale=Scale((0, 1, 2, 5))).scale.values == (0, 1, 2, 5)


@pytest.mark.parametrize("label", ["good", "", None, float("nan"), float("inf"), "1,5", "0x1"])
def test_a_label_that_is_no_number_is_refused_with_its_row(label):
    with pytest.raises(DataError, match=r"row 1: label (must be a finite number|is empty)"):
        Judgments.of(
            data(
                label=pl.Series([0, label, 1], dtype=pl.Object).map_elements(
                    lambda value: None if value is None else str(value), return_dtype=pl.String
                )
            )
        )


def test_nan_in_a_number_column_is_refused_with_its_row():
    with pytest.raises(DataError, match=r"row 1: label (must be a finite number|is empty)"):
        Judgments.of(data(label=[0.0, float("nan"), 1.0]))


def test_a_null_column_of_labels_is_refused():
    with pytest.raises(DataError, match="label is empty"):
        Judgments.of(data(label=[None, None, None]))


@pytest.mark.parametrize(
    "labels",
    [
        [1e300, 0.0, 1.0],
        [[1], [2], [3]],
        [b"1", b"2", b"3"],
        [{"a": 1}, {"a": 2}, {"a": 3}],
        pl.Series([object(), object(), object()], dtype=pl.Object),
    ],
    ids=["huge", "list", "bytes", "struct", "object"],
)
def test_odd_labels_end_in_a_table_or_in_words(labels):
    with contextlib.suppress(VenireError):
        Judgments.of(data(label=labels))


def test_dates_are_no_labels():
    with pytest.raises(DataError):
        Judgments.of(data(label=[dt.date(2026, 1, 1)] * 3))


def test_too_many_different_labels_are_refused():
    size = 300
    with pytest.raises(BadSetting, match="300"):
        Judgments.of(one(list(range(size))), repeats="all")


def test_missing_columns_list_what_was_there(door):
    table = {"query_id": ["q"], "docno": ["d"], "label": [1], "worker": ["w"]}
    with pytest.raises(MissingColumns) as caught:
        Judgments.of(door(table))
    assert caught.value.missing == ("doc_id", "annotator_id")
    assert set(caught.value.present) == {"query_id", "docno", "label", "worker"}
    for name in ("doc_id", "annotator_id", "docno", "worker"):
        assert name in str(caught.value)


def test_columns_are_mapped(door):
    table = {"topic": ["1"], "docno": ["d"], "worker": ["w"], "grade": [2]}
    mapping = {"query_id": "topic", "doc_id": "docno", "annotator_id": "worker", "label": "grade"}
    frame = Judgments.of(door(table), columns=mapping).frame
    assert frame.rows() == [("1", "d", "w", 2)]
    assert frame.columns == list(BASE)


def test_mapping_onto_a_name_that_is_there_takes_the_mapped_one():
    table = data(nist=[2, 2, 0])
    assert Judgments.of(table, columns={"label": "nist"}).frame["label"].to_list() == [2, 2, 0]


def test_two_columns_can_swap_names():
    mapping = {"query_id": "doc_id", "doc_id": "query_id"}
    frame = Judgments.of(BASE, columns=mapping).frame
    assert frame["query_id"].to_list() == ["a", "b", "a"]
    assert frame["doc_id"].to_list() == ["q1", "q1", "q2"]


def test_one_column_for_two_names_is_used_twice_or_refused_as_such():
    table = {"item": ["i"], "worker": ["w"], "label": [1]}
    mapping = {"query_id": "item", "doc_id": "item", "annotator_id": "worker"}
    try:
        frame = Judgments.of(table, columns=mapping).frame
    except BadSetting as error:
        assert "item" in str(error)  # noqa: PT017
    else:
        assert frame.select("query_id", "doc_id").rows() == [("i", "i")]


def test_an_unknown_target_name_is_refused():
    with pytest.raises(UnknownName, match="qid"):
        Judgments.of(BASE, columns={"qid": "query_id"})


def test_mapping_from_a_column_that_is_not_there_is_refused():
    with pytest.raises(MissingColumns) as caught:
        Judgments.of(BASE, columns={"label": "grade"})
    assert caught.value.missing == ("grade",)
    assert caught.value.present == tuple(BASE)


def test_other_columns_are_kept():
    judgments = Judgments.of(data(comment=["a", "b", "c"], seconds=["1.5", "", None]))
    assert judgments.frame["comment"].to_list() == ["a", "b", "c"]
    assert judgments.frame["seconds"].to_list() == [1.5, None, None]


def test_a_column_of_our_own_name_is_no_crash():
    try:
        judgments = Judgments.of({**BASE, "__row": [9, 8, 7]})
    except VenireError:
        return
    assert judgments.frame["__row"].to_list() == [9, 8, 7]


def test_seconds_missing_in_pandas_are_empty():
    frame = Judgments.of(pd.DataFrame(data(seconds=[1.0, None, 2.0]))).frame
    assert frame["seconds"].to_list() == [1.0, None, 2.0]


def test_seconds_that_are_no_number_are_refused():
    with pytest.raises(DataError, match="row 2: seconds must be a finite number"):
        Judgments.of(data(seconds=["1", "", "long"]))


@pytest.mark.parametrize(
    "table",
    [
        data(label=[0]),
        pd.DataFrame([[1, 2, 3, 4, 5]], columns=[*BASE, "label"]),
        pa.table([pa.array([1])] * 5, names=[*BASE, "label"]),
        {},
        {"query_id": {"d": 1}},
        None,
        5,
        "judgments.csv",
        [1, 2],
        pd.Series([1, 2]),
    ],
    ids=[
        "ragged-dict",
        "pandas-name-twice",
        "arrow-name-twice",
        "empty-dict",
        "dict-of-dicts",
        "none",
        "number",
        "text",
        "list",
        "series",
    ],
)
def test_what_is_no_table_is_refused_in_words(table):
    with pytest.raises(VenireError):
        Judgments.of(table)


def test_an_empty_table_is_read():
    empty = {name: pl.Series([], dtype=pl.String) for name in BASE}
    judgments = Judgments.of(empty)
    assert len(judgments) == 0
    assert judgments.codes.n_items == 0


# Labels left out


def test_dropped_labels_are_counted_with_what_was_lost():
    table = {
        "query_id": ["q", "q", "q", "q", "q"],
        "doc_id": ["a", "a", "b", "c", "c"],
        "annotator_id": ["x", "y", "y", "z", "x"],
        "label": [1, -2, -2, -1, 0],
    }
    judgments = Judgments.of(table, drop_labels=[-2, "-1"])
    assert judgments.frame.select("doc_id", "label").rows() == [("a", 1), ("c", 0)]
    assert judgments.scale.values == (0, 1)
    notes = " | ".join(judgments.notes)
    assert "2 judgments with label -2" in notes
    assert "1 judgments with label -1" in notes
    assert "1 items" in notes
    assert "2 annotators" in notes


@pytest.mark.parametrize(
    ("labels", "drop"),
    [
        ([0, 1, -2], ["-2"]),
        (["0", "1", " -2.0 "], [-2]),
        ([0.0, 1.0, -2.0], ["-2"]),
        (["0", "1", "n/a"], ["n/a"]),
        (["0", "1", "n/a"], [" n/a "]),
        (pl.Series(["0", "1", "-2"], dtype=pl.Categorical), [-2]),
    ],
)
def test_a_label_is_dropped_however_it_is_written(labels, drop):
    judgments = Judgments.of(data(label=labels), drop_labels=drop)
    assert judgments.frame["label"].to_list() == [0, 1]
    assert "1 judgments" in judgments.notes[0]


def test_boolean_labels_can_be_dropped():
    judgments = Judgments.of(data(label=[True, False, False]), drop_labels=[True])
    assert judgments.frame["label"].to_list() == [0, 0]


def test_one_label_as_text_is_one_label():
    table = data(label=[-2, 2, 0])
    try:
        judgments = Judgments.of(table, drop_labels="-2")
    except BadSetting:
        return
    assert judgments.frame["label"].to_list() == [2, 0]


def test_a_label_to_drop_that_never_occurs_is_counted_as_none():
    judgments = Judgments.of(BASE, drop_labels=[9])
    assert len(judgments) == 3
    assert "0 judgments with label 9" in judgments.notes[0]


def test_what_the_scale_calls_no_judgment_is_left_out():
    scale = Scale((0, 1), cannot_judge=("broken",))
    judgments = Judgments.of(data(label=["0", "broken", "1"]), scale=scale)
    assert judgments.frame["label"].to_list() == [0, 1]
    assert "1 judgments with label broken" in judgments.notes[0]


def test_all_labels_dropped_leaves_an_empty_table_that_says_so():
    judgments = Judgments.of(data(label=[-2, -2, -2]), drop_labels=[-2])
    assert len(judgments) == 0
    notes = " | ".join(judgments.notes)
    assert "3 judgments" in notes
    assert "3 items" in notes
    assert "2 annotators" in notes
    assert judgments.codes.n_judgments == 0


def test_the_row_in_an_error_counts_dropped_rows_too():
    with pytest.raises(DataError, match="row 2"):
        Judgments.of(data(label=["-2", "1", "what"]), drop_labels=["-2"])


# One annotator, one pair, more than one judgment


@pytest.mark.parametrize(("rule", "kept"), [("last", [2]), ("first", [0]), ("all", [0, 1, 2])])
def test_repeats_by_the_order_of_rows(rule, kept):
    judgments = Judgments.of(one([0, 1, 2]), repeats=rule)
    assert judgments.frame["label"].to_list() == kept
    assert len(judgments.notes) == 1


@pytest.mark.parametrize(
    ("rule", "kept"), [("last", [0]), ("first", [1]), ("all", [0, 1, 2]), (None, [0])]
)
@pytest.mark.parametrize(
    "times",
    [
        ["2026-01-03T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"],
        ["2026-01-01T12:00:00Z", "2026-01-01T11:00:00Z", "2026-01-01T11:30:00Z"],
        ["2026-01-01T12:00:00+00:00", "2026-01-01T12:00:00+02:00", "2026-01-01T12:00:00+01:00"],
        ["2026-01-01T12:00:00.5Z", "2026-01-01T12:00:00Z", "2026-01-01T12:00:00.25Z"],
        ["2026-01-03", "2026-01-01", "2026-01-02"],
        [30, 4, 20],
        ["30", "4", "20"],
        [dt.datetime(2026, 1, day) for day in (3, 1, 2)],
    ],
    ids=["days", "hours", "zones", "fractions", "dates", "numbers", "digits", "datetimes"],
)
def test_repeats_by_time(rule, kept, times):
    judgments = Judgments.of(one([0, 1, 2], judged_at=times), repeats=rule)
    assert judgments.frame["label"].to_list() == kept


def test_equal_times_go_by_the_order_of_rows():
    table = one([0, 1], judged_at=["2026-01-01T00:00:00Z"] * 2)
    assert Judgments.of(table).frame["label"].to_list() == [1]
    assert Judgments.of(table, repeats="first").frame["label"].to_list() == [0]


def test_by_default_all_count_without_times():
    judgments = Judgments.of(one([0, 1, 1]))
    assert judgments.frame["label"].to_list() == [0, 1, 1]
    assert "no judged_at" in judgments.notes[0]


def test_by_default_all_count_where_a_repeat_lacks_its_time():
    table = one([0, 1], judged_at=["2026-01-01T00:00:00Z", None])
    assert len(Judgments.of(table)) == 2


def test_repeats_and_conflicts_are_counted():
    table = {
        "query_id": ["q"] * 7,
        "doc_id": ["a", "a", "a", "b", "b", "c", "a"],
        "annotator_id": ["x", "x", "x", "x", "x", "x", "y"],
        "label": [0, 1, 0, 1, 1, 0, 1],
    }
    judgments = Judgments.of(table, repeats="last")
    assert judgments.frame.select("doc_id", "annotator_id", "label").rows() == [
        ("a", "x", 0),
        ("b", "x", 1),
        ("c", "x", 0),
        ("a", "y", 1),
    ]
    (note,) = judgments.notes
    assert "2 annotator-item pairs" in note
    assert "3 judgments more" in note
    assert "1 pairs with different labels" in note


def test_repeats_refused_name_the_second_row():
    with pytest.raises(DataError, match=r"row 1: q d x"):
        Judgments.of(one([0, 0]), repeats="error")
    assert len(Judgments.of(BASE, repeats="error")) == 3


def test_an_unknown_rule_is_refused():
    with pytest.raises(UnknownName, match="newest"):
        Judgments.of(BASE, repeats="newest")


def test_no_repeat_no_note():
    assert Judgments.of(BASE, repeats="last").notes == ()


def test_a_time_that_is_none_is_refused_with_its_row():
    with pytest.raises(DataError, match="row 1: judged_at must be a time or a number"):
        Judgments.of(one([0, 1], judged_at=["2026-01-01T00:00:00Z", "yesterday"]))


def test_an_empty_time_among_numbers_is_empty():
    table = {**BASE, "judged_at": ["3", "", "1"]}
    assert Judgments.of(table).frame["judged_at"].to_list() == [3, None, 1]


def test_an_empty_time_among_times_is_empty():
    table = {**BASE, "judged_at": ["2026-01-01T00:00:00Z", "", None]}
    assert Judgments.of(table).frame["judged_at"].null_count() == 2


# Gold


def gold(values, **options):
    return Judgments.of(data(gold=values), **options).gold("gold")


@pytest.mark.parametrize(
    "values",
    [
        [2, None, 0],
        ["2", "", "0"],
        [" 2", None, "0.0"],
        [2.0, float("nan"), 0.0],
        [2, -1, 0],
        pl.Series(["2", None, "0"], dtype=pl.Categorical),
    ],
    ids=["null", "text", "blank-padded", "nan", "negative", "categorical"],
)
def test_gold_that_is_empty_or_negative_is_not_known(values):
    qrels = gold(values)
    assert qrels.frame.rows() == [("q1", "a", 2), ("q2", "a", 0)]
    assert len(qrels.notes) == 1
    assert "1 pairs" in qrels.notes[0]


def test_gold_notes_count_each_value():
    notes = gold([-1, -2, -2]).notes
    assert sorted(note.split(": ")[1].split(" have")[0] for note in notes) == [
        "1 pairs with -1",
        "2 pairs with -2",
    ]


def test_negative_gold_is_not_known_whatever_labels_occur():
    judgments = Judgments.of(data(label=[-2, 0, 1], gold=[-2, 1, 0]))
    assert judgments.gold("gold").frame["relevance"].to_list() == [1, 0]


def test_gold_off_the_scale_is_refused():
    with pytest.raises(DataError, match="'7'"):
        gold([7, 0, 0])


def test_gold_that_is_no_number_is_refused():
    with pytest.raises(DataError, match="'yes'"):
        gold(["yes", "0", "0"])


def test_two_golds_of_one_pair_are_refused():
    with pytest.raises(DataError, match="q d"):
        Judgments.of(one([0, 1], gold=[0, 1]), repeats="all").gold("gold")


def test_one_gold_a_pair_however_often_judged():
    qrels = Judgments.of(one([0, 1], gold=[1, 1]), repeats="all").gold("gold")
    assert qrels.frame.rows() == [("q", "d", 1)]


def test_gold_of_a_pair_known_in_one_row_only():
    qrels = Judgments.of(one([0, 1], gold=[None, 1]), repeats="all").gold("gold")
    assert qrels.frame.rows() == [("q", "d", 1)]


def test_no_gold_column_lists_the_columns():
    with pytest.raises(UnknownName, match="annotator_id"):
        Judgments.of(BASE).gold("gold")


# Out again


def test_out_to_pandas_and_arrow_and_in_again():
    judgments = Judgments.of(data(seconds=[1.0, None, 3.0]))
    for table in (judgments.to_pandas(), judgments.to_arrow(), judgments.frame):
        assert Judgments.of(table).frame.equals(judgments.frame)


ENDINGS = [
    kind + packed
    for kind in (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
    for packed in ("", ".gz", ".xz", ".zst")
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_written_and_read_is_the_same_table(tmp_path, ending):
    full = Judgments.of(
        data(
            doc_id=["a b", 'say "a,b"', "ü;|\u00a0"],
            seconds=[1.5, None, 1e-9],
            judged_at=["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000001Z", ""],
            batch_id=["b1", None, "b2"],
        )
    )
    path = tmp_path / f"out{ending}"
    full.write(path)
    assert Judgments.read(path).frame.equals(full.frame)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("text", ["tab\there", "line\nbreak", "carriage\r", "\r\n", '"', "'", "\\"])
def test_odd_ids_survive_writing(tmp_path, ending, text):
    judgments = Judgments.of(data(doc_id=[text, "b", "c"]))
    path = tmp_path / f"out{ending}"
    if ending == ".tsv" and set(text) & set("\t\r\n"):
        with pytest.raises(DataError, match="which TSV cannot store"):
            judgments.write(path)
        return
    judgments.write(path)
    assert Judgments.read(path).frame["doc_id"].to_list() == [text, "b", "c"]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_a_named_scale_survives_writing(tmp_path, ending):
    judgments = Judgments.of(data(label=["good", "bad", "good"]), scale="bad,good")
    path = tmp_path / f"out{ending}"
    judgments.write(path)
    again = Judgments.read(path, scale="bad,good")
    assert again.frame.equals(judgments.frame)
    assert again.scale == judgments.scale


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_decimal_labels_survive_writing(tmp_path, ending):
    judgments = Judgments.of(data(label=[0.1, 1 / 3, 1e-7]))
    path = tmp_path / f"out{ending}"
    judgments.write(path)
    assert Judgments.read(path).frame.equals(judgments.frame)


def test_a_nested_column_that_csv_cannot_hold_is_refused_in_words(tmp_path):
    judgments = Judgments.of(data(extra=[{"a": 1}, {"a": 2}, {"a": 3}]))
    try:
        judgments.write(tmp_path / "out.csv")
    except VenireError:
        assert list(tmp_path.iterdir()) == []


def test_an_ending_that_says_no_format_is_refused(tmp_path):
    with pytest.raises(BadSetting, match="parquet"):
        Judgments.of(BASE).write(tmp_path / "out.txt")
    assert list(tmp_path.iterdir()) == []
