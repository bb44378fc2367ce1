import gzip

import pytest

from venire.errors import BadLine, DataError, DuplicateRows, MissingColumns
from venire.formats.collection import Collection, read_collection


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "collection"
    (root / "runs").mkdir(parents=True)
    (root / "qrels").mkdir()
    (root / "topics.tsv").write_text("query_id\ttitle\nq1\twing\n007\tlift\n")
    (root / "documents.jsonl").write_text(
        '{"doc_id": "d1", "title": "Wings", "text": "on wings", "url": "x"}\n'
        '{"doc_id": "d2", "text": ""}\n'
    )
    (root / "runs" / "a.run").write_text("q1 Q0 d1 1 2.0 a\n")
    (root / "runs" / "b.run.gz").write_bytes(gzip.compress(b"q1 Q0 d2 1 1.0 b\n"))
    (root / "runs" / "notes.txt").write_text("no run")
    (root / "qrels" / "nist.qrels").write_text("q1 0 d1 1\n")
    return root


def test_all_parts(folder):
    found = Collection.read(folder)
    assert found.topics.rows() == [("q1", "wing", "", ""), ("007", "lift", "", "")]
    assert found.topics.columns == ["query_id", "title", "description", "narrative"]
    assert found.documents.columns == ["doc_id", "title", "text", "url"]
    assert found.documents.rows() == [("d1", "Wings", "on wings", "x"), ("d2", "", "", None)]
    assert found.runs.frame["run_id"].to_list() == ["a", "b"]
    assert found.qrels["nist"].to_dict() == {"q1": {"d1": 1}}
    assert found.notes == ("1 document without text (d2) kept",)


def test_parts_may_be_missing(folder):
    (folder / "documents.jsonl").unlink()
    for part in ("runs", "qrels"):
        for path in (folder / part).iterdir():
            path.unlink()
    found = read_collection(folder)
    assert found.documents.is_empty()
    assert len(found.runs) == 0
    assert not found.qrels
    assert found.notes == (f"no documents in {folder}",)


def test_documents_without_text_are_counted(folder):
    path = folder / "documents.jsonl"
    lines = [f'{{"doc_id": "blank{at}", "text": " "}}\n' for at in range(7)]
    path.write_text("".join(lines))
    notes = read_collection(folder).notes
    assert any(
        "7 documents without text (blank0, blank1, blank2, blank3, blank4 and 2 more)" in note
        for note in notes
    )


def test_images_are_documents_where_nothing_describes_them(folder):
    for path in folder.glob("documents*"):
        path.unlink()
    for name in ("images/cats/1.jpg", "images/2.png", "images/2.gif", "images/notes.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    (folder / "images" / "link.png").symlink_to(folder / "images" / "2.png")
    found = read_collection(folder)
    assert found.documents.select("doc_id", "image").rows() == [
        ("2", "images/2.gif"),
        ("cats/1", "images/cats/1.jpg"),
    ]
    notes = " / ".join(found.notes)
    assert "images/2.png has the same ID as another image, 2; left out" in notes
    assert "images/link.png is a link" in notes
    assert "images/notes.txt does not end in" in notes


def test_a_study_s_names_of_columns_are_known(folder):
    for path in folder.glob("documents*"):
        path.unlink()
    (folder / "documents.tsv").write_text("doc_id\tbody\tpath\nd1\twords\t\nd2\t\tx.png\n")
    found = read_collection(folder).documents
    assert found.select("doc_id", "text", "image").rows() == [
        ("d1", "words", None),
        ("d2", "", "x.png"),
    ]


def test_a_list_is_no_text(folder):
    (folder / "documents.jsonl").write_text('{"doc_id": "d", "text": ["a"]}\n')
    with pytest.raises(DataError, match="column text must be text"):
        read_collection(folder)


def test_wrong_folders(folder, tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        read_collection(tmp_path / "nowhere")
    with pytest.raises(DataError, match="is a file"):
        read_collection(folder / "topics.tsv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="contains no collection"):
        read_collection(tmp_path / "empty")


def test_two_files_of_topics(folder):
    (folder / "topics.jsonl").write_text('{"query_id": "q", "title": "x"}\n')
    with pytest.raises(DataError, match=r"topics.tsv and topics.jsonl"):
        read_collection(folder)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("query_id\ttext\nq\tx\n", MissingColumns, "missing column title"),
        ("query_id\ttitle\nq\tx\nq\ty\n", DuplicateRows, "line 3: q is a repeated query_id"),
        ("query_id\ttitle\n\tx\n", BadLine, "line 2: query_id is empty"),
    ],
)
def test_wrong_topics(folder, text, error, said):
    (folder / "topics.tsv").write_text(text)
    with pytest.raises(error, match=said):
        read_collection(folder)


def test_cranfield_as_distributed(tmp_path):
    crlf = "\r\n"
    documents = [".I 1", ".T", "a", ".W", "a b", ".I 2", ".T", ".W", ""]
    queries = [".I 001", ".W", "first", "query", ".I 004", ".W", "next", ""]
    (tmp_path / "cran.all.1400").write_bytes(crlf.join(documents).encode())
    (tmp_path / "cran.qry").write_bytes(crlf.join(queries).encode())
    (tmp_path / "cranqrel").write_text("1 1 1\n2 2 -1\n")
    found = read_collection(tmp_path)
    assert found.topics.select("query_id", "title", "number").rows() == [
        ("1", "first query", "001"),
        ("2", "next", "004"),
    ]
    assert found.documents.select("doc_id", "title", "text").rows() == [
        ("1", "a", "a b"),
        ("2", "", ""),
    ]
    assert found.qrels["cranqrel"].to_dict() == {"1": {"1": 4}, "2": {"2": 0}}
    assert any("1 document without text (2) kept" in note for note in found.notes)
