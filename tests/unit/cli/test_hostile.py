"""Wrong input to the commands that read runs and qrels: one line, exit 2, and what is wrong."""

import pytest

GOOD = b"q1 Q0 a 1 3 r\nq1 Q0 b 2 2 r\n"
RUNS = {
    "nan": (
        b"q1 Q0 a 1 3 r\nq1 Q0 b 2 nan r\n",
        "line 2: score must be a finite number (got 'nan')",
    ),
    "inf": (b"q1 Q0 a 1 inf r\n", "line 1: score must be a finite number (got 'inf')"),
    "past all doubles": (
        b"q1 Q0 a 1 1e999 r\n",
        "line 1: score must be a finite number (got '1e999')",
    ),
    "word": (
        b"q1 Q0 a 1 3 r\nq1 Q0 b 2 high r\n",
        "line 2: score must be a finite number (got 'high')",
    ),
    "twice": (b"q1 Q0 a 1 3 r\nq1 Q0 a 2 2 r\n", "line 2: q1 a is ranked a second time"),
    "short": (b"q1 Q0 a 1 3 r\nq1 Q0 b 2\n", "line 2: must have 6 fields"),
    "blank between": (b"q1 Q0 a 1 3 r\nq1  Q0 b 2 r\n", "line 2: must have 6 fields"),
    "empty": (b"", "is empty"),
    "blank": (b" \n\n", "is empty"),
    "binary": (b"\x80\x81\xfe\n", "line 1"),
    "latin": (b"q1 Q0 caf\xe9 1 3 r\n", "line 1: is not UTF-8"),
    "nul": (b"q1 Q0 a 1 3 r\nq1 Q0 b\x00c 2 2 r\n", "line 2: contains a NUL"),
    "commas": (b"q1,Q0,a,1,3,r\n", "line 1: must have 6 fields"),
}
QRELS = {
    "two grades": (b"q1 0 a 1\nq1 0 a 0\n", "line 2: q1 a is judged a second time"),
    "decimal": (b"q1 0 a 1.5\n", "line 1: the grade must be a whole number (got '1.5')"),
    "huge": (b"q1 0 a 99999999999999999999999\n", "line 1: the grade"),
    "past 2^53": (b"q1 0 a 4611686018427387904\n", "line 1: the grade 4611686018427387904"),
    "short": (b"q1 0 a\n", "line 1: must have 4 fields"),
    "mixed": (b"q1 0 a 1 1\nq1 0 b 0\n", "line 2: must have 5 fields"),
    "other topics": (b"x9 0 a 1\n", "x9"),
    "empty": (b"", "is empty"),
}
COMMANDS = {
    "evaluate": ["evaluate", "QRELS", "RUN"],
    "compare": ["compare", "QRELS", "RUN", "OTHER"],
    "trust": ["trust", "QRELS", "RUN", "OTHER"],
    "pool": ["pool", "RUN", "OTHER", "--depth", "1", "--qrels", "QRELS"],
    "simulate pools": ["simulate", "pools", "QRELS", "RUN", "OTHER"],
    "simulate assessors": ["simulate", "assessors", "QRELS", "RUN", "OTHER", "--keep", "0.5"],
}


@pytest.fixture
def refused(venire, tmp_path):
    """Run a command on a run and qrels; return its one line of error."""

    def run(command, *, run=GOOD, qrels=b"q1 0 a 1\nq1 0 b 0\n"):
        files = {"RUN": run, "QRELS": qrels, "OTHER": GOOD.replace(b" r\n", b" s\n")}
        for name, data in files.items():
            if data is not None:
                (tmp_path / name).write_bytes(data)
        status, out, err = venire(*(tmp_path / a if a in files else a for a in COMMANDS[command]))
        assert (status, out) == (2, ""), err
        assert err.startswith("venire: ")
        assert err.count("\n") == 1
        return err

    return run


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("fault", RUNS)
def test_a_bad_run(refused, command, fault):
    data, said = RUNS[fault]
    error = refused(command, run=data)
    assert said in error
    assert "RUN" in error


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("fault", QRELS)
def test_bad_qrels(refused, command, fault):
    data, said = QRELS[fault]
    assert said in refused(command, qrels=data)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_such_file(refused, command):
    assert "no such file" in refused(command, run=None)


