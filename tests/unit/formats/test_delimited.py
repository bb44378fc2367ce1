import pytest

from venire import Judgments, Qrels, Runs
from venire.errors import BadLine, DataError, MissingColumns, VenireError

HEAD = "query_id,doc_id,annotator_id,label"


@pytest.fixture
def read(tmp_path):
    def reader(content, *, name="a.csv", table=Judgments, **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return table.read(path, **options)

    return reader


@pytest.fixture
def refused(read):
    def reader(content, **options):
        with pytest.raises(BadLine) as caught:
            read(content, **options)
        return caught.value

    return reader


def rows(judgments):
    return judgments.frame.select("query_id", "doc_id", "annotator_id", "label").rows()


TWO = [("q", "a", "x", 0), ("q", "b", "y", 1)]


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_delimiters_and_line_ends(read, delimiter, end, last, mark):
    lines = [HEAD, "q,a,x,0", "q,b,y,1"]
    text = mark + end.join(lines).replace(",", delimiter) + (end if last else "")
    assert rows(read(text)) == TWO


def test_the_last_column_of_crlf_text_has_no_carriage_return(read):
    judgments = read(f"{HEAD},batch_id\r\nq,a,x,0,b1\r\nq,b,y,1,b2\r\n")
    assert judgments.frame["batch_id"].to_list() == ["b1", "b2"]


def test_blanks_around_names_do_not_matter(read):
    assert rows(read("query_id, doc_id ,annotator_id,\tlabel\nq,a,x,0\nq,b,y,1\n")) == TWO


def test_names_in_quotes(read):
    quoted = ",".join(f'"{name}"' for name in HEAD.split(","))
    assert rows(read(f"{quoted}\nq,a,x,0\nq,b,y,1\n")) == TWO


def test_ids_stay_text(read):
    text = f"{HEAD}\n007,1e5,0x1,0\nTrue,null,NA,1\n"
    assert rows(read(text)) == [("007", "1e5", "0x1", 0), ("True", "null", "NA", 1)]


def test_cells_with_delimiters_quotes_and_newlines(read):
    text = f'{HEAD}\nq,"a,b",x,0\nq,"say ""a""",x,1\nq,"two\nlines",x,0\n'
    docs = [doc for _, doc, _, _ in rows(read(text))]
    assert docs == ["a,b", 'say "a"', "two\nlines"]


def test_quotes_are_letters_in_tab_separated_text(read):
    text = HEAD.replace(",", "\t") + '\nq\t5" disk\tx\t0\nq\t"b\tx\t1\n'
    assert [doc for _, doc, _, _ in rows(read(text, name="a.tsv"))] == ['5" disk', '"b']


def test_a_quote_inside_a_bare_cell_is_a_letter_or_a_named_line(read):
    text = f'{HEAD}\nq,5" disk,x,0\nq,b,x,1\n'
    try:
        judgments = read(text)
    except BadLine as error:
        assert error.line == 2  # noqa: PT017
    else:
        assert [doc for _, doc, _, _ in rows(judgments)] == ['5" disk', "b"]


def test_a_quote_that_is_never_closed_names_its_line(refused):
    error = refused(f'{HEAD},note\nq,a,x,0,ok\nq,b,x,0,"never closed\nq,c,x,1,ok\n')
    assert error.line == 3


def test_no_row_is_swallowed_by_a_quote(read):
    text = f'{HEAD},note\nq,a,x,0,"open\nq,b,x,1,closed"\nq,c,x,1,ok\n'
    assert [doc for _, doc, _, _ in rows(read(text))] == ["a", "c"]
    assert read(text).frame["note"][0] == "open\nq,b,x,1,closed"


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["q,a,x,0", "q,b,x,z"], 3),
        (["q,b,x,z"], 2),
        (["", "q,a,x,0", "", "", "q,b,x,z"], 6),
        (['q,"two', 'lines",x,0', "q,b,x,z"], 4),
        (['q,"two', "", 'lines",x,0', "", "q,b,x,z"], 6),
        (['q,"two', 'lines",x,z'], 2),
        (["q,a,x,-2", "q,b,x,-2", "q,c,x,z"], 4),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_bad_label_names_its_line(refused, lines, line, end):
    error = refused(end.join([HEAD, *lines, ""]), drop_labels=["-2"])
    assert error.line == line
    assert "'z'" in error.reason
    assert str(error).startswith(error.path)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("blank", [1, 3])
def test_blank_lines_before_the_names_are_passed_over(read, refused, blank, end):
    text = end.join([*[""] * blank, HEAD, "q,a,x,0", "q,b,y,1", ""])
    assert rows(read(text)) == TWO
    assert refused(text + "q,c,x,z" + end).line == blank + 4


def test_blank_lines_between_and_after_are_passed_over(read):
    assert rows(read(f"{HEAD}\n\nq,a,x,0\n\n\nq,b,y,1\n\n\n")) == TWO


def test_a_line_of_empty_cells_does_not_shift_line_numbers(refused):
    error = refused(f"{HEAD}\n,,,\nq,b,x,z\n")
    assert (error.line, "'z'" in error.reason) in [(3, True), (2, False)]


@pytest.mark.parametrize(("bad", "cells"), [("q,b,x", 3), ("q,b,x,1,more", 5), ("q", 1)])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_ragged_line_is_refused_with_its_number(refused, bad, cells, at):
    lines = ["q,a,x,0", "q,c,y,1"]
    lines.insert(at, bad)
    error = refused("\n".join([HEAD, *lines, ""]))
    assert error.line == at + 2
    assert str(cells) in error.reason


