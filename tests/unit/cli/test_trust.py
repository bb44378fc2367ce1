import csv

import pytest

QRELS = "".join(f"q{at} 0 {doc} {grade}\n" for at in range(5)
                for doc, grade in (("a", 2), ("b", 0), ("c", 1), ("d", 0)))  # fmt: skip


def run_text(name, *docs):
    return "".join(
        f"q{at} Q0 {doc} {place} {-place} {name}\n"
        for at in range(5)
        for place, doc in enumerate(docs, 1)
    )


@pytest.fixture
def files(tmp_path):
    judged = "query_id,doc_id,who,label\n" + "".join(
        f"q{at},{doc},A1,{label}\n"
        for at in range(5)
        for doc, label in (("a", 0), ("b", 1), ("c", 0), ("d", 1))
    )
    for name, text in (
        ("qrels", QRELS),
        ("good.run", run_text("good", "a", "c", "b")),
        ("poor.run", run_text("poor", "b", "d", "a", "new")),
        ("judged.csv", judged),
        ("groups.csv", "run,group\ngood,us\npoor,them\n"),
    ):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def arguments(files):
    return ["trust", files / "qrels", files / "good.run", files / "poor.run"]


def by_risk(result):
    return {row["risk"]: row for row in result["rows"]}


def test_a_row_a_risk(venire_json, arguments):
    rows = by_risk(venire_json(*arguments))
    assert list(rows) == [
        "pool too shallow", "outsiders underrated", "assessors disagree",
        "judge favours a system", "too few topics",
    ]  # fmt: skip
    # One of the four documents of `poor` is unjudged.
    assert rows["outsiders underrated"]["number"] == 0.25
    assert rows["outsiders underrated"]["verdict"] == "amber"
    assert rows["outsiders underrated"]["next_step"] == "judge 5 pairs: the first 10 of every run"
    assert rows["assessors disagree"]["number"] is None


def test_judgments_and_groups(venire_json, arguments, files):
    result = venire_json(
        *arguments, "--judgments", files / "judged.csv", "--columns", "annotator_id=who",
        "--groups", files / "groups.csv", "-m", "AP(rel=1)", "--depth", 2,
    )  # fmt: skip
    # Twenty pairs of five topics turn the order round, and prove nothing.
    risk = by_risk(result)["assessors disagree"]
    assert (risk["verdict"], risk["number"]) == ("amber", None)
    assert risk["reason"] == "A1 judged 20 pairs of the qrels; 50 are needed"
    assert result["decision"]["answer"] == "no"
    assert result["settings"]["measure"] == "AP"
    assert result["settings"]["repeats"] == "last"


def test_the_table_says_what_each_number_is_and_what_to_do(venire, arguments):
    status, out, err = venire(*arguments)
    assert status == 0
    assert out.startswith("Can this order be trusted? No, do not rely on this order yet: 5 topics")
    assert out.index("What to do next:") < out.index("outsiders underrated")
    assert "outsiders underrated    amber        0.2500  poor has 25.0%" in out
    assert "next: judge 5 pairs: the first 10 of every run" in err


def test_the_folder(venire, arguments, files):
    status, _, err = venire(*arguments, "-o", files / "out")
    assert status == 0
    assert "report.html" in err
    with (files / "out" / "verdict.csv").open() as lines:
        assert [row["verdict"] for row in csv.DictReader(lines)][1:3] == ["amber", "not checked"]
    assert (files / "out" / "report.html").read_text().startswith("<!doctype html>")


BAD = {
    "one run": (["{good}"], "at least two runs"),
    "no measure": (["{good}", "{poor}", "-m", "nDGC@10"], "Did you mean 'nDCG@10'?"),
    "depth": (["{good}", "{poor}", "--depth", "0"], "--depth"),
    "reading without judgments": (["{good}", "{poor}", "--scale", "0,1"], "--judgments"),
    "no group column": (["{good}", "{poor}", "--groups", "{judged}"], "group"),
    "unknown run": (["{good}", "{poor}", "--groups", "{odd}"], "Did you mean 'good'?"),
    "two groups": (["{good}", "{poor}", "--groups", "{twice}"], "in two groups"),
    "no file": (["{good}", "{poor}", "--judgments", "{gone}"], "gone"),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_input_is_one_line(venire, files, name):
    (files / "odd.csv").write_text("run,group\ngod,us\n")
    (files / "twice.csv").write_text("run,group\ngood,us\ngood,them\n")
    there = {
        "good": files / "good.run", "poor": files / "poor.run", "judged": files / "judged.csv",
        "odd": files / "odd.csv", "twice": files / "twice.csv", "gone": files / "gone",
    }  # fmt: skip
    words, expected = BAD[name]
    status, out, err = venire("trust", files / "qrels", *(word.format(**there) for word in words))
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert expected in err


def test_a_posterior_adds_a_risk(venire_json, arguments, files, tmp_path):
    import polars as pl

    rows = [
        (f"q{at}", doc, 1 - p, p)
        for at in range(5)
        for doc, p in (("a", 0.8), ("b", 0.3), ("c", 0.6), ("d", 0.2))
    ]
    columns = ["query_id", "doc_id", "p(0)", "p(1)"]
    (tmp_path / "crowd").mkdir()
    pl.DataFrame(rows, schema=columns, orient="row").write_parquet(
        tmp_path / "crowd" / "items.parquet"
    )
    result = venire_json(*arguments, "--posterior", tmp_path / "crowd", "--draws", 30)
    row = by_risk(result)["grades are uncertain"]
    assert "30 draws" in row["reason"]
    # In some draws poor, which ranks b and d first, is ahead of good.
    assert row["what"].startswith("tau with the order by likeliest grades")
    assert -1 <= row["number"] <= 1
    assert (result["settings"]["draws"], result["settings"]["posterior"][-5:]) == (30, "crowd")
