import gzip

import pytest

from venire import Runs
from venire.errors import BadLine, DataError
from venire.formats.run_files import name_by_file, read_run_files


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2.0 a\n")
    (tmp_path / "b.run.gz").write_bytes(gzip.compress(b"q1 Q0 d2 1 1.0 b\n"))
    (tmp_path / "notes.txt").write_text("no run")
    return tmp_path


def test_a_folder_stands_for_its_run_files(folder):
    runs = read_run_files([folder])
    assert runs.frame["run_id"].to_list() == ["a", "b"]
    assert runs.notes == ()
    assert read_run_files([folder / "b.run.gz", folder / "a.run"]).frame["run_id"].to_list() == [
        "b",
        "a",
    ]


def test_runs_of_files_with_the_same_tag_are_named_after_the_files(folder):
    (folder / "c.run").write_text("q1 Q0 d1 1 2.0 a\n")
    runs = read_run_files([folder])
    assert runs.frame["run_id"].to_list() == ["a", "b", "c"]
    assert runs.notes == (
        "several files have a run named a; the runs of these files are named after their files",
    )


def test_a_file_with_several_runs_keeps_their_tags_after_its_name(folder):
    (folder / "c.run").write_text("q1 Q0 d1 1 2.0 a\nq1 Q0 d1 1 2.0 x\n")
    runs = read_run_files([folder])
    assert runs.frame["run_id"].to_list() == ["a", "b", "c/a", "c/x"]


def test_one_name_for_two_files_is_refused_with_both(folder):
    other = folder / "other"
    other.mkdir()
    (other / "a.run").write_text("q1 Q0 d1 1 2.0 a\n")
    with pytest.raises(DataError) as refused:
        read_run_files([folder / "a.run", other / "a.run"])
    assert str(refused.value) == (
        f"{folder / 'a.run'} and {other / 'a.run'} both have a run named 'a'. "
        "Rename one of the files."
    )
    with pytest.raises(DataError, match=r"a\.run: the file is passed twice"):
        read_run_files([folder / "a.run"] * 2)


def test_keep_going_names_what_cannot_be_read(folder):
    bad = folder / "zz.run"
    bad.write_text("q1 Q0 d1 1 x zz\n")
    with pytest.raises(BadLine, match=r"zz\.run, line 1"):
        read_run_files([folder])
    runs = read_run_files([folder], keep_going=True)
    assert "a" in runs.frame["run_id"].to_list()
    assert [note for note in runs.notes if "left out" in note and "zz.run, line 1" in note]
    with pytest.raises(DataError, match="No run file could be read: left out"):
        read_run_files([bad, folder / "nowhere"], keep_going=True)


def test_what_is_no_run_file(tmp_path):
    with pytest.raises(DataError, match=r"the folder contains no \*\.run file"):
        read_run_files([tmp_path])
    with pytest.raises(DataError, match="A run file name is empty"):
        read_run_files([""])
    assert len(read_run_files([])) == 0


def test_notes_of_the_files_are_kept(folder):
    runs = name_by_file(Runs(read_run_files([folder]).frame, ("a note",)), "mine")
    assert runs.frame["run_id"].to_list() == ["mine/a", "mine/b"]
    assert runs.notes == ("a note",)
