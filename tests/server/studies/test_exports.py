"""Exports: the same bytes twice, a manifest that says what is in them, and back in again."""

import hashlib
import json
import zipfile
from dataclasses import replace

import polars as pl
import pytest
from sqlalchemy import select

from studies_for_tests import judge_batch, make_study
from venire.errors import DataError, UnknownName
from venire.formats.study_folder import read_study_folder, write_study_folder
from venire.server.store.studies import Document, Study
from venire.server.studies.adjudication import settle
from venire.server.studies.collection_folder import import_folder, read_folder
from venire.server.studies.exports import EXPORT_KINDS, export_study, list_exports
from venire.server.studies.files import put_file, read_runs
from venire.server.studies.grades import read_grades
from venire.server.studies.pairs import find_pair
from venire.server.studies.pictures import store_picture, store_pictures
from venire.server.studies.pools import build_pool
from venire.server.studies.studies import count_contents, create_study
from venire.server.studies.topics import put_topics
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs


def judged(store):
    study, campaign, people = make_study(store, topics=2, documents=3, gold=2)
    with store.writing() as session:
        titles = pl.DataFrame({"query_id": ["q0", "q1"], "title": ["wind", "=rain"]})
        put_topics(session, study, titles)
    for who, person in enumerate(people):
        judge_batch(store, campaign, person, lambda pair, who=who: (pair + who) % 3)
    return study


def make(store, study, target, *kinds, **options):
    return export_study(store, study, kinds, target, **options).manifest


def test_a_second_export_is_the_same_byte_for_byte(store, tmp_path):
    study = judged(store)
    every = [kind for kind in EXPORT_KINDS if kind != "qrels-strata"]
    first = make(store, study, tmp_path / "a.zip", *every)
    second = make(store, study, tmp_path / "b.zip", *reversed(every))
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert first == second
    make(store, study, tmp_path / "c", *every)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.namelist() == sorted(archive.namelist())
        for name in archive.namelist():
            assert archive.read(name) == (tmp_path / "c" / name).read_bytes()
    with store.reading() as session:
        assert len(list_exports(session, study)) == 3
    store.write(lambda session: settle(session, study, find_pair(session, study, "q0", "d0"), 2,
                                       None, "checked"))  # fmt: skip
    third = make(store, study, tmp_path / "d.zip", *every)
    assert third["data"]["adjudicated"] == 1
    assert third != first


def test_the_manifest_says_what_is_there(store, tmp_path):
    study = judged(store)
    made = make(store, study, tmp_path / "out", "qrels", grades_from="majority")
    assert set(made["files"]) == {"study.qrels", "judgments.csv"}  # the raw record goes too
    for name, sha in made["files"].items():
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == sha
    assert json.loads((tmp_path / "out" / "manifest.json").read_text()) == made
    assert made["data"]["judgments"] == pl.read_csv(tmp_path / "out" / "judgments.csv").height
    assert made["data"]["last_judgment_at"] == "2026-01-05T12:00:00.000000Z"
    assert made["versions"]["venire"]
    read = Qrels.read(tmp_path / "out" / "study.qrels")
    with store.reading() as session:
        assert read.to_dict() == read_grades(session, study, "majority").to_dict()
    with pytest.raises(DataError, match="already exists and is not empty"):
        make(store, study, tmp_path / "out", "qrels")
    with pytest.raises(UnknownName, match="Unknown export kind 'xml'"):
        make(store, study, tmp_path / "other", "xml")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".export")]


def test_lists_for_search_tools_go_by_the_title(store, tmp_path):
    study = judged(store)
    make(store, study, tmp_path / "out", "opensearch-json", "quepid-csv", "quepid-book-csv")
    body = json.loads((tmp_path / "out" / "opensearch.json").read_text())
    assert {one["query"] for one in body["judgmentRatings"]} == {"wind", "=rain"}
    assert " =rain" in (tmp_path / "out" / "quepid.csv").read_text()


def test_five_columns_of_a_stratified_pool(store, tmp_path):
    study, campaign, people = make_study(store, topics=1, documents=30, gold=0, campaign={
        "gold_size": 0, "overlap": 1, "batch_size": 30})  # fmt: skip
    judge_batch(store, campaign, people[0])
    with pytest.raises(DataError, match="strategy stratified"):
        make(store, study, tmp_path / "no", "qrels-strata")
    runs = Runs.from_dict({"q0": {f"d{i}": 30.0 - i for i in range(20)}}, run_id="one")
    with store.writing() as session:
        put_file(session, study, "run", "one", runs.frame, ())
        facts = build_pool(
            session, study, "stratified", {"strata": [5, 20], "rates": [1.0, 0.4]}, seed=3
        )
    assert facts["pairs"] == 5 + 6
    made = make(store, study, tmp_path / "out", "qrels-strata")
    rows = [line.split() for line in (tmp_path / "out/study-strata.qrels").read_text().splitlines()]
    assert len(rows) == 20
    assert sum(row[3] == "1" for row in rows) == 5
    assert sum(row[4] != "-1" for row in rows) == 11  # all were judged; only those drawn count
    assert any("not sampled" in note for note in made["notes"])
    assert any("outside the strata" in note for note in made["notes"])


def folder_of(tmp_path):
    root = tmp_path / "collection"
    for part in ("runs", "qrels"):
        (root / part).mkdir(parents=True)
    (root / "topics.tsv").write_text("query_id\ttitle\nq1\twind\nQ1\tWIND\n")
    (root / "documents.jsonl").write_text(
        "".join(json.dumps({"doc_id": f"d{i}", "title": f"t{i}", "text": f"text {i}"}) + "\n"
                for i in range(4)))  # fmt: skip
    (root / "runs" / "bm25.run").write_text(
        "".join(f"q1 Q0 d{i} {i + 1} {9 - i} system\n" for i in range(4))
    )
    (root / "qrels" / "old.qrels").write_text("q1 0 d0 2\nQ1 0 d1 0\n")
    (root / "gold.qrels").write_text("q1 0 d3 2\n")
    (root / "study.toml").write_text(
        'name = "Winds"\ninstructions = "Read."\n[scale]\nvalues = [0, 1, 2]\n'
        'names = ["no", "some", "yes"]\n[campaign]\noverlap = 2\ngold_errors = 1\n'
    )
    return root


