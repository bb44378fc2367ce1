"""The real collections as studies, in and out; counts are those of the data's own README."""

import os
from pathlib import Path

import pytest

from venire.formats.study_folder import read_study_folder, unpack_study, write_study_folder

DATA = Path(
    os.environ.get("VENIRE_DATA") or Path(__file__).parents[2] / ".." / "shared" / "data"
).resolve()


def folder(name):
    if not (DATA / name).is_dir():
        pytest.skip(f"no data: {DATA / name} (set VENIRE_DATA)")
    return DATA / name


def test_dl19_with_documents_as_ids_only():
    study = read_study_folder(folder("trec-dl19"))
    assert study.topics.height == 43
    assert len(study.runs) == 37
    assert sum(map(len, study.runs.values())) == 148_047
    assert {name: len(qrels) for name, qrels in study.qrels.items()} == {"qrels-pass": 9_260}
    pairs = [table.frame["doc_id"] for table in (*study.runs.values(), *study.qrels.values())]
    assert set(study.documents["doc_id"]) == {doc for ids in pairs for doc in ids}
    assert study.documents["body"].null_count() == study.documents.height
    assert not [entry for entry in study.report if entry.left_out]
    files = {
        str(path.relative_to(DATA / "trec-dl19")) for path in (DATA / "trec-dl19").rglob("*.*")
    }
    assert files <= {entry.file for entry in study.report}


def test_cranfield_with_text():
    study = read_study_folder(folder("cranfield"))
    assert study.topics["query_id"].to_list() == [str(place) for place in range(1, 226)]
    assert study.documents.height == 1_400
    assert study.documents.filter(body="")["doc_id"].to_list() == ["471", "995"]
    grades = study.qrels["cranqrel"].frame["relevance"]
    assert int((grades > 0).sum()) == 1_612
    assert [entry.file for entry in study.report if entry.left_out] == ["cranqrel.readme"]


@pytest.mark.parametrize("name", ["trec-dl19", "cranfield"])
def test_export_and_import_give_the_same_study(name, tmp_path):
    study = read_study_folder(folder(name))
    write_study_folder(study, tmp_path / "a.zip")
    again = read_study_folder(unpack_study(tmp_path / "a.zip", tmp_path / "x"))
    assert again.topics.equals(study.topics.sort("query_id"))
    assert again.documents.equals(study.documents.sort("doc_id"))
    for run, table in study.runs.items():
        ranked = table.with_ranks(ties="file-order")
        assert again.runs[run].with_ranks(ties="file-order").equals(ranked)
    assert {key: one.to_dict() for key, one in again.qrels.items()} == {
        key: one.to_dict() for key, one in study.qrels.items()
    }
    write_study_folder(again, tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
