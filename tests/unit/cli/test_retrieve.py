import pytest

from venire import Qrels, Runs


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "collection"
    (root / "qrels").mkdir(parents=True)
    (root / "topics.tsv").write_text("query_id\ttitle\tdescription\nq1\twing\tlift\n")
    (root / "documents.jsonl").write_text(
        '{"doc_id": "d1", "text": "wing"}\n{"doc_id": "d2", "text": "wing"}\n'
        '{"doc_id": "d3", "text": "lift"}\n'
    )
    (root / "qrels" / "nist.qrels").write_text("q1 0 d1 1\n")
    return root


def test_one_run_a_system(folder, tmp_path, venire_json):
    out = venire_json("retrieve", folder, "--system", "bm25,raw-tf", "-o", tmp_path / "runs")
    assert out["command"] == "retrieve"
    assert [row["system"] for row in out["rows"]] == ["bm25", "raw-tf"]
    assert [row["documents"] for row in out["rows"]] == [2, 2]
    run = Runs.read(tmp_path / "runs" / "bm25.run")
    assert run.frame["run_id"].to_list() == ["bm25", "bm25"]
    assert run.frame["doc_id"].to_list() == ["d2", "d1"]
    assert Qrels.read(tmp_path / "runs" / "nist.qrels").to_dict() == {"q1": {"d1": 1}}


def test_all_is_twelve(folder, tmp_path, venire_json):
    assert len(venire_json("retrieve", folder, "-o", tmp_path / "runs")["rows"]) == 12
    assert len(list((tmp_path / "runs").glob("*.run"))) == 12


def test_depth_ties_and_fields(folder, tmp_path, venire_json):
    out = tmp_path / "runs"
    venire_json("retrieve", folder, "--system", "bm25", "--depth", 1, "--ties", "file-order",
                "-o", out)  # fmt: skip
    assert Runs.read(out / "bm25.run").frame["doc_id"].to_list() == ["d1"]
    venire_json("retrieve", folder, "--system", "bm25", "--fields", "description", "-o", out)
    assert Runs.read(out / "bm25.run").frame["doc_id"].to_list() == ["d3"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--system", "bm52"], "Did you mean 'bm25'?"),
        (["--system", ","], "--system must name at least one system, or all"),
        (["--depth", "0"], "--depth must be >= 1 (got 0)"),
        (["--fields", "narrativ"], "Unknown column of the topics 'narrativ'"),
        (["--fields", ","], "--fields must name at least one"),
        (["--ties", "random"], "random"),
    ],
)
def test_wrong_input_is_one_line_and_2(folder, tmp_path, venire, options, said):
    status, out, err = venire("retrieve", folder, "-o", tmp_path / "runs", *options)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_no_collection(tmp_path, venire):
    status, _, err = venire("retrieve", tmp_path / "nowhere", "-o", tmp_path)
    assert status == 2
    assert "no such folder" in err
    (tmp_path / "topics.tsv").write_text("query_id\ttitle\nq\tx\n")
    status, _, err = venire("retrieve", tmp_path, "-o", tmp_path)
    assert status == 2
    assert "The collection has no documents" in err
