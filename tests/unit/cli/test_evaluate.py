import json

import pytest

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n"
GOOD = "q1 Q0 a 1 2.0 good\nq1 Q0 b 2 1.0 good\nq2 Q0 c 1 1.0 good\n"
POOR = "q1 Q0 b 1 2.0 poor\nq1 Q0 a 2 1.0 poor\n"


@pytest.fixture
def files(tmp_path):
    for name, text in (("qrels", QRELS), ("good.run", GOOD), ("poor.run", POOR)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_row_a_run(venire_json, files):
    result = venire_json(
        "evaluate", files / "qrels", files / "good.run", files / "poor.run", "-m", "RR", "-m", "P@1"
    )
    assert result["rows"] == [
        {"run_id": "good", "RR": 1.0, "P@1": 1.0},
        {"run_id": "poor", "RR": 0.25, "P@1": 0.0},
    ]
    assert "run poor has no documents for topic q2: each counts as 0" in result["notes"]


def test_by_topic(venire_json, files):
    result = venire_json("evaluate", files / "qrels", files / "poor.run", "-m", "RR", "--by-topic")
    assert result["rows"] == [
        {"run_id": "poor", "query_id": "q1", "RR": 0.5},
        {"run_id": "poor", "query_id": "q2", "RR": 0.0},
    ]


def test_measures_of_ir_measures(venire_json, files):
    pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    result = venire_json("evaluate", files / "qrels", files / "good.run", "-m", "SetAP")
    # Precision times recall of the retrieved set: .5 * 1 and 1 * 1.
    assert result["rows"][0]["SetAP"] == 0.75
    assert "computed by ir_measures: SetAP" in result["notes"]


def test_compare(venire_json, files):
    result = venire_json(
        "compare", files / "qrels", files / "good.run", files / "poor.run", "-m", "RR",
        "--permutations", 100,
    )  # fmt: skip
    row = result["rows"][0]
    assert (row["first"], row["second"], row["difference"]) == ("good", "poor", 0.75)
    assert (row["wins"], row["ties"], row["losses"]) == (2, 0, 0)


BAD = {
    "nan": ("q1 Q0 a 1 nan r\n", ["line 1", "score must be a finite number (got 'nan')"]),
    "no number": (
        "q1 Q0 a 1 2 r\nq1 Q0 b 2 high r\n",
        ["line 2", "score must be a finite number (got 'high')"],
    ),
    "twice": ("q1 Q0 a 1 2 r\nq1 Q0 a 2 1 r\n", ["line 2", "q1 a is ranked a second time"]),
    "too few columns": ("q1 Q0 a 1 2\n", ["line 1", "must have 6 fields"]),
    "empty": ("", ["is empty"]),
    "no common topic": ("Q9 Q0 a 1 2 r\n", ["share no topic", "q1", "Q9"]),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_run_is_one_line(venire, files, name):
    text, expected = BAD[name]
    (files / "bad.run").write_text(text)
    status, out, err = venire("evaluate", files / "qrels", files / "bad.run")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    for words in expected:
        assert words in err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("q1 0 a 1\nq1 0 a 0\n", ["line 2", "another grade"]),
        ("q1 0 a 1.5\n", ["line 1", "must be a whole number"]),
        ("q1 0 a\n", ["line 1", "must have 4 fields"]),
    ],
)
def test_bad_qrels_are_one_line(venire, files, text, expected):
    (files / "bad").write_text(text)
    status, _, err = venire("evaluate", files / "bad", files / "good.run")
    assert status == 2
    for words in expected:
        assert words in err


def test_a_bad_run_among_many_does_not_stop_the_others(venire, files):
    (files / "bad.run").write_text("q1 Q0 a 1 nan r\n")
    arguments = ["evaluate", files / "qrels", files / "good.run", files / "bad.run", "-m", "AP"]
    assert venire(*arguments)[0] == 2
    status, out, err = venire(*arguments, "--keep-going", "--format", "json")
    assert status == 0, err
    result = json.loads(out)
    assert [row["run_id"] for row in result["rows"]] == ["good"]
    assert any("left out" in note and "bad.run" in note for note in result["notes"])


def test_two_files_with_one_run_name_are_kept_apart(venire_json, files):
    (files / "other.run").write_text(GOOD)
    result = venire_json("evaluate", files / "qrels", files / "good.run", files / "other.run")
    assert [row["run_id"] for row in result["rows"]] == ["good", "other"]


def test_an_unknown_measure_is_told_the_nearest(venire, files):
    status, _, err = venire("evaluate", files / "qrels", files / "good.run", "-m", "nDGC@10")
    assert status == 2
    assert "Did you mean 'nDCG@10'?" in err


def test_sampling_intervals(tmp_path, venire):
    sample = tmp_path / "sample.qrels"
    sample.write_text("".join(f"q 0 d{at} 1 {grade}\n" for at, grade in enumerate((1, 0, -1, 1))))
    run = tmp_path / "a.run"
    run.write_text("".join(f"q Q0 d{at} {at} {9 - at} a\n" for at in range(4)))
    ask = ("evaluate", sample, run, "-m", "xinfAP(corrected=True)", "--sampling-intervals")
    code, out, _ = venire(*ask, "--format", "json")
    assert code == 0
    row = json.loads(out)["rows"][0]
    assert row["xinfAP(corrected=True) low"] < row["xinfAP(corrected=True)"]
    for extra, said in (
        (("--by-topic",), "averages"),
        (("--posterior", "x"), "cannot be combined"),
    ):
        assert said in venire(*ask, *extra)[2]
    assert (
        "needs a measure that is estimated from a sample"
        in venire(*ask[:3], "-m", "AP", ask[-1])[2]
    )
    sample.write_text("q adaptive:move-to-front d0 1\nq adaptive:move-to-front d1 -1\n")
    code, _, error = venire(*ask)
    assert code == 2
    assert "adaptive pool (move-to-front)" in error
