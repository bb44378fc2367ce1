import stat
import struct
import zipfile

import pytest

from venire.errors import BadLine, DataError
from venire.formats import source
from venire.formats.source import pack, read_bytes
from venire.formats.study_folder import unpack_study


def archive(path, names, content=b"x", **changes):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name in names:
            info = zipfile.ZipInfo(name)
            info.filename = info.orig_filename = name
            info.compress_type = zipfile.ZIP_DEFLATED
            for key, value in changes.items():
                setattr(info, key, value)
            out.writestr(info, content)
    return path


def refused(tmp_path, path, said, **options):
    target = tmp_path / "out"
    with pytest.raises(DataError, match=said):
        unpack_study(path, target, **options)
    assert not target.exists()
    assert not list(tmp_path.glob(".unpack-*"))
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    "name",
    ["../evil", "a/../../evil", "/tmp/evil", "C:/evil", "a\\..\\evil", "\\\\host\\evil", "a//b",
     "./evil", "a/\x01b", "a/ b", "x" * 1001, "a\u202eb"],
)  # fmt: skip
def test_names_that_lead_out_are_refused(tmp_path, name):
    refused(tmp_path, archive(tmp_path / "z.zip", [name]), "points outside the folder")


def test_a_name_with_nul_is_refused(tmp_path):
    path = archive(tmp_path / "z.zip", ["a_b"])
    path.write_bytes(path.read_bytes().replace(b"a_b", b"a\x00b"))
    refused(tmp_path, path, "points outside the folder|not a valid zip")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO])
def test_links_and_devices_are_refused(tmp_path, kind):
    path = archive(tmp_path / "z.zip", ["l"], b"/etc/passwd", external_attr=(kind | 0o777) << 16)
    refused(tmp_path, path, "is a link or device")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("names", [["a", "a"], ["a", "A"], ["É", "é"]])
def test_one_name_twice_is_refused(tmp_path, names):
    refused(tmp_path, archive(tmp_path / "z.zip", names), "twice")


def test_bombs_are_refused(tmp_path):
    path = archive(tmp_path / "z.zip", ["a"], b"\0" * (70 << 20))
    refused(tmp_path, path, "200 times its size")
    small = archive(tmp_path / "s.zip", ["a", "b"], b"\0" * 1000)
    refused(tmp_path, small, "<= 1,500 bytes", most_bytes=1500)
    refused(tmp_path, small, "<= 1 files", most_files=1)


def test_an_archive_that_lies_about_its_size_is_refused(tmp_path):
    path = archive(tmp_path / "z.zip", ["a"], b"\0" * 5000)
    data = path.read_bytes().replace(struct.pack("<L", 5000), struct.pack("<L", 10))
    path.write_bytes(data)
    refused(tmp_path, path, "not a valid zip archive|larger unpacked than its directory declares")


def test_what_is_no_archive_is_refused(tmp_path):
    path = tmp_path / "z.zip"
    path.write_bytes(b"no zip")
    refused(tmp_path, path, "not a valid zip archive")
    refused(tmp_path, archive(path, []), "contains no file")
    whole = archive(path, ["a"], bytes(range(256)) * 100).read_bytes()
    path.write_bytes(whole[:40] + b"\xff" * 20 + whole[60:])
    refused(tmp_path, path, "not a valid zip archive")
    with pytest.raises(DataError, match="cannot be unpacked: No such file"):
        unpack_study(tmp_path / "nowhere.zip", tmp_path / "out")


def test_a_password_is_refused(tmp_path):
    path = archive(tmp_path / "z.zip", ["a"])
    data = bytearray(path.read_bytes())
    data[6] |= 1
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1
    path.write_bytes(data)
    refused(tmp_path, path, "needs a password")


def test_unpacking(tmp_path):
    path = archive(tmp_path / "z.zip", ["study/topics.tsv", "study/runs/a.run", "__MACOSX/x"])
    (tmp_path / "out").mkdir()
    assert unpack_study(path, tmp_path / "out") == tmp_path / "out" / "study"
    assert (tmp_path / "out/study/runs/a.run").read_bytes() == b"x"
    with pytest.raises(DataError, match="not a new or empty folder"):
        unpack_study(path, tmp_path / "out")
    flat = archive(tmp_path / "f.zip", ["topics.tsv", "runs/a.run"])
    assert unpack_study(flat, tmp_path / "flat") == tmp_path / "flat"


def test_packing_twice_gives_the_same_bytes(tmp_path):
    (tmp_path / "big").write_bytes(b"image")
    for name in ("a.zip", "b.zip"):
        pack([("x", b"1"), ("images/y.png", tmp_path / "big")], tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    unpack_study(tmp_path / "a.zip", tmp_path / "out")
    assert (tmp_path / "out/images/y.png").read_bytes() == b"image"


def test_a_compressed_file_that_unfolds_too_far_is_refused(tmp_path, monkeypatch):
    import gzip

    monkeypatch.setattr(source, "BOMB", (1 << 20, 300))
    path = tmp_path / "a.run.gz"
    path.write_bytes(gzip.compress(b"\n" * (8 << 20)))
    with pytest.raises(BadLine, match="more than 300 times its size"):
        read_bytes(path)
