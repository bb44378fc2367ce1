import json


def test_the_demo_ends_with_a_page_and_says_how_near_each_model_came(venire, tmp_path):
    status, out, err = venire(
        "demo", tmp_path / "out", "--data", tmp_path / "none", "--format", "json"
    )
    assert status == 0, err
    result = json.loads(out)
    rows = {row["model"]: row for row in result["rows"]}
    # The crowd is a quarter spam: the mixture must come nearer than the mean of the labels.
    assert rows["ordinal-mixture"]["mse"] < 0.5 * rows["mean"]["mse"]
    assert any("the second part was left out" in note for note in result["notes"])
    page = (tmp_path / "out" / "report.html").read_text()
    assert "From a noisy crowd" in page
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"judgments.csv", "truth.qrels", "topics.tsv", "documents.jsonl"} < files


def test_what_the_demo_wrote_goes_in_again(venire, tmp_path):
    folder = tmp_path / "out"
    venire("demo", folder, "--data", tmp_path / "none")
    status, out, err = venire(
        "aggregate", folder / "judgments.csv", "--model", "binary", "--gold",
        folder / "truth.qrels", "--format", "json",
    )  # fmt: skip
    assert status == 0, err
    assert json.loads(out)["rows"][0]["mse"] < 0.2
