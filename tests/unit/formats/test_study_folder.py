import gzip
import sys
from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from venire import Qrels, Runs
from venire.errors import BadLine, BadSetting, DataError, MissingColumns, MissingExtra
from venire.formats.study_folder import (
    DOCUMENT_COLUMNS,
    StudyFolder,
    read_study_folder,
    unpack_study,
    write_study_folder,
)

TOML = """
name = "Wings"
languages = ["de", "en"]
[scale]
values = [0, 1]
[campaign]
overlap = 2
"""


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "study"
    for name in ("runs", "qrels", "images/cats", "other"):
        (root / name).mkdir(parents=True)
    (root / "study.toml").write_text(TOML)
    (root / "topics.tsv").write_text("query_id\ttitle\tnotes\nNike\tshoes\tx\nnike\tgoddess\ty\n")
    (root / "documents.jsonl").write_text(
        '{"doc_id": "d1", "title": "Wings", "text": "on wings", "url": "x"}\n'
        '{"doc_id": "d2", "kind": "html", "text": "<p>x"}\n'
        '{"doc_id": "cat", "title": "A cat", "path": "images/cats/c1.JPG"}\n'
        '{"doc_id": "e", "text": ""}\n'
    )
    (root / "images/cats/c1.JPG").write_bytes(b"jpg")
    (root / "images/cats/c2.png").write_bytes(b"png")
    (root / "images/cats/c2.gif").write_bytes(b"gif")
    (root / "images/bad.svg").write_text("<svg onload='alert(1)'>")
    (root / "images/link.png").symlink_to("/etc/passwd")
    (root / "entities.nt").write_text(
        '<http://e/a> <http://www.w3.org/2000/01/rdf-schema#label> "Ding"@de .\n'
        '<http://e/a> <http://www.w3.org/2000/01/rdf-schema#label> "Thing"@en .\n'
        "_:x <http://e/p> <http://e/a> .\n"
    )
    (root / "runs/a.run").write_text("Nike Q0 d1 1 2.0 tag\nnike Q0 d9 1 1.0 tag\n")
    (root / "runs/b.run.gz").write_bytes(gzip.compress(b"zzz Q0 d2 1 1.0 b\n"))
    (root / "runs/bad.run").write_text("Nike Q0 d1\n")
    (root / "runs/readme.md").write_text("no run")
    (root / "qrels/nist.qrels").write_text("Nike 0 d1 1\n")
    (root / "qrels/other.txt").write_text("Nike 0 d1 0\n")
    (root / "gold.qrels").write_text("Nike 0 d2 1\n")
    (root / ".DS_Store").write_bytes(b"\0")
    return root


def report(study):
    return {entry.file: (entry.read, entry.left_out, entry.reason) for entry in study.report}


def test_every_part_is_read(folder):
    study = read_study_folder(folder)
    assert study.topics.rows() == [("Nike", "shoes", "", ""), ("nike", "goddess", "", "")]
    assert study.documents.columns == list(DOCUMENT_COLUMNS)
    assert study.documents.select("doc_id", "kind", "title", "path").rows() == [
        ("d1", "text", "Wings", None),
        ("d2", "html", "", None),
        ("cat", "image", "A cat", "images/cats/c1.JPG"),
        ("e", "text", "", None),
        ("http://e/a", "entity", "Ding", None),
        ("cats/c2", "image", "", "images/cats/c2.gif"),
        ("d9", "text", "", None),
    ]
    assert study.documents["body"].null_count() == 3
    assert list(study.runs) == ["a", "b"]
    assert study.runs["a"].frame["run_id"].to_list() == ["tag", "tag"]
    assert {name: qrels.to_dict() for name, qrels in study.qrels.items()} == {
        "nist": {"Nike": {"d1": 1}},
        "other": {"Nike": {"d1": 0}},
    }
    assert study.gold.to_dict() == {"Nike": {"d2": 1}}
    assert study.settings["name"] == "Wings"
    assert study.settings["campaign"] == {"overlap": 2}


