import pytest

from venire.cli.simulate import group as simulate
from venire.tables.runs import TIES

ARTICLE = {"A": [3, 7, 12, 5, 9], "B": [7, 3, 15, 22, 5], "C": [12, 40, 3, 7, 18]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "qrels").mkdir()
    for run, docs in ARTICLE.items():
        lines = [f"1 Q0 {doc} {rank} {-rank} {run}\n" for rank, doc in enumerate(docs, 1)]
        (tmp_path / "runs" / f"{run}.run").write_text("".join(lines))
    (tmp_path / "qrels" / "known.qrels").write_text("1 0 12 2\n1 0 22 1\n1 0 99 1\n1 0 7 0\n")
    return tmp_path


@pytest.fixture
def truth(folder):
    return folder / "qrels" / "known.qrels", folder / "runs"


def test_a_row_a_depth_from_files_or_a_collection(folder, truth, venire_json):
    whole = venire_json("simulate", "pools", *truth, "--depth", "1,5")
    assert whole["command"] == "simulate pools"
    assert whole["settings"]["runs"] == ["A", "B", "C"]
    assert [row["found"] for row in whole["rows"]] == [1, 2]
    # Without B nobody has 22, and B's average precision falls from 1/8 to 0.
    assert whole["rows"][1]["largest_drop"] == pytest.approx(1 / 8)
    again = venire_json("simulate", "pools", folder, "--depth", "1,5")
    assert again["rows"] == whole["rows"]


def test_by_run_and_left_out(truth, venire_json):
    family = venire_json("simulate", "pools", *truth, "--depth", 5, "--by", "run", "--members", "A")
    scores = {row["run_id"]: row["pool_score"] for row in family["rows"]}
    assert scores == pytest.approx({"A": 1 / 3, "B": 0, "C": 1})
    left = venire_json("simulate", "pools", *truth, "--depth", 5, "--by", "left-out")["rows"]
    assert {row["run_id"]: row["alone"] for row in left} == {"A": 1, "B": 2, "C": 2}
    short = venire_json("simulate", "pools", *truth, "--depth", 5, "--members", "A")["rows"]
    assert short == [{"depth": 5, "found_share": pytest.approx(1 / 3), "tau": 1, "swapped": 0}]


def test_a_collection_without_runs_is_searched(tmp_path, venire_json):
    (tmp_path / "topics.tsv").write_text("query_id\ttitle\nq\twing flow\n")
    (tmp_path / "documents.tsv").write_text("doc_id\ttext\na\twing\nb\twing flow\nc\theat\n")
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "known.qrels").write_text("q 0 b 1\n")
    found = venire_json("simulate", "pools", tmp_path, "--depth", 1)
    assert len(found["settings"]["runs"]) == 12
    assert found["rows"][0]["share_of_collection"] <= 1
    assert any("twelve systems" in note for note in found["notes"])


def test_assessors(truth, venire_json):
    same = ("--keep", 1, "--false-positives", 0, "--seeds", 4)
    rows = venire_json("simulate", "assessors", *truth, *same)["rows"]
    medians = {row["quantity"]: row["median"] for row in rows}
    assert medians == {
        "overlap": 1, "kappa": 1, "change": 0, "relative_change": 0, "tau": 1, "swapped": 0
    }  # fmt: skip
    seeds = venire_json("simulate", "assessors", *truth, *same, "--by", "seed", "--seed", 7)
    assert [row["seed"] for row in seeds["rows"]] == [7, 8, 9, 10]
    runs = venire_json("simulate", "assessors", *truth, *same, "--by", "run")["rows"]
    assert [row["run"] for row in runs] == ["C", "A", "B"]
    # Nothing stays but what B ranks first: 7.
    favoured = ("--keep", "2=0,1=0", "--favour", "B", "--top", 1, "--accept", 1, "--seeds", 1)
    runs = venire_json("simulate", "assessors", *truth, *favoured, "--by", "run")
    scores = {row["run"]: row["median_score"] for row in runs["rows"]}
    assert scores == pytest.approx({"A": 1 / 2, "B": 1, "C": 1 / 4})
    assert runs["settings"]["favour"] == "B"


def test_output_to_a_file(truth, tmp_path, venire):
    status, out, _ = venire(
        "simulate", "pools", *truth, "--depth", 5, "--format", "csv", "-o", tmp_path / "out.csv"
    )
    assert status == 0
    assert out == ""
    assert (tmp_path / "out.csv").read_text().startswith("depth,")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pools", "QRELS"), "must be passed with qrels"),
        (("pools", "QRELS", "RUNS", "--depth", "0"), "--depth must be >= 1 (got 0)"),
        (("pools", "QRELS", "RUNS", "--depth", "ten"), "--depth must be whole numbers"),
        (
            ("pools", "QRELS", "RUNS", "--depth", ","),
            "must be whole numbers separated by commas",
        ),
        (("pools", "QRELS", "RUNS", "--by", "run"), "--depth must be one number"),
        (("pools", "QRELS", "RUNS", "--by", "run", "--depth", "1,2"), "--depth must be one number"),
        (("pools", "QRELS", "RUNS", "--members", "D"), "Unknown run 'D'"),
        (
            ("pools", "QRELS", "RUNS", "--depth", "1", "--by", "left-out", "--members", "A"),
            "--members cannot be set",
        ),
        (("pools", "QRELS", "RUNS", "-m", "APP"), "APP"),
        (("pools", "nothing", "RUNS"), "no such file"),
        (("assessors", "QRELS", "RUNS"), "--keep"),
        (("assessors", "QRELS", "RUNS", "--keep", "most"), "--keep must be a probability"),
        (("assessors", "QRELS", "RUNS", "--keep", "2=most"), "--keep must be a probability"),
        (("assessors", "QRELS", "RUNS", "--keep", "2=0.5,"), "no probability for grade 1"),
        (("assessors", "QRELS", "RUNS", "--keep", "2"), "must be between 0 and 1"),
        (("assessors", "QRELS", "RUNS", "--keep", "1", "--favour", "D"), "Unknown run 'D'"),
        (("assessors", "QRELS", "RUNS", "--keep", "1", "--seeds", "0"), "one seed"),
        (("poolz",), "No such command"),
    ],
)
def test_mistakes_are_one_line(truth, venire, arguments, said):
    words = [{"QRELS": truth[0], "RUNS": truth[1]}.get(word, word) for word in arguments]
    status, out, err = venire("simulate", *words)
    assert status == 2
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_folder_with_two_qrels_is_refused(folder, venire):
    (folder / "qrels" / "more.qrels").write_text("1 0 12 2\n")
    status, _, err = venire("simulate", "pools", folder)
    assert status == 2
    assert "known, more" in err


def test_the_tie_rules_are_those_of_the_tables():
    ties = [
        tuple(option.type.choices)
        for command in simulate.group.commands.values()
        for option in command.params
        if option.name == "ties"
    ]
    assert ties == [TIES, TIES]
