import json

import pytest
from sqlalchemy import select

from venire.server.store.session import Store
from venire.server.store.studies import StudyFile


@pytest.fixture
def collection(tmp_path):
    root = tmp_path / "collection"
    (root / "runs").mkdir(parents=True)
    (root / "topics.tsv").write_text("query_id\ttitle\nq1\twind\n")
    (root / "documents.jsonl").write_text(
        "".join(json.dumps({"doc_id": f"d{i}", "text": f"text {i}"}) + "\n" for i in range(3))
    )
    (root / "runs" / "one.run").write_text("q1 Q0 d0 1 2.0 one\nq1 Q0 d1 2 1.0 one\n")
    return root


@pytest.fixture
def study(venire_json, tmp_path, collection):
    """A database folder with a filled study."""
    place = tmp_path / "data"
    venire_json("study", "new", "Winds", "--database", place)
    venire_json("study", "import", "Winds", collection, "--database", place)
    return place


def test_a_study_from_nothing_to_its_export(venire_json, venire, tmp_path, study, collection):
    rows = venire_json("study", "import", "Winds", collection, "--database", study)["rows"]
    said = {row["what"]: row for row in rows}
    assert said["documents"]["unchanged"] == 3
    assert said["run one"]["unchanged"] == 1
    listed = venire_json("study", "status", "--database", study)["rows"]
    assert [row["study"] for row in listed] == ["Winds"]
    found = venire_json("study", "status", "Winds", "--database", study)
    assert found["rows"] == []
    assert "3 documents" in found["notes"]
    out = tmp_path / "out.zip"
    venire_json("study", "export", "Winds", "--kind", "study", "-o", out, "--database", study)
    venire_json("study", "new", "Again", "--database", study)
    back = venire_json("study", "import", "Again", out, "--database", study)["rows"]
    assert any("keeps its name 'Again'" in row["reason"] for row in back)
    store = Store.at(study)
    with store.reading() as session:
        hashes = session.execute(select(StudyFile.name, StudyFile.sha256)).all()
    store.close()
    assert len(hashes) == 2
    assert len(set(hashes)) == 1
    # A name that two studies have is refused, and the ids are named.
    status, _, err = venire("study", "new", "Winds", "--database", study)
    assert status == 0
    status, _, err = venire("study", "status", "Winds", "--database", study)
    assert status == 2
    assert "Choose one by its ID" in err


def test_invite_makes_a_link(venire_json, study):
    made = venire_json("study", "invite", "Winds", "--role", "viewer", "--url", "https://x.org/",
                       "--database", study)  # fmt: skip
    assert made["rows"][0]["link"].startswith("https://x.org/invite/")


def test_a_decision_and_its_undo(venire_json, venire, study):
    from venire.server.studies.pools import build_pool
    from venire.server.studies.studies import find_study

    store = Store.at(study)
    with store.writing() as session:
        build_pool(session, find_study(session, "Winds").id, "all", {})
    store.close()
    at = ("--database", study)
    done = venire_json("study", "settle", "Winds", "q1", "d1", "2", "--reason", "seen", *at)
    assert done["rows"][0]["verdict"] == "settled"
    assert venire_json("study", "settle", "Winds", *at)["notes"][0].startswith("0 of 0 pairs")
    status, out, err = venire("study", "export", "Winds", "--grades", "settled",
                              "-o", study / "e", *at)  # fmt: skip
    assert status == 0, err
    assert (study / "e" / "study.qrels").read_text() == "q1 0 d1 2\n"
    undone = venire_json("study", "settle", "Winds", "q1", "d1", "--undo", *at)
    assert undone["rows"][0]["verdict"] == "withdrawn"
    for wrong in (("q1", "d1"), ("q1",), ("q1", "d1", "2", "--undo"), ("q1", "d9", "1")):
        status, _, err = venire("study", "settle", "Winds", *wrong, *at)
        assert status == 2
        assert len(err.splitlines()) == 1
    assert out


def test_what_is_not_there_is_said_in_one_line(venire, tmp_path, study):
    for words in (
        ("status", "--database", tmp_path / "none"),
        ("status", "Rain", "--database", study),
        ("invite", "Winds", "--campaign", "x", "--database", study),
        ("export", "Winds", "-o", study / "x", "--database", study),
        ("export", "Winds", "--kind", "xml", "-o", study / "x", "--database", study),
        ("new", "x", "--owner", "nobody", "--database", study),
        ("import", "Winds", tmp_path / "none", "--database", study),
        ("status", "--database", "mysql://x/y"),
    ):
        status, _, err = venire("study", *words)
        assert status == 2, words
        assert len(err.splitlines()) == 1, err
    assert not (tmp_path / "none").exists()
