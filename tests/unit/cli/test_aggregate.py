import gzip
import json

import polars as pl
import pytest

from venire import Qrels
from venire.aggregation.posterior import GRADE_RULES
from venire.cli.aggregate import command
from venire.tables.judgments import REPEATS


def test_choices_are_those_of_the_library():
    choices = {option.name: getattr(option.type, "choices", ()) for option in command.params}
    assert tuple(choices["rule"]) == GRADE_RULES
    assert tuple(choices["repeats"]) == REPEATS


def test_json_is_one_object_with_settings_rows_and_notes(venire_json, judgments):
    result = venire_json("aggregate", judgments, "--model", "mean")
    assert result["command"] == "aggregate"
    assert result["settings"]["seed"] == 0
    assert result["rows"][0]["model"] == "mean"
    assert result["rows"][0]["items"] == 3
    assert "6 judgments, 2 annotators, 3 items" in result["notes"]


def test_all_gives_a_row_a_model(venire_json, judgments):
    from venire import plugins

    result = venire_json("aggregate", judgments, "--model", "all", "--set", "restarts=1")
    names = [row["model"] for row in result["rows"]]
    assert set(plugins.names("aggregator")) - {"ordinal-mixture"} < set(names)
    assert [name for name in names if "mixture" in name] == [
        f"ordinal-mixture ({level})" for level in ("none", "query", "item")
    ]


def test_gold_scores_by_hand(venire_json, judgments, tmp_path):
    gold = tmp_path / "gold.qrels"
    gold.write_text("q1 0 a 2\nq1 0 b 1\nq2 0 c 0\n")
    row = venire_json("aggregate", judgments, "--model", "mean", "--gold", gold)["rows"][0]
    # Means 2, .5, .5 against 2, 1, 0: squared errors 0, .25, .25.
    assert row["mse"] == pytest.approx(1 / 6)
    assert row["pearson"] == pytest.approx(0.8660254)
    assert row["ndcg"] == 1.0


def test_gold_that_was_never_judged_is_named(venire_json, judgments, tmp_path):
    gold = tmp_path / "gold.qrels"
    gold.write_text("q1 0 a 2\nq9 0 z 1\n")
    notes = venire_json("aggregate", judgments, "--model", "mean", "--gold", gold)["notes"]
    assert "never judged and not scored: 1 known pair" in notes


def test_qrels_to_a_file_and_to_standard_output(venire, judgments, tmp_path):
    out = tmp_path / "out.qrels"
    status, _, _ = venire("aggregate", judgments, "--model", "majority", "--qrels", out)
    assert status == 0
    expected = {"q1": {"a": 2, "b": 0}, "q2": {"c": 0}}
    assert Qrels.read(out).to_dict() == expected
    _, text, _ = venire("aggregate", judgments, "--model", "majority", "--qrels", "-")
    assert text == "q1 0 a 2\nq1 0 b 0\nq2 0 c 0\n"
    _, text, _ = venire("aggregate", judgments, "--model", "mean", "--rule", "real", "--qrels", "-")
    assert text == "q1 0 a 2.0\nq1 0 b 0.5\nq2 0 c 0.5\n"


def test_a_folder_holds_tables_settings_and_a_page(venire, judgments, tmp_path):
    folder = tmp_path / "out"
    status, _, err = venire(
        "aggregate",
        judgments,
        "--model",
        "ordinal-mixture",
        "--set",
        "restarts=2",
        "--set",
        "difficulty=query",
        "-o",
        folder,
    )
    assert status == 0, err
    names = {path.name for path in folder.iterdir()}
    tables = ("items", "annotators", "bounds", "difficulty", "confusion", "pairs_to_judge")
    assert names == {f"{name}.{end}" for name in tables for end in ("csv", "parquet")} | {
        "posterior.json",
        "report.html",
    }
    items = pl.read_parquet(folder / "items.parquet")
    assert items["doc_id"].to_list() == ["a", "b", "c"]
    about = json.loads((folder / "posterior.json").read_text())
    assert about["settings"]["difficulty"] == "query"
    page = (folder / "report.html").read_text()
    assert "<script src" not in page
    assert "<link" not in page


def test_a_value_may_have_commas_and_the_page_names_who_disagrees(venire, judgments, tmp_path):
    folder = tmp_path / "out"
    given = ("--model", "committee", "--set", "members=binary,mean,max_iterations=900")
    status, _, err = venire("aggregate", judgments, *given, "-o", folder)
    assert status == 0, err
    assert "binary: above 0: converged" in err
    about = json.loads((folder / "posterior.json").read_text())
    assert about["settings"]["members"] == "binary,mean"
    assert about["settings"]["max_iterations"] == 900
    items = pl.read_parquet(folder / "items.parquet")
    assert set(items["furthest"].drop_nulls()) <= {"binary", "mean"}
    page = (folder / "report.html").read_text()
    for words in ("Where the members disagree", "furthest", "Not calibrated"):
        assert words in page


def test_hostile_ids_stay_text_on_the_page(venire, tmp_path):
    path = tmp_path / "judgments.csv"
    evil = "<script>alert(1)</script>"
    path.write_text(f"query_id,doc_id,annotator_id,label\nq,{evil},{evil},1\nq,b,{evil},0\n")
    folder = tmp_path / "out"
    assert (
        venire(
            "aggregate", path, "-o", folder, "--model", "ordinal-mixture", "--set", "restarts=1"
        )[0]
        == 0
    )
    page = (folder / "report.html").read_text()
    assert evil not in page


