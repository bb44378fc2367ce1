import json

import pytest

from venire import Judgments
from venire.errors import BadLine, DataError, MissingColumns, VenireError

GOOD = {"query_id": "q", "doc_id": "a", "annotator_id": "x", "label": 0}


def line(**values):
    return json.dumps({**GOOD, **values}, ensure_ascii=False)


@pytest.fixture
def read(tmp_path):
    def reader(content, **options):
        path = tmp_path / "a.jsonl"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return Judgments.read(path, **options)

    return reader


@pytest.fixture
def refused(read):
    def reader(content, **options):
        with pytest.raises(BadLine) as caught:
            read(content, **options)
        return caught.value

    return reader


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n \n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n", "  "])
@pytest.mark.parametrize("last", [True, False])
def test_objects_a_line(read, start, end, last):
    text = start + end.join([line(), line(doc_id="b", label=2)]) + (end if last else "")
    assert read(text).frame.rows() == [("q", "a", "x", 0), ("q", "b", "x", 2)]


@pytest.mark.parametrize(
    "bad", ['{"query_id": ', "not json", "{'query_id': 1}", "[1, 2]", "5", "null", line() + line()]
)
@pytest.mark.parametrize("blank", [0, 2])
def test_a_bad_line_is_named(refused, bad, blank):
    text = "\n".join([line(), *[""] * blank, bad, line(doc_id="b")])
    assert refused(text).line == 2 + blank


def test_a_bad_label_names_its_line(refused):
    error = refused("\n".join(["", line(), "", line(doc_id="b", label="z"), ""]))
    assert error.line == 4
    assert "'z'" in error.reason


def test_a_bad_label_names_its_line_after_dropped_ones(refused):
    text = "\n".join([line(label=-2), "", line(doc_id="b", label=9)])
    assert refused(text, scale="0,1", drop_labels=[-2]).line == 3


@pytest.mark.parametrize(("first", "second"), [(1, "b"), ("b", 1)])
def test_mixed_ids_are_text(read, first, second):
    frame = read("\n".join([line(query_id=first), line(query_id=second)])).frame
    assert frame["query_id"].to_list() == [str(first), str(second)]


@pytest.mark.parametrize(("first", "second"), [(1, "2"), ("1", 2), (1.0, "2"), ("1.0", 2)])
def test_mixed_labels_are_numbers(read, first, second):
    frame = read("\n".join([line(label=first), line(doc_id="b", label=second)])).frame
    assert frame["label"].to_list() == [1, 2]


@pytest.mark.parametrize(("first", "second"), [(True, 0), (0, True), (False, "1")])
def test_true_and_false_among_numbers_are_one_and_zero(read, first, second):
    frame = read("\n".join([line(label=first), line(doc_id="b", label=second)])).frame
    assert frame["label"].to_list() == [int(first), int(second)]


def test_true_and_false_are_labels(read):
    frame = read("\n".join([line(label=True), line(doc_id="b", label=False)])).frame
    assert frame["label"].to_list() == [1, 0]


@pytest.mark.parametrize("number", [2**53 + 1, 2**63, 2**64, 10**30])
def test_long_whole_number_ids_keep_every_digit(read, number):
    frame = read("\n".join([line(query_id=number), line(query_id=1, doc_id="b")])).frame
    assert frame["query_id"].to_list() == [str(number), "1"]


@pytest.mark.parametrize("text", ["00", "1e5", "2026-01-01", "true", "null", "é\u00a0\u2028😀"])
def test_text_ids_stay_as_they_are(read, text):
    assert read(line(query_id=text)).frame["query_id"].to_list() == [text]


def test_decimal_ids_are_refused(read):
    with pytest.raises(DataError, match="query_id"):
        read(line(query_id=1.5))


@pytest.mark.parametrize("value", [None, ""])
def test_an_empty_id_names_its_line(refused, value):
    text = "\n".join([line(), "", line(doc_id=value)])
    assert refused(text).line == 3


def test_a_key_left_out_names_its_line(refused):
    short = json.dumps({name: GOOD[name] for name in ("query_id", "annotator_id", "label")})
    error = refused("\n".join([line(), "", short]))
    assert error.line == 3
    assert "doc_id" in error.reason


def test_a_key_that_comes_late_is_kept(read):
    frame = read("\n".join([line(), line(doc_id="b", seconds=2)])).frame
    assert frame["seconds"].to_list() == [None, 2.0]


@pytest.mark.parametrize("nested", [{"a": 1}, [1, 2]])
def test_nested_ids_are_refused(read, nested):
    with pytest.raises(DataError, match="query_id"):
        read(line(query_id=nested))


@pytest.mark.parametrize("nested", [{"a": 1}, [1, 2], {}, []])
def test_nested_labels_are_refused(read, nested):
    with pytest.raises(DataError):
        read(line(label=nested))


def test_other_nested_columns_do_no_harm(read):
    assert len(read("\n".join([line(extra={"a": [1]}), line(doc_id="b", extra=None)]))) == 2


@pytest.mark.parametrize("depth", [500, 100_000])
def test_deep_nesting_is_read_or_refused_in_words(read, depth):
    deep = line()[:-1] + ', "extra": ' + "[" * depth + "]" * depth + "}"
    try:
        assert len(read(line(doc_id="b") + "\n" + deep)) == 2
    except BadLine as error:
        assert error.line == 2  # noqa: PT017


@pytest.mark.parametrize("word", ["NaN", "Infinity"])
def test_words_that_are_no_json_numbers_are_refused(refused, word):
    text = line() + "\n" + line(doc_id="b").replace(": 0", f": {word}")
    assert refused(text).line == 2


def test_bytes_that_are_not_utf_8_are_named(refused):
    error = refused("\n".join([line(), line(doc_id="caf\xe9")]).encode("latin-1"))
    assert error.line == 2
    assert "UTF-8" in error.reason


def test_missing_columns_list_what_was_there(read):
    with pytest.raises(MissingColumns) as caught:
        read('{"query_id": "q", "docno": "d"}')
    assert set(caught.value.present) == {"query_id", "docno"}
    with pytest.raises(MissingColumns):
        read("{}")


@pytest.mark.parametrize("text", ["[" + line() + "]", json.dumps(GOOD, indent=1)])
def test_json_that_is_not_one_object_a_line_is_refused(read, text):
    with pytest.raises(VenireError):
        read(text)
