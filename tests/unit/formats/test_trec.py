import pytest

from venire import Qrels, Runs
from venire.errors import BadLine, DataError


@pytest.fixture
def read(tmp_path):
    def reader(content, table, name="a.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return table.read(path)

    return reader


@pytest.fixture
def refused(read):
    def reader(content, table):
        with pytest.raises(BadLine) as caught:
            read(content, table)
        return caught.value

    return reader


QRELS = "q1 0 d1 1\nq2 0 d1 -1\n"
QROWS = [("q1", "d1", 1), ("q2", "d1", -1)]
RUN = "q1 Q0 d2 7 1.5 tag\nq1 Q0 d1 1 2e-3 tag\n"
ROWS = [("q1", "d2", 1.5, "tag"), ("q1", "d1", 0.002, "tag")]

SHAPES = {
    "plain": lambda text: text,
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "tabs": lambda text: text.replace(" ", "\t"),
    "wide": lambda text: text.replace(" ", " \t   "),
    "leading": lambda text: "  \t" + text.replace("\n", "\n  "),
    "trailing": lambda text: text.replace("\n", " \t\n"),
    "open": lambda text: text.rstrip("\n"),
    "mark": lambda text: "\ufeff" + text,
    "blank": lambda text: "\n\r\n" + text.replace("\n", "\n \n\n"),
    "crlf-open": lambda text: text.rstrip("\n").replace("\n", "\r\n"),
    "mark-leading": lambda text: "\ufeff " + text,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_qrels_in_every_shape(read, shape):
    assert read(SHAPES[shape](QRELS), Qrels).frame.rows() == QROWS


@pytest.mark.parametrize("shape", SHAPES)
def test_runs_in_every_shape(read, shape):
    assert read(SHAPES[shape](RUN), Runs).frame.rows() == ROWS


@pytest.mark.parametrize(
    "doc",
    ["a\u00a0b", "\u2003", "d,1", "d;1", "d|1", '"d"', "'", "#1", "my_doc_id_1", "{1}",
     "null", "\u0085", "é😀"],
)  # fmt: skip
def test_ids_are_whatever_stands_between_blanks(read, doc):
    assert read(f"q 0 {doc} 1\nq 0 e 0\n", Qrels).frame["doc_id"].to_list() == [doc, "e"]
    assert read(f"q Q0 {doc} 1 1.0 t\n", Runs).frame["doc_id"].to_list() == [doc]


@pytest.mark.parametrize("query", ["#", "#1", '"q"', "q,1"])
def test_query_ids_are_whatever_stands_before_a_blank(read, query):
    assert read(f"{query} 0 d 1\n", Qrels).frame["query_id"].to_list() == [query]


def test_rank_and_q0_are_ignored(read):
    runs = read("q anything b last 1.0 t\nq - a 1 2.0 t\n", Runs)
    assert runs.with_ranks()["doc_id"].to_list() == ["a", "b"]


def test_more_fields_than_six_are_ignored_as_trec_eval_does(read):
    runs = read("q Q0 a 1 2.0 t more junk\nq Q0 b 2 1.0 t\n", Runs)
    assert runs.frame.rows() == [("q", "a", 2.0, "t"), ("q", "b", 1.0, "t")]


@pytest.mark.parametrize("score", ["NaN", "nan", "inf", "-Infinity", "high", "1,5", "--1"])
def test_a_score_that_is_no_finite_number_is_refused(refused, score):
    error = refused(f"q Q0 a 1 1.0 t\n\n q  Q0 b 2 {score} t\n", Runs)
    assert error.line == 3
    assert score in error.reason or "nan" in error.reason or "inf" in error.reason


@pytest.mark.parametrize("start", ["", "\n", "\r\n \t\n"])
def test_a_document_twice_is_refused(refused, start):
    error = refused(f"{start}q Q0 a 1 2 t\nq Q0 b 2 1 t\n\nq Q0 a 3 0 t\n", Runs)
    assert error.line == 4 + start.count("\n")
    assert "a" in error.reason


@pytest.mark.parametrize("line", ["q Q0 b 2 1.0", "q Q0 b", "q"])
def test_a_run_with_too_few_columns_is_refused(refused, line):
    assert refused(f"q Q0 a 1 2 t\n\n{line}\n", Runs).line == 3
    assert refused(f"{line}\nq Q0 a 1 2 t\n", Runs).line == 1


@pytest.mark.parametrize("line", ["q 0 b", "q 0", "q"])
def test_qrels_with_too_few_columns_are_refused(refused, line):
    assert refused(f"q 0 a 1\n\n{line}\n", Qrels).line == 3
    assert refused(f"{line}\nq 0 a 1\n", Qrels).line == 1


@pytest.mark.parametrize("doc", ["a,b", "a;b"])
def test_a_first_line_with_too_few_columns_is_named_whatever_its_ids(refused, doc):
    assert refused(f"q Q0 {doc} 1 2.0\nq Q0 c 2 1.0 t\n", Runs).line == 1


def test_a_whole_grade_written_with_a_point_is_read(tmp_path):
    path = tmp_path / "q.qrels"
    path.write_text("q 0 a 1.0\nq 0 b 0\nq 0 c -1.0\n")
    assert Qrels.read(path).frame["relevance"].to_list() == [1, 0, -1]


def test_a_decimal_grade_of_a_table_is_refused_with_its_line(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("query_id,doc_id,relevance\nq,a,1\nq,b,0.5\n")
    assert Qrels.read(path).frame["relevance"].to_list() == [1.0, 0.5]
    with pytest.raises(
        BadLine, match=r"q.csv, line 3: the grade must be a whole number \(got '0.5'\)"
    ) as error:
        Qrels.read(path, whole=True)
    assert error.value.code == "fractional-grades"


def test_a_document_id_with_a_blank_is_named(tmp_path):
    path = tmp_path / "b.run"
    path.write_text("q Q0 a 1 3.5 r\n\nq Q0 my doc 2 2.5 r\n")
    with pytest.raises(BadLine, match="line 3: has 7 fields, and the rank is 'doc'"):
        Runs.read(path)
    # Further fields are ignored, as by trec_eval, and so are ranks in files with six fields.
    path.write_text("q Q0 a 1 3.5 r extra\nq Q0 b 2 2.5 r\nq Q0 c first 1.5 r\n")
    assert Runs.read(path).frame["score"].to_list() == [3.5, 2.5, 1.5]


def test_grades_per_subtopic_are_counted_in_a_note(tmp_path):
    path = tmp_path / "q.qrels"
    path.write_text("q 1 a 1\nq 2 a 1\nq 1 b 1\n")
    assert any("1 pair has grades for several subtopics" in x for x in Qrels.read(path).notes)
    path.write_text("q 0 a 1\nq 0 b 1\n")
    assert Qrels.read(path).notes == ()


@pytest.mark.parametrize("grade", ["1.5", "0.5", "high", "1e0", "nan", "1x", "--1"])
def test_a_grade_that_is_no_whole_number_is_refused(refused, grade):
    error = refused(f"q 0 a 1\n\n\tq 0 b {grade}\n", Qrels)
    assert error.line == 3
    assert grade in error.reason


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("q 0 a 1\nq 0 b 1\n\nq 0 a 0\n", 4),
        ("q 0 a 1\nq 0 a 1\nq 0 a 2\n", 3),
        ("\nq 0 a 1\nq 0 b 0\nq 0 b 0\nq 0 b 0\nq 0 a 2\n", 6),
    ],
)
def test_a_pair_twice_with_another_grade_names_the_line_that_differs(refused, text, line):
    error = refused(text, Qrels)
    assert error.line == line
    assert "q a" in error.reason


def test_a_pair_twice_with_the_same_grade_is_noted(read):
    qrels = read("q 0 a 1\nq 0 a 1\n", Qrels)
    assert len(qrels) == 1
    assert "1 rows" in qrels.notes[0]


@pytest.mark.parametrize("table", [Qrels, Runs])
def test_bytes_that_are_not_utf_8_name_their_line(refused, table):
    rest = {Qrels: "1", Runs: "1 1.0 t"}[table]
    text = f"q 0 a {rest}\n\nq 0 caf\xe9 {rest}\n"
    error = refused(text.encode("latin-1"), table)
    assert error.line == 3
    assert "UTF-8" in error.reason


@pytest.mark.parametrize("table", [Qrels, Runs])
def test_an_empty_file_is_refused(refused, table):
    assert "empty" in refused("\n \n", table).reason


def test_no_row_is_lost_in_a_long_file(read):
    size = 50_000
    text = "".join(f"q{at % 50}\tQ0\td{at}\t1\t{at}.5\tt\n" for at in range(size))
    runs = read(text, Runs)
    assert len(runs) == size
    assert runs.frame["score"].sum() == size * (size - 1) / 2 + size / 2


@pytest.mark.parametrize("blank", [" ", "\t", "\n", "\r", "\x0b", "\x0c"])
@pytest.mark.parametrize("where", ["query_id", "doc_id"])
def test_ids_with_blanks_are_refused_by_the_writers(tmp_path, blank, where):
    row = {"query_id": ["q"], "doc_id": ["d"], where: [f"a{blank}b"]}
    for table in (Qrels.of({**row, "relevance": [1]}), Runs.of({**row, "score": [1.0]})):
        with pytest.raises(DataError, match=where):
            table.write(tmp_path / "out.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("names", [["a b", "a_b"], ["", "x"], ["a\u00a0b", "c"]])
def test_run_names_survive_the_writer_or_are_refused(tmp_path, names):
    runs = Runs.of(
        {"query_id": ["q", "q"], "doc_id": ["d", "d"], "score": [1.0, 1.0], "run_id": names}
    )
    try:
        runs.write(tmp_path / "out.run")
    except DataError:
        return
    again = Runs.read(tmp_path / "out.run").frame
    assert again["run_id"].n_unique() == 2
    if " " not in "".join(names):
        assert set(again["run_id"]) == set(names)


def test_written_lines(tmp_path):
    Qrels.from_dict({"q": {"b": 2, "a": -1}}).write(tmp_path / "q.txt")
    assert (tmp_path / "q.txt").read_text() == "q 0 b 2\nq 0 a -1\n"
    Runs.from_dict({"q": {"a": 0.5, "b": 2.25}}, run_id="t").write(tmp_path / "r.txt")
    assert (tmp_path / "r.txt").read_text() == "q Q0 b 1 2.25 t\nq Q0 a 2 0.5 t\n"


def test_two_blanks_are_one_wherever_they_stand(tmp_path):
    for at in range(3):
        parts = ["q", "0", "d", "1"]
        text = " ".join(parts[: at + 1]) + "  " + " ".join(parts[at + 1 :])
        path = tmp_path / f"qrels{at}"
        path.write_text(f"q 0 c 0\n{text}\n")
        assert Qrels.read(path).to_dict() == {"q": {"c": 0, "d": 1}}
    for at in range(5):
        parts = ["q", "Q0", "d", "1", "2.5", "r"]
        text = " ".join(parts[: at + 1]) + "  " + " ".join(parts[at + 1 :])
        path = tmp_path / f"run{at}"
        path.write_text(f"{text}\n")
        assert Runs.read(path).frame.rows() == [("q", "d", 2.5, "r")]