def test_clamped_grades_are_held(venire, judgments, tmp_path):
    known = tmp_path / "known.qrels"
    known.write_text("q2 0 c 2\n")
    _, text, _ = venire(
        "aggregate", judgments, "--model", "dawid-skene", "--clamp", known, "--qrels", "-"
    )
    assert "q2 0 c 2\n" in text


def test_one_annotator_is_noted(venire_json, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("query_id,doc_id,annotator_id,label\nq,a,x,0\nq,b,x,1\n")
    notes = venire_json("aggregate", path)["notes"]
    assert "only one annotator: their errors cannot be separated from the grades" in notes


HEAD = "query_id,doc_id,annotator_id,label\n"
BAD = {
    "no such file": (None, [], ["nothing.csv", "no such file"]),
    "empty file": ("", [], ["is empty"]),
    "header only": (HEAD, [], ["has no judgments"]),
    "missing columns": (
        "topic,doc,worker,label\nq,a,x,1\n",
        [],
        ["missing columns query_id, doc_id, annotator_id", "topic, doc, worker, label"],
    ),
    "off the scale": (
        HEAD + "q,a,x,1\nq,a,y,7\n",
        ["--scale", "0,1,2"],
        ["line 3", "label '7' is not on the scale 0, 1, 2"],
    ),
    "not a number": (
        HEAD + "q,a,x,1\nq,b,x,good\n",
        [],
        ["line 3", "must be a finite number (got 'good')"],
    ),
    "all labels missing": (HEAD + "q,a,x,\nq,b,x,\n", [], ["line 2", "label is empty"]),
    "everything dropped": (
        HEAD + "q,a,x,-2\n",
        ["--drop-label", "-2"],
        ["has no judgments left", "1 judgments with label -2 left out"],
    ),
    "unknown model": (
        HEAD + "q,a,x,1\n",
        ["--model", "david-skene"],
        ["Unknown model 'david-skene'", "Did you mean 'dawid-skene'?"],
    ),
    "unknown setting": (
        HEAD + "q,a,x,1\n",
        ["--model", "ordinal-mixture", "--set", "restart=3"],
        ["Unknown setting of ordinal-mixture 'restart'", "Did you mean 'restarts'?"],
    ),
    "setting of another kind": (
        HEAD + "q,a,x,1\n",
        ["--model", "ordinal-mixture", "--set", "restarts=few"],
        ["--set restarts must be a whole number >= 1 (got 'few')"],
    ),
    "a value without a name": (
        HEAD + "q,a,x,1\n",
        ["--set", "binary"],
        ["--set must be NAME=VALUE"],
    ),
    "a setting without a value": (
        HEAD + "q,a,x,1\n",
        ["--set", "members="],
        ["--set must be NAME=VALUE"],
    ),
    "unknown member": (
        HEAD + "q,a,x,1\n",
        ["--set", "members=binary,ordinal-mixtur"],
        ["Unknown member of the committee 'ordinal-mixtur'", "Did you mean 'ordinal-mixture'?"],
    ),
    "unknown gold column": (
        HEAD + "q,a,x,1\n",
        ["--gold-column", "gold"],
        ["Unknown gold column 'gold'"],
    ),
    "two golds": (
        HEAD + "q,a,x,1\n",
        ["--gold", "x", "--gold-column", "y"],
        ["--gold-column cannot be combined with gold qrels"],
    ),
    "many models to one qrels": (
        HEAD + "q,a,x,1\n",
        ["--model", "all", "--qrels", "x"],
        ["--qrels needs one model"],
    ),
    "bad mapping": (
        HEAD + "q,a,x,1\n",
        ["--columns", "query_id"],
        ["--columns must be NAME=VALUE"],
    ),
    "repeats refused": (
        HEAD + "q,a,x,1\nq,a,x,0\n",
        ["--repeats", "error"],
        ["line 3", "q a x is a repeated judgment"],
    ),
    "unknown option": (HEAD + "q,a,x,1\n", ["--modle", "mean"], ["--modle"]),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_input_is_one_line_and_exit_status_2(venire, tmp_path, name):
    text, options, expected = BAD[name]
    path = tmp_path / ("nothing.csv" if text is None else "judgments.csv")
    if text is not None:
        path.write_text(text)
    status, out, err = venire("aggregate", path, *options)
    assert status == 2
    assert out == ""
    assert err.startswith("venire: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for words in expected:
        assert words in err


@pytest.mark.parametrize(
    "content", [b"\x1f\x8b\x08broken", gzip.compress(b"abc" * 999, mtime=0)[:20]]
)
def test_a_broken_gz_is_named(venire, tmp_path, content):
    path = tmp_path / "judgments.csv.gz"
    path.write_bytes(content)
    status, _, err = venire("aggregate", path)
    assert status == 2
    assert "cannot be decompressed as gzip" in err


def test_gold_of_nothing_judged_names_a_few_of_each(venire, judgments, tmp_path):
    gold = tmp_path / "gold.qrels"
    gold.write_text("Q1 0 a 2\n")
    status, _, err = venire("aggregate", judgments, "--gold", gold)
    assert status == 2
    assert "Q1/a" in err
    assert "q1/a" in err


def test_an_unknown_command_is_told_the_nearest(venire):
    status, _, err = venire("agregate", "x")
    assert status == 2
    assert "Did you mean 'aggregate'?" in err
