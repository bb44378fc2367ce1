import json

import polars as pl
import pytest

from venire.cli.agreement import VIEWS


def figures(result):
    return {row["measure"]: row for row in result["rows"]}


def test_json_is_one_object_with_settings_rows_and_notes(venire_json, judgments):
    result = venire_json("agreement", judgments)
    assert result["command"] == "agreement"
    assert result["settings"]["seed"] == 0
    assert result["settings"]["relevant_from"] == 1
    assert result["settings"]["repeats"] == "last"
    # Equal labels on one of three items; relevant to both one, to one of them two.
    rows = figures(result)
    assert rows["agreement"]["value"] == pytest.approx(1 / 3)
    assert rows["overlap"]["value"] == pytest.approx(1 / 3)
    assert rows["positive-agreement"]["value"] == pytest.approx(1 / 2)
    assert rows["agreement"]["labels"] == "graded"
    assert rows["overlap"]["labels"] == "relevant or not"
    assert result["notes"][0].startswith("Krippendorff's alpha (ordinal) is ")
    assert "6 judgments, 2 annotators, 3 items" in result["notes"]


def test_relevant_from(venire_json, judgments):
    result = venire_json("agreement", judgments, "--relevant-from", 2)
    assert figures(result)["overlap"]["value"] == 1.0
    named = venire_json(
        "agreement", judgments, "--scale", "0=bad,1=fair,2=good", "--relevant-from", "good"
    )
    assert figures(named)["overlap"]["value"] == 1.0
    assert named["settings"]["relevant_from"] == 2


def test_without_bootstrap_there_are_no_ends(venire_json, judgments):
    assert "low" in venire_json("agreement", judgments)["rows"][0]
    assert "low" not in venire_json("agreement", judgments, "--bootstrap", 0)["rows"][0]


def test_a_seed_is_a_result(venire, judgments):
    runs = [venire("agreement", judgments, "--seed", seed)[1] for seed in (1, 1)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("by", VIEWS)
def test_by(venire_json, judgments, by):
    rows = venire_json("agreement", judgments, "--by", by)["rows"]
    first = {"topic": "query_id", "grade": "grade", "annotator": "annotator_id"}[by]
    expected = {"topic": ["q1", "q2"], "grade": ["0", "1", "2"], "annotator": ["x", "y"]}[by]
    assert [row[first] for row in rows] == expected


def test_csv(venire, judgments):
    status, out, err = venire("agreement", judgments, "--by", "annotator", "--format", "csv")
    assert status == 0
    assert out.splitlines()[0].startswith("annotator_id,judgments,items,agreement,kappa,")
    assert "note: 6 judgments" in err


def test_repeats_do_not_agree_with_themselves(venire_json, tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text(
        "query_id,doc_id,annotator_id,label\nq,a,x,1\nq,a,x,0\nq,a,y,0\nq,b,x,1\nq,b,y,1\n"
    )
    result = venire_json("agreement", path)
    assert figures(result)["agreement"]["value"] == 1.0
    assert any("the last counts, by order of the rows" in note for note in result["notes"])
    everything = venire_json("agreement", path, "--repeats", "all")
    # Item a: one of three pairs agrees.
    assert figures(everything)["agreement"]["value"] == pytest.approx((1 / 3 + 1) / 2)
    assert any("agreement with oneself counts" in note for note in everything["notes"])


def test_a_folder_holds_tables_and_a_page(venire, judgments, tmp_path):
    folder = tmp_path / "out"
    status, _, err = venire("agreement", judgments, "-o", folder)
    assert status == 0, err
    assert {path.name for path in folder.iterdir()} == {
        "overall.csv", "topics.csv", "grades.csv", "annotators.csv", "report.html",
    }  # fmt: skip
    overall = pl.read_csv(folder / "overall.csv")
    assert overall.columns == ["measure", "labels", "value", "low", "high"]
    page = (folder / "report.html").read_text()
    assert "Krippendorff&#x27;s alpha (ordinal) is" in page
    assert page.count("<figure") == 2
    assert "src=" not in page.split("<body>")[1]


def test_one_label_is_undefined_never_nan(venire, venire_json, tmp_path):
    path = tmp_path / "same.csv"
    path.write_text("query_id,doc_id,annotator_id,label\nq,a,x,0\nq,a,y,0\nr,b,x,0\nr,b,y,0\n")
    rows = figures(venire_json("agreement", path))
    assert rows["alpha-ordinal"]["value"] is None
    assert rows["agreement"]["value"] == 1
    status, out, err = venire("agreement", path, "-o", tmp_path / "out")
    assert status == 0
    assert "nan" not in out + err
    assert "note: Krippendorff's alpha (ordinal) is undefined, only one label used." in err
    for by in VIEWS:
        json.dumps(venire_json("agreement", path, "--by", by), allow_nan=False)


def test_one_judgment_an_item_is_undefined(venire_json, tmp_path):
    path = tmp_path / "single.csv"
    path.write_text("query_id,doc_id,annotator_id,label\nq,a,x,0\nq,b,y,1\n")
    result = venire_json("agreement", path, "-o", tmp_path / "out")
    assert all(row["value"] is None for row in result["rows"])
    assert "2 items with one judgment left out: no pair to compare" in result["notes"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--relevant-from", "7"], "--relevant-from must be a grade of the scale 0, 1, 2 (got 7)"),
        (["--bootstrap", "-1"], "--bootstrap must be >= 0 (got -1)"),
        (["--bootstrap", "many"], "not a valid integer"),
        (["--by", "worker"], "is not one of 'topic', 'grade', 'annotator'"),
        (["--scale", "0,1"], "label '2' is not on the scale 0, 1"),
        (["--columns", "label=grade"], "missing column grade"),
        (["--drop-label", "0", "--drop-label", "1", "--drop-label", "2"], "no judgments left"),
    ],
)
def test_wrong_input_is_one_line_and_status_2(venire, judgments, options, words):
    status, out, err = venire("agreement", judgments, *options)
    assert status == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert words in err


def test_a_file_that_is_not_there(venire, tmp_path):
    status, _, err = venire("agreement", tmp_path / "none.csv")
    assert status == 2
    assert len(err.splitlines()) == 1