def test_every_file_is_in_the_report(folder):
    said = report(read_study_folder(folder))
    assert said == {
        "study.toml": (4, 0, ""),
        ".DS_Store": (0, 1, "is not a file of a collection"),
        "documents.jsonl": (4, 0, "unused columns: url; 1 document without text"),
        "entities.nt": (1, 0, "1 blank node deeper than one level or not referenced, with "
                        "1 triple, left out"),
        "gold.qrels": (1, 0, ""),
        "images/": (2, 0, "1 image described in documents"),
        "images/bad.svg": (0, 1, "does not end in .jpg .jpeg .png .gif .webp .bmp .tif .tiff "
                           ".avif"),
        "images/cats/c2.png": (0, 1, "has the same ID as another image, cats/c2"),
        "images/link.png": (0, 1, "is a link or not a regular file"),
        "other/": (0, 1, "is not a folder of a collection"),
        "qrels/nist.qrels": (1, 0, ""),
        "qrels/other.txt": (1, 0, ""),
        "runs/a.run": (2, 0, ""),
        "runs/b.run.gz": (1, 0, ""),
        "runs/bad.run": (0, 1, "runs/bad.run, line 1: must have 6 fields, `query_id "
                         "iteration doc_id rank score run_id` (got 3)"),
        "runs/readme.md": (0, 1, "does not end in .run .tsv .jsonl .csv .parquet (.gz .xz .zst)"),
        "topics.tsv": (2, 0, "unused columns: notes"),
        "documents": (1, 0, "only in runs or qrels: IDs without text"),
        "run b": (0, 0, "1 line of 1 topic that the folder does not have"),
    }  # fmt: skip


def test_reading_twice_gives_the_same(folder):
    one, two = read_study_folder(folder), read_study_folder(folder)
    assert one.report == two.report
    assert one.documents.equals(two.documents)


def test_what_is_written_is_read_back_and_the_bytes_repeat(folder, tmp_path):
    study = read_study_folder(folder)
    write_study_folder(study, tmp_path / "a.zip")
    again = read_study_folder(unpack_study(tmp_path / "a.zip", tmp_path / "unpacked"))
    same(study, again)
    write_study_folder(again, tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    write_study_folder(again, tmp_path / "plain")
    same(study, read_study_folder(tmp_path / "plain"))
    assert (tmp_path / "plain/images/cats/c1.JPG").read_bytes() == b"jpg"
    assert {path.stat().st_mtime for path in (tmp_path / "plain").rglob("*.*")} == {315532800.0}


def same(one, two):
    assert two.topics.equals(one.topics.sort("query_id"))
    assert two.documents.equals(one.documents.sort("doc_id"))
    assert dict(two.settings) == dict(one.settings)
    assert sorted(two.runs) == sorted(one.runs)
    for name, runs in one.runs.items():
        ranked = [which.with_ranks(ties="file-order") for which in (runs, two.runs[name])]
        assert ranked[0].equals(ranked[1])
    assert sorted(two.qrels) == sorted(one.qrels)
    both = [(one.qrels[name], two.qrels[name]) for name in one.qrels]
    if one.gold is not None:
        both.append((one.gold, two.gold))
    for before, after in both:
        assert after.to_dict() == before.to_dict()


ID = st.text(st.characters(exclude_categories=["Cc", "Cs", "Z"]), min_size=1, max_size=8).filter(
    lambda text: text.isprintable()
)
LINE = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
GRADES = st.dictionaries(
    ID, st.dictionaries(ID, st.integers(-2, 4), min_size=1, max_size=3), min_size=1, max_size=3
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCORED = st.dictionaries(ID, FLOATS, min_size=1, max_size=3)
SCORES = st.dictionaries(ID, SCORED, min_size=1, max_size=3)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60, deadline=None)
@given(
    topics=st.dictionaries(st.one_of(ID, st.just("a b")), st.tuples(LINE, LINE, LINE), min_size=1),
    documents=st.dictionaries(ID, st.tuples(LINE, st.none() | LINE), min_size=1),
    runs=SCORES,
    qrels=GRADES,
    gold=st.none() | GRADES,
    tag=ID,
)
def test_any_study_comes_back(tmp_path_factory, topics, documents, runs, qrels, gold, tag):
    rows = [(doc, "text", title, body, None) for doc, (title, body) in documents.items()]
    named = {doc for table in (runs, qrels, gold or {}) for of in table.values() for doc in of}
    rows += [(doc, "text", "", None, None) for doc in sorted(named - set(documents))]
    study = StudyFolder(
        pl.DataFrame([(one, *texts) for one, texts in topics.items()], orient="row",
                     schema=["query_id", "title", "description", "narrative"]),
        pl.DataFrame(rows, schema=dict.fromkeys(DOCUMENT_COLUMNS, pl.String), orient="row"),
        {"one": Runs.from_dict(runs, run_id=tag)},
        {"nist": Qrels.from_dict(qrels)},
        None if gold is None else Qrels.from_dict(gold),
    )  # fmt: skip
    place = tmp_path_factory.mktemp("any")
    write_study_folder(study, place / "a.zip")
    again = read_study_folder(unpack_study(place / "a.zip", place / "x"))
    same(study, again)
    write_study_folder(again, place / "b.zip")
    assert (place / "a.zip").read_bytes() == (place / "b.zip").read_bytes()


def with_runs(runs=None, qrels=None):
    topics = pl.DataFrame(
        {"query_id": ["q"], "title": ["t"], "description": [""], "narrative": [""]}
    )
    documents = pl.DataFrame(schema=dict.fromkeys(DOCUMENT_COLUMNS, pl.String))
    return StudyFolder(topics, documents, runs or {}, qrels or {})


RUN = Runs.from_dict({"q": {"d": 1.0}})


@pytest.mark.parametrize(
    ("study", "said"),
    [
        (with_runs({"r": Runs.from_dict({"q": {"a b": 1.0}})}), "which TREC files cannot store"),
        (with_runs({"r": Runs.from_dict({"q": {"d": 1.0}}, run_id="my run")}), "TREC files cannot"),
        (
            with_runs(qrels={"r": Qrels.from_dict({"q 1": {"d": 1}})}),
            "which TREC files cannot store",
        ),
        (with_runs({"A": RUN, "a": RUN}), "are the same file on some systems"),
        (with_runs({"../evil": RUN}), "cannot be the name of a file"),
        (with_runs({".hidden": RUN}), "cannot be the name of a file"),
        (with_runs({"": RUN}), "cannot be the name of a file"),
        (with_runs({"x" * 200: RUN}), "cannot be the name of a file"),
    ],
)
def test_what_files_cannot_say_is_refused(tmp_path, study, said):
    with pytest.raises(DataError, match=said):
        write_study_folder(study, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    with pytest.raises(DataError, match=said):
        write_study_folder(study, tmp_path / "new.zip")
    assert not list(tmp_path.iterdir())


def test_grades_that_trec_cannot_say_are_tables(tmp_path):
    sample = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["b", "a b"], "relevance": [1, -1],
                           "stratum": ["1", "2"]})  # fmt: skip
    qrels = {"real": Qrels.from_dict({"q": {"d": 0.5}}), "sample": Qrels.of(sample)}
    write_study_folder(with_runs(qrels=qrels), tmp_path / "x")
    again = read_study_folder(tmp_path / "x")
    assert again.qrels["real"].to_dict() == {"q": {"d": 0.5}}
    assert again.qrels["sample"].frame.equals(qrels["sample"].frame.sort("doc_id"))


