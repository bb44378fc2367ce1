import contextlib
import io
import json

import pytest

from venire.cli.main import main


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder of a demo without public data."""
    folder = tmp_path_factory.mktemp("demo")
    words = ["demo", folder / "out", "--data", folder / "none", "--format", "json"]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert main([str(word) for word in words]) == 0
    return folder / "out", json.loads(said.getvalue())


def test_the_demo_ends_with_a_page_and_says_how_near_each_model_came(demo):
    folder, result = demo
    rows = {row["model"]: row for row in result["rows"]}
    # The crowd is a quarter spam: the mixture must come nearer than the mean of the labels.
    assert rows["ordinal-mixture"]["mse"] < 0.5 * rows["mean"]["mse"]
    assert any("the part on real data is left out" in note for note in result["notes"])
    # What was made, each said once: the page, and how to open the study.
    assert sum("report.html" in note for note in result["notes"]) == 1
    assert sum(f"venire serve {folder / 'study'}" in note for note in result["notes"]) == 1
    assert (folder / "study" / "venire.db").is_file()
    page = (folder / "report.html").read_text()
    assert "From a noisy crowd" in page
    files = {path.name for path in folder.iterdir()}
    assert {"judgments.csv", "truth.qrels", "topics.tsv", "documents.jsonl"} < files


def test_what_the_demo_wrote_goes_in_again(demo, venire):
    folder, _ = demo
    status, out, err = venire(
        "aggregate", folder / "judgments.csv", "--model", "binary", "--gold",
        folder / "truth.qrels", "--format", "json",
    )  # fmt: skip
    assert status == 0, err
    assert json.loads(out)["rows"][0]["mse"] < 0.2