def test_a_ragged_line_after_quoted_newlines(refused):
    assert refused(f'{HEAD}\nq,"a\nb",x,0\n\nq,b,x\n').line == 5


def test_an_empty_cell_at_the_end_is_not_ragged(read):
    judgments = read(f"{HEAD},batch_id\nq,a,x,0,\nq,b,y,1,b\n")
    assert judgments.frame["batch_id"].to_list() == [None, "b"]


@pytest.mark.parametrize("column", [0, 1, 2])
def test_an_empty_id_names_its_line(refused, column):
    cells = ["q", "b", "x", "1"]
    cells[column] = ""
    error = refused(f"{HEAD}\n\nq,a,x,0\n{','.join(cells)}\n")
    assert error.line == 4
    assert HEAD.split(",")[column] in error.reason


def test_a_name_twice_is_refused(refused):
    error = refused(f"{HEAD},label\nq,a,x,0,1\n")
    assert error.line == 1
    assert "'label'" in error.reason


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_bytes_that_are_not_utf_8_name_their_line(refused, end):
    text = end.join([HEAD, "q,a,x,0", "q,caf\xe9,x,1", ""])
    error = refused(text.encode("latin-1"))
    assert error.line == 3
    assert "UTF-8" in error.reason


def test_names_that_are_not_utf_8_name_their_line(refused):
    error = refused(f"{HEAD},caf\xe9\nq,a,x,0,1\n".encode("latin-1"))
    assert error.line == 1
    assert "UTF-8" in error.reason


def test_old_line_ends_are_read_or_refused_in_words(read):
    try:
        judgments = read(f"{HEAD}\rq,a,x,0\rq,b,y,1\r")
    except VenireError:
        return
    assert rows(judgments) == TWO


def test_a_long_cell_is_read_and_its_line_named(read, refused):
    note = "n" * 200_000
    assert len(read(f"{HEAD},note\nq,a,x,0,{note}\n")) == 1
    assert refused(f"{HEAD},note\nq,a,x,0,{note}\nq,b,x,z,\n").line == 3


def test_a_long_name_is_no_crash(read):
    assert len(read(f"{HEAD},{'n' * 200_000}\nq,a,x,0,1\n")) == 1


def test_names_and_no_rows_are_an_empty_table(read):
    assert len(read(HEAD + "\n")) == 0
    assert len(read(HEAD)) == 0


def test_missing_columns_name_file_and_columns(read):
    with pytest.raises(MissingColumns) as caught:
        read("query_id,doc,worker,label\nq,a,x,0\n")
    assert caught.value.missing == ("doc_id", "annotator_id")
    assert caught.value.present == ("query_id", "doc", "worker", "label")
    assert "a.csv" in str(caught.value)


def test_columns_are_mapped(read):
    columns = {"query_id": "topic", "annotator_id": "worker"}
    text = "topic;doc_id;worker;label;annotator_id\nq;a;x;0;no\nq;b;y;1;no\n"
    assert rows(read(text, columns=columns)) == TWO


def test_repeats_refused_name_the_line(refused):
    text = f"{HEAD}\n\nq,a,x,0\nq,b,x,0\nq,a,x,1\n"
    assert refused(text, repeats="error").line == 5


def test_a_label_off_the_scale_names_its_line(refused):
    assert refused(f"{HEAD}\n\nq,a,x,0\nq,b,x,7\n", scale="0,1").line == 4


def test_a_time_that_is_none_names_its_line(refused):
    text = f"{HEAD},judged_at\nq,a,x,0,2026-01-01T00:00:00Z\n\nq,b,x,1,soon\n"
    assert refused(text).line == 4


def test_one_delimiter_is_the_one_the_first_line_has_most(read):
    text = "query_id;doc_id;annotator_id;label;a,b\nq;a;x;0;1\nq;b;y;1;2\n"
    assert rows(read(text)) == TWO


def test_text_without_any_delimiter_is_refused(read):
    with pytest.raises(DataError):
        read("hello\nworld\n")


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n" + bytes(range(256)), bytes(100)])
def test_what_is_no_text_is_refused(read, content):
    with pytest.raises(DataError):
        read(content)


def test_qrels_and_runs_as_tables(read):
    qrels = read("query_id,doc_id,relevance\nq,a,0.5\n", table=Qrels)
    assert qrels.frame.rows() == [("q", "a", 0.5)]
    runs = read("query_id\tdoc_id\tscore\nq\ta\t0.5\n", name="bm25.tsv", table=Runs)
    assert runs.frame.rows() == [("q", "a", 0.5, "bm25")]


def test_qrels_twice_with_another_grade_name_the_line(refused):
    text = "query_id,doc_id,relevance\n\nq,a,0\nq,b,0\nq,a,1\n"
    assert refused(text, table=Qrels).line == 5


def test_a_document_twice_names_the_line(refused):
    text = "query_id,doc_id,score\n\nq,a,0\nq,b,0\nq,a,1\n"
    assert refused(text, table=Runs).line == 5


def test_a_table_with_names_of_its_own_is_mapped(read):
    text = "qid\tdocno\tx\trel\nq\ta\t0\t1\n"
    columns = {"query_id": "qid", "doc_id": "docno", "relevance": "rel"}
    assert read(text, table=Qrels, columns=columns).frame.rows() == [("q", "a", 1)]