def test_nothing_is_written_over(tmp_path, folder):
    with pytest.raises(DataError, match="must be a new or empty folder"):
        write_study_folder(with_runs(), folder)
    (tmp_path / "a.zip").write_bytes(b"")
    with pytest.raises(DataError, match="already exists"):
        write_study_folder(with_runs(), tmp_path / "a.zip")


def test_topics_without_column_names(folder):
    (folder / "topics.tsv").unlink()
    (folder / "queries.tsv").write_bytes("\ufeffNike\tshoes\r\nnike\tgöttin\r\n".encode())
    study = read_study_folder(folder)
    assert study.topics.rows() == [("Nike", "shoes", "", ""), ("nike", "göttin", "", "")]
    assert "no header line" in report(study)["queries.tsv"][2]
    (folder / "queries.tsv").write_text("1\tshoes\n2\ta\tb\n")
    with pytest.raises(BadLine, match=r"queries.tsv, line 2: must have two cells"):
        read_study_folder(folder)


def test_documents_may_be_html_by_the_settings(folder):
    (folder / "study.toml").write_text('documents = "html"')
    kinds = read_study_folder(folder).documents["kind"].to_list()
    assert kinds == ["html", "html", "image", "html", "entity", "image", "text"]


@pytest.mark.parametrize(
    ("file", "text", "error", "said"),
    [
        ("topics.jsonl", '{"query_id": "q", "title": "t"}', DataError, "and other topics"),
        (
            "topics.tsv",
            "query_id\ttitle\nq\ta\nq\tb\n",
            BadLine,
            "line 3: query_id 'q' occurs",
        ),
        ("topics.tsv", "query_id\ttitle\n\ta\n", BadLine, "is empty"),
        ("topics.tsv", "title\tx\ny\tz\n", MissingColumns, "query_id"),
        ("topics.tsv", b"query_id\ttitle\nq\t\xff\n", BadLine, "is not UTF-8"),
        ("topics.tsv", "query_id\ttitle\n" + "x" * 1001 + "\ta\n", DataError, "1,000 bytes"),
        ("documents.jsonl", '{"doc_id": "a\\u0000b", "text": "x"}', DataError, "control character"),
        (
            "documents.jsonl",
            '{"doc_id": "a", "kind": "pdf"}',
            BadLine,
            "1: Unknown kind 'pdf'",
        ),
        (
            "documents.jsonl",
            '{"doc_id": "a", "path": "../study.toml"}',
            BadLine,
            "is not an image",
        ),
        (
            "documents.jsonl",
            '{"doc_id": "a", "path": "/etc/passwd"}',
            BadLine,
            "is not an image",
        ),
        (
            "documents.jsonl",
            '{"doc_id": "a", "path": "images/link.png"}',
            BadLine,
            "is not an image",
        ),
        (
            "documents.jsonl",
            '{"doc_id": "a", "path": "images/none.png"}',
            BadLine,
            "is not an image",
        ),
        ("documents.jsonl", '{"doc_id": "http://e/a", "text": "x"}', DataError, "twice"),
        ("documents.jsonl", '{"doc_id": "a"', BadLine, "line 1: is not valid JSON"),
        ("entities.nt", "x", BadLine, "line 1: is not a triple"),
        ("gold.qrels", "q 0 d", BadLine, "line 1: must have 4 fields"),
        ("study.toml", 'nmae = "x"', BadSetting, "Did you mean 'name'"),
    ],
)
def test_what_a_study_stands_on_must_be_sound(folder, file, text, error, said):
    (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(error, match=said):
        read_study_folder(folder)


def test_nul_in_texts_is_shown_and_counted(folder):
    (folder / "documents.jsonl").write_text('{"doc_id": "a", "text": "x\\u0000y"}\n{"doc_id": "b"}')
    study = read_study_folder(folder)
    assert study.documents["body"][0] == "x\u2400y"
    assert "NUL characters of 1 row" in report(study)["documents.jsonl"][2]


def test_a_line_of_ten_megabytes(folder):
    (folder / "documents.jsonl").write_text('{"doc_id": "a", "text": "' + "x" * 10_000_000 + '"}')
    assert len(read_study_folder(folder).documents["body"][0]) == 10_000_000


def test_a_second_run_of_one_name_is_reported(folder):
    (folder / "runs/b.run").write_text("nike Q0 d1 1 1 c\n")
    assert "b was read before" in report(read_study_folder(folder))["runs/b.run.gz"][2]


def test_runs_alone_are_a_study(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/a.run").write_text("q Q0 d 1 1.0 t\n")
    study = read_study_folder(tmp_path)
    assert study.topics.rows() == [("q", "", "", "")]
    assert study.documents.rows() == [("d", "text", "", None, None)]
    assert "no topics" in report(study)["topics"][2]


def test_folders_that_are_none(tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        read_study_folder(tmp_path / "x")
    with pytest.raises(DataError, match="contains no collection"):
        read_study_folder(tmp_path)
    (tmp_path / "z.zip").write_bytes(b"")
    with pytest.raises(DataError, match="Unpack a zip archive first"):
        read_study_folder(tmp_path / "z.zip")


class FakeIrds:
    """What of ir_datasets is used, with the fields of its cranfield."""

    def load(self, name):
        if name != "cranfield":
            raise KeyError(name)
        query = SimpleNamespace(query_id="1", default_text=lambda: "what law")
        topic = SimpleNamespace(query_id="2", title="t", description="d", narrative=None)
        document = SimpleNamespace(
            doc_id="d", title="T", text="body", default_text=lambda: "T body"
        )
        bare = SimpleNamespace(doc_id="e", default_text=lambda: "words")
        grade = SimpleNamespace(query_id="1", doc_id="d", relevance=2, iteration="0")
        return SimpleNamespace(
            has_queries=lambda: True, has_docs=lambda: True, has_qrels=lambda: True,
            queries_iter=lambda: iter([query, topic]), docs_iter=lambda: iter([document, bare]),
            qrels_iter=lambda: iter([grade]),
        )  # fmt: skip


def test_ir_datasets(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", FakeIrds())
    study = read_study_folder("irds:cranfield")
    assert study.topics.rows() == [("1", "what law", "", ""), ("2", "t", "d", "")]
    assert study.documents.select("doc_id", "title", "body").rows() == [
        ("d", "T", "body"),
        ("e", "", "words"),
    ]
    assert study.qrels["cranfield"].to_dict() == {"1": {"d": 2}}
    with pytest.raises(DataError, match="no dataset with this name"):
        read_study_folder("irds:nope")
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MissingExtra, match=r"venire\[irds\]"):
        read_study_folder("irds:cranfield")