@pytest.mark.parametrize("command", ["evaluate", "compare", "trust"])
def test_no_file_name(venire, command, tmp_path):
    (tmp_path / "qrels").write_text("q1 0 a 1\n")
    status, _, err = venire(command, tmp_path / "qrels", "", "")
    assert (status, err) == (
        2,
        "venire: A run file name is empty. Pass the path of a run file or of a folder with *.run "
        "files.\n",
    )


@pytest.mark.parametrize("measure", ["nDCG(dcg='exp-log2')", "ERR"])
def test_grades_that_no_power_can_take(venire, measure, tmp_path):
    (tmp_path / "qrels").write_text("q1 0 a 100000000\n")
    (tmp_path / "run").write_bytes(GOOD)
    status, _, err = venire("evaluate", tmp_path / "qrels", tmp_path / "run", "-m", measure)
    assert status == 2
    assert "2^grade is computed for grades up to 50" in err


def test_an_empty_name_of_a_posterior(venire, tmp_path):
    (tmp_path / "qrels").write_text("q1 0 a 1\n")
    (tmp_path / "run").write_bytes(GOOD)
    status, _, err = venire("evaluate", tmp_path / "qrels", tmp_path / "run", "--posterior", "")
    assert (status, err) == (2, "venire: '': is not a folder name\n")


@pytest.mark.parametrize("option", ["--depth", "--strata", "--rates"])
def test_an_empty_list_of_numbers(venire, option, tmp_path):
    (tmp_path / "a.run").write_bytes(GOOD)
    status, _, err = venire("pool", tmp_path / "a.run", "--strategy", "stratified", option, "")
    assert status == 2
    assert f"{option} must be " in err
    assert "numbers separated by commas, for example 1,3,5 (got '')" in err


def test_nul_in_an_id_of_a_table(venire, tmp_path):
    (tmp_path / "a.csv").write_bytes(b"query_id,doc_id,annotator_id,label\nq,a,x,1\nq,d\x00,x,1\n")
    status, _, err = venire("agreement", tmp_path / "a.csv")
    assert status == 2
    assert "line 3: doc_id 'd\\x00' contains a NUL character" in err


def test_simulations_where_nothing_is_relevant(venire, tmp_path):
    (tmp_path / "a.run").write_bytes(GOOD)
    (tmp_path / "b.run").write_bytes(GOOD.replace(b" r\n", b" s\n"))
    (tmp_path / "q.qrels").write_bytes(b"q1 0 a 1\n")
    runs = [tmp_path / "q.qrels", tmp_path, "--relevant-from", "2"]
    for command in (["pools"], ["assessors", "--keep", "0.5"]):
        status, _, err = venire("simulate", *command, *runs)
        assert status == 2
        assert "No pair of the qrels has a grade >= 2" in err


def test_a_folder_of_runs_and_a_posterior_of_other_topics(venire, tmp_path):
    (tmp_path / "a.run").write_bytes(GOOD)
    (tmp_path / "q.qrels").write_bytes(b"q1 0 a 1\nq1 0 b 0\n")
    (tmp_path / "other.csv").write_text("query_id,doc_id,p(0),p(1)\nx9,a,0.5,0.5\n")
    (tmp_path / "mine.csv").write_text("query_id,doc_id,p(0),p(1)\nq1,a,0.9,0.1\n")
    status, _, err = venire(
        "evaluate", tmp_path / "q.qrels", tmp_path, "--posterior", tmp_path / "other.csv"
    )
    assert status == 2
    assert "grade probabilities and runs share no topic" in err
    status, _, err = venire(
        "evaluate", tmp_path / "q.qrels", tmp_path, "-m", "P@1", "-m", "AP",
        "--posterior", tmp_path / "mine.csv", "--draws", 20,
    )  # fmt: skip
    assert status == 0
    assert "1 pairs of the qrels have no grade probabilities, 0 pairs with" in err


@pytest.mark.parametrize("place", ["x" * 300, "/proc/nowhere"])
@pytest.mark.parametrize("command", ["aggregate", "agreement"])
def test_a_place_that_cannot_be_written_is_one_line(venire, tmp_path, monkeypatch, place, command):
    monkeypatch.chdir(tmp_path)
    labels = tmp_path / "j.csv"
    labels.write_text("query_id,doc_id,annotator_id,label\nq,a,x,1\nq,a,y,1\nq,b,x,0\nq,b,y,1\n")
    more = ["--model", "majority"] if command == "aggregate" else []
    status, _, err = venire(command, labels, *more, "-o", place)
    lines = [line for line in err.splitlines() if line.startswith("venire: ")]
    assert (status, len(lines)) == (2, 1), err
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["j.csv"]