def put(store, study, root, **options):
    with store.writing() as session:
        return import_folder(session, study, read_study_folder(root), **options)


def test_a_folder_goes_in_and_doing_it_again_changes_nothing(store, tmp_path):
    with store.writing() as session:
        study = create_study(session, "New").id
    root = folder_of(tmp_path)
    rows = put(store, study, root)
    said = {row["what"]: row for row in rows}
    assert said["documents"]["added"] == 4
    assert said["gold"]["added"] == 1
    assert said["run bm25"]["added"] == 1
    again = {row["what"]: row for row in put(store, study, root)}
    for what in ("topics", "documents", "run bm25", "qrels old", "gold"):
        assert again[what]["added"] == again[what]["changed"] == 0, what
    with store.reading() as session:
        assert count_contents(session, study) == {
            "topics": 2, "documents": 4, "pool": 0, "gold": 1, "runs": 1, "qrels": 1
        }  # fmt: skip
        found = session.get_one(Study, study)
        assert found.name == "New"
        assert found.instructions == "Read."
        assert found.settings["campaign"] == {"overlap": 2, "gold_errors": 1}
        assert [grade["name"] for grade in found.settings["grades"]] == ["no", "some", "yes"]
        assert set(read_runs(session, study).frame["run_id"]) == {"bm25"}


def test_export_then_import_gives_the_same_study(store, tmp_path):
    with store.writing() as session:
        study = create_study(session, "New").id
        other = create_study(session, "Other").id
    put(store, study, folder_of(tmp_path))
    with store.reading() as session:
        write_study_folder(read_folder(session, study), tmp_path / "out")
    put(store, other, tmp_path / "out")
    with store.reading() as session:
        one, two = read_folder(session, study), read_folder(session, other)
    assert one.topics.sort("query_id").equals(two.topics.sort("query_id"))
    assert one.documents.equals(two.documents)
    assert {**one.settings, "name": "Other"} == two.settings
    two = replace(two, settings=one.settings)
    write_study_folder(one, tmp_path / "out.zip")
    write_study_folder(two, tmp_path / "again.zip")
    assert (tmp_path / "out.zip").read_bytes() == (tmp_path / "again.zip").read_bytes()


def picture(path, *, exif=None, size=(60, 40), colour=(200, 30, 30)):
    from PIL import Image

    image = Image.new("RGB", size, colour)
    image.putpixel((0, 0), (0, 0, 255))
    image.save(path, **({"exif": exif} if exif is not None else {}))
    return path


def test_pictures_are_kept_by_their_content_with_thumbnails(store, tmp_path):
    from PIL import Image

    root = tmp_path / "pictures"
    (root / "images").mkdir(parents=True)
    exif = Image.Exif()
    exif[0x0112] = 6  # turned: what is 60 x 40 in the file is shown as 40 x 60
    exif[0x010F] = "Maker"
    picture(root / "images" / "a.jpg", exif=exif)
    picture(root / "images" / "b.png")
    (root / "images" / "c.png").write_bytes(b"no picture at all")
    (root / "topics.tsv").write_text("query_id\ttitle\nq1\tred\n")
    with store.writing() as session:
        study = create_study(session, "Pictures").id
    media = tmp_path / "media"
    with pytest.raises(DataError, match="where their copies"):
        put(store, study, root)
    rows = put(store, study, root, media=media)
    left = [row for row in rows if row["left_out"]]
    assert len(left) == 1
    assert "c.png" in left[0]["reason"]
    with store.reading() as session:
        keys = dict(session.execute(select(Document.doc_id, Document.media)).all())
    assert len(keys) == 2
    for key in keys.values():
        content = (media / key).read_bytes()
        assert key.split("/")[1].split(".")[0] == hashlib.sha256(content).hexdigest()
        with Image.open(media / f"{key.rsplit('.', 1)[0]}.thumb.webp") as thumb:
            assert max(thumb.size) <= 320
    with Image.open(media / next(key for key in keys.values() if key.endswith(".jpg"))) as turned:
        assert turned.size == (40, 60)
        assert not turned.getexif()
    again = {row["what"]: row for row in put(store, study, root, media=media)}
    assert again["documents"]["changed"] == 0
    # A server keeps the pictures first: the transaction touches no file.
    folder = store_pictures(read_study_folder(root), media)
    (root / "images" / "a.jpg").unlink()
    with store.writing() as session:
        report = import_folder(session, study, folder, media=media)
    assert {row["what"]: row for row in report}["documents"]["unchanged"] == 2
    # What was kept is kept as it is when it comes in again.
    for key in keys.values():
        assert store_picture((media / key).read_bytes(), media) == key


def test_a_picture_too_large_or_a_bomb_is_refused(tmp_path):
    import io

    from PIL import Image

    out = io.BytesIO()
    Image.new("1", (8000, 6000)).save(out, "PNG")  # 48 megapixels in some kilobytes
    with pytest.raises(DataError, match="got 8,000 x 6,000"):
        store_picture(out.getvalue(), tmp_path)
    for content in (b"", b"GIF89a", b"<svg onload='x'/>", out.getvalue()[:60]):
        with pytest.raises(DataError):
            store_picture(content, tmp_path)
    assert not list(tmp_path.iterdir())
