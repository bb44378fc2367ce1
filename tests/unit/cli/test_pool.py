import json

import polars as pl
import pytest

from venire.cli import pool, retrieve
from venire.pooling.strategies import list_strategies
from venire.tables.runs import TIES

# The three systems of the article on pooling.
ARTICLE = {"A": [3, 7, 12, 5, 9], "B": [7, 3, 15, 22, 5], "C": [12, 40, 3, 7, 18]}


@pytest.fixture
def runs(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for run, docs in ARTICLE.items():
        lines = [f"1 Q0 {doc} {rank} {-rank} {run}\n" for rank, doc in enumerate(docs, 1)]
        (folder / f"{run}.run").write_text("".join(lines))
    (tmp_path / "grades.qrels").write_text("1 0 7 1\n1 0 22 2\n1 0 3 0\n1 0 99 1\n")
    return folder


def test_files_or_a_folder(runs, venire_json):
    files = sorted(runs.iterdir())
    whole = venire_json("pool", runs, "--depth", 5)
    assert whole["rows"] == venire_json("pool", *files, "--depth", 5)["rows"]
    assert whole["rows"] == [
        {
            "strategy": "depth",
            "depth": 5,
            "topics": 1,
            "pairs": 9,
            "per_topic": 9.0,
            "share_of_lists": 9 / 15,
        }
    ]
    assert whole["settings"]["biased"] is False


def test_several_depths_and_what_they_find(runs, tmp_path, venire_json):
    qrels = tmp_path / "grades.qrels"
    rows = venire_json("pool", runs, "--depth", "1,5", "--qrels", qrels)["rows"]
    assert [row["pairs"] for row in rows] == [3, 9]
    assert [row["found"] for row in rows] == [1, 2]
    assert [row["best_run"] for row in rows] == ["B", "B"]
    graded = venire_json("pool", runs, "--depth", 5, "--qrels", qrels, "--relevant-from", 2)
    assert graded["rows"][0]["found"] == 1


def test_the_pool_as_a_file(runs, tmp_path, venire):
    status, out, err = venire("pool", runs, "--depth", 1, "-o", tmp_path / "pool.csv")
    assert status == 0
    assert "depth" in out
    assert "3 pairs to judge" in err
    assert pl.read_csv(tmp_path / "pool.csv")["doc_id"].to_list() == [12, 3, 7]
    _, out, _ = venire("pool", runs, "--depth", 1, "-o", "-")
    assert out == "1 0 12 -1\n1 0 3 -1\n1 0 7 -1\n"


@pytest.mark.parametrize(
    "name",
    ["fused", "move-to-front", "bandit-max-mean", "bandit-thompson", "bandit-nonstationary"],
)
def test_budgets(runs, tmp_path, venire_json, name):
    options = ["--strategy", name, "--budget", 4, "--depth", 3]
    files = ["--qrels", tmp_path / "grades.qrels", "-o", tmp_path / "p.jsonl"]
    out = venire_json("pool", runs, *options, *files)
    assert out["rows"][0]["budget"] == 4
    assert out["rows"][0]["pairs"] == 4
    assert out["settings"]["biased"] == (name != "fused")
    lines = (tmp_path / "p.jsonl").read_text().splitlines()
    assert [json.loads(line)["order"] for line in lines] == [1, 2, 3, 4]


def test_next_to_judge(runs, tmp_path, venire):
    pool = ("pool", runs, "--strategy", "bandit-max-mean", "--budget", 2)
    _, out, _ = venire(*pool, "--judged", tmp_path / "grades.qrels", "-o", "-")
    # A gives 3 (not relevant, 1/3), B gives 7 (relevant, 2/3) and then 15, which nobody judged;
    # B stays the best, and 22 is known, so 5 is next.
    mark = "adaptive:bandit-max-mean"
    assert out == f"1 {mark} 15 -1\n1 {mark} 5 -1\n"


def test_stratified(runs, tmp_path, venire_json):
    out = venire_json("pool", runs, "--strategy", "stratified", "--strata", "1,5", "--rates",
                      "1,0.5", "--seed", 3, "--qrels", tmp_path / "grades.qrels",
                      "-o", tmp_path / "sample.qrels")  # fmt: skip
    # Three documents are first somewhere; half of the other six.
    assert out["rows"][0]["pairs"] == 6
    lines = (tmp_path / "sample.qrels").read_text().splitlines()
    assert len(lines) == 9
    assert all(len(line.split()) == 5 for line in lines)


def test_by_run_and_by_topic(runs, venire_json):
    by_run = venire_json("pool", runs, "--depth", 5, "--by", "run")["rows"]
    assert [(row["run"], row["documents"], row["alone"]) for row in by_run] == [
        ("A", 5, 1),
        ("B", 5, 2),
        ("C", 5, 2),
    ]
    by_topic = venire_json("pool", runs, "--depth", 5, "--by", "topic")["rows"]
    assert by_topic == [{"topic": "1", "documents": 9}]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--depth", "0"], "--depth must be >= 1 (got 0)"),
        (["--depth", "ten"], "--depth must be whole numbers"),
        (["--depth", "5,10", "-o", "x.csv"], "--depth must be one number"),
        (["--depth", "5,10", "--strategy", "fused"], "--depth must be one number"),
        (["--budget", "5"], "--budget cannot be used with strategy 'depth'"),
        (
            ["--judged", "x"],
            "--judged cannot be used with strategy 'depth'. Choose an adaptive strategy: ",
        ),
        (["--strategy", "fused", "--budget", "0"], "--budget must be >= 1 (got 0)"),
        (["--strategy", "stratified", "--strata", "5,1"], "--strata must be increasing ranks"),
        (["--strategy", "stratified", "-o", "x.qrels"], "--qrels is missing: five-column qrels"),
        (["--strategy", "random"], "random"),
        (["--qrels", "nowhere"], "no such file"),
        (["--collection-size", "0"], "--collection-size must be >= 1 (got 0)"),
    ],
)
def test_wrong_input_is_one_line_and_2(runs, venire, options, said):
    status, out, err = venire("pool", runs, *options)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_no_runs(tmp_path, venire):
    assert venire("pool")[0] == 2
    status, _, err = venire("pool", tmp_path)
    assert status == 2
    assert "the folder contains no *.run file. Rename the runs to NAME.run, or pass" in err


def test_choices_are_those_of_the_library():
    choices = {option.name: getattr(option.type, "choices", ()) for option in pool.command.params}
    assert tuple(choices["strategy"]) == tuple(list_strategies())
    ties = [option for option in retrieve.command.params if option.name == "ties"]
    assert [tuple(choices["ties"]), *(tuple(option.type.choices) for option in ties)] == [TIES] * 2
