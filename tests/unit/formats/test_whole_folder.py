"""A folder of output is whole, or as it was."""

import pytest

import venire
from venire.errors import BadSetting
from venire.formats.whole_folder import write_whole


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_all_files_come_at_once_and_others_stay(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    (target / "a.csv").write_text("old")
    with write_whole(target) as draft:
        (draft / "a.csv").unlink()
        (draft / "a.csv").write_text("new")
        (draft / "deep").mkdir()
        (draft / "deep" / "b.csv").write_text("b")
        assert (target / "a.csv").read_text() == "old"
    assert names(target) == ["a.csv", "deep", "deep/b.csv", "mine.txt"]
    assert (target / "a.csv").read_text() == "new"
    assert names(tmp_path) == ["out", "out/a.csv", "out/deep", "out/deep/b.csv", "out/mine.txt"]


def fill(target):
    with write_whole(target) as draft:
        (draft / "a.csv").unlink(missing_ok=True)
        (draft / "a.csv").write_text("new")
        raise OSError("full")


def test_what_the_draft_removes_is_removed(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    for name in ("a.csv", "b.csv"):
        (target / name).write_text(name)
    with write_whole(target) as draft:
        (draft / "a.csv").unlink()
        assert (target / "a.csv").read_text() == "a.csv"
    assert names(target) == ["b.csv"]


@pytest.mark.parametrize("existed", [True, False])
def test_an_error_leaves_what_was_there(tmp_path, existed):
    target = tmp_path / "out"
    if existed:
        target.mkdir()
        (target / "a.csv").write_text("old")
    before = names(tmp_path)
    with pytest.raises(OSError, match="full"):
        fill(target)
    assert names(tmp_path) == before
    if existed:
        assert (target / "a.csv").read_text() == "old"


def test_a_report_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    labels = {"query_id": ["q"] * 4, "doc_id": ["a", "b"] * 2,
              "annotator_id": ["x", "x", "y", "y"], "label": [1, 0, 1, 1]}  # fmt: skip
    result = venire.aggregate(labels, "majority")
    monkeypatch.setattr("venire.report.page.Page.write", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        venire.write_report(result, tmp_path / "out")
    assert names(tmp_path) == []


def test_a_folder_needs_a_name():
    with pytest.raises(BadSetting, match="must name a folder"), write_whole(""):
        pass


def test_the_current_folder_can_be_written_and_its_other_files_are_left_alone(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photos" / "deep").mkdir(parents=True)
    for name in ("photos/a.png", "photos/deep/table.csv", "notes.txt", "old.csv"):
        (tmp_path / name).write_text(name)
    with write_whole(".") as draft:
        assert names(draft) == ["old.csv"]
        (draft / "new.csv").write_text("new")
    assert names(tmp_path) == [
        "new.csv", "notes.txt", "old.csv", "photos", "photos/a.png", "photos/deep",
        "photos/deep/table.csv",
    ]  # fmt: skip
    assert (tmp_path / "old.csv").read_text() == "old.csv"


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(BadSetting, match="is a file"), write_whole(tmp_path / "out"):
        pass
    assert (tmp_path / "out").read_text() == "mine"
