import gzip
import io
import lzma
import os
import stat
import sys
import tempfile
from pathlib import Path

import pytest
import zstandard

from venire.errors import BadLine
from venire.formats import source
from venire.formats.source import read_bytes, stem, write_bytes

PACK = {"gz": gzip.compress, "xz": lzma.compress, "zst": zstandard.compress}
TEXT = b"".join(b"q%d 0 d%d 1\n" % (at, at * 7919 % 1009) for at in range(5000))


def refused(path):
    with pytest.raises(BadLine) as caught:
        read_bytes(path)
    assert caught.value.path == str(path)
    return caught.value


def made(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


def test_plain_bytes(tmp_path):
    assert read_bytes(made(tmp_path, "a.txt", TEXT)) == TEXT


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("name", ["a.{}", "a.txt"])
def test_compressed_whatever_the_name_says(tmp_path, kind, name):
    assert read_bytes(made(tmp_path, name.format(kind), PACK[kind](TEXT))) == TEXT


@pytest.mark.parametrize("kind", PACK)
def test_files_joined_end_to_end(tmp_path, kind):
    joined = PACK[kind](TEXT) + PACK[kind](b"more\n")
    assert read_bytes(made(tmp_path, f"a.{kind}", joined)) == TEXT + b"more\n"


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("left", [0.5, 0.9, -1])
def test_a_truncated_file_is_refused(tmp_path, kind, left):
    packed = PACK[kind](TEXT)
    cut = packed[: int(len(packed) * left)] if left > 0 else packed[:left]
    error = refused(made(tmp_path, f"a.{kind}", cut))
    assert "decompress" in error.reason


def test_a_zst_cut_between_blocks_is_refused(tmp_path):
    packer = zstandard.ZstdCompressor().compressobj()
    cut = packer.compress(TEXT) + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    refused(made(tmp_path, "a.zst", cut))


@pytest.mark.parametrize("kind", PACK)
def test_a_broken_file_is_refused(tmp_path, kind):
    packed = bytearray(PACK[kind](TEXT))
    middle = len(packed) // 2
    packed[middle : middle + 20] = b"\x00" * 20
    refused(made(tmp_path, f"a.{kind}", bytes(packed)))


@pytest.mark.parametrize("kind", PACK)
def test_a_plain_file_with_a_compressed_name_is_refused(tmp_path, kind):
    assert kind in refused(made(tmp_path, f"a.{kind}", b"q 0 d 1\n")).reason


@pytest.mark.parametrize(
    "content", [b"", b" \n\r\n\t", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)]
)
def test_an_empty_file_is_refused(tmp_path, content):
    assert "empty" in refused(made(tmp_path, "a.txt", content)).reason


def test_an_empty_file_with_a_compressed_name_is_empty(tmp_path):
    assert "empty" in refused(made(tmp_path, "a.gz", b"")).reason


def test_a_folder_is_refused(tmp_path):
    assert "folder" in refused(tmp_path).reason


@pytest.mark.parametrize("name", ["none.txt", "none/none.txt"])
def test_a_missing_file_is_refused(tmp_path, name):
    assert "no such file" in refused(tmp_path / name).reason


def test_a_path_through_a_file_is_refused(tmp_path):
    made(tmp_path, "a.txt", b"x")
    refused(tmp_path / "a.txt" / "b.txt")


def test_a_name_too_long_is_refused(tmp_path):
    refused(tmp_path / ("a" * 300))


@pytest.mark.parametrize("kind", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_by_name(tmp_path, kind):
    mark = {"utf-16": b"", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}[kind]
    content = mark + "q 0 d 1\n".encode(kind)
    assert "UTF-16" in refused(made(tmp_path, "a.txt", content)).reason


def test_utf_16_inside_gz_is_refused_by_name(tmp_path):
    content = gzip.compress("q 0 d 1\n".encode("utf-16"))
    assert "UTF-16" in refused(made(tmp_path, "a.txt.gz", content)).reason


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_byte_order_mark_is_left_out(tmp_path, pack):
    content = pack(b"\xef\xbb\xbf" + TEXT)
    assert read_bytes(made(tmp_path, "a.txt", content)) == TEXT


def test_what_unpacks_past_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "LIMIT", 1000)
    assert "decompresses to more" in refused(made(tmp_path, "a.gz", gzip.compress(TEXT))).reason


def test_standard_input_and_output(monkeypatch):
    class Stream:
        buffer = io.BytesIO(gzip.compress(TEXT))

    monkeypatch.setattr(sys, "stdin", Stream)
    assert read_bytes("-") == TEXT
    Stream.buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", Stream)
    write_bytes("-", TEXT)
    assert Stream.buffer.getvalue() == TEXT


@pytest.mark.parametrize(
    ("name", "bare", "kind"),
    [
        ("dir/run.txt", "run", "run.txt"),
        ("run.txt.gz", "run", "run.txt"),
        ("run.v2.csv.zst", "run.v2", "run.v2.csv"),
        ("run", "run", "run"),
        ("run.gz", "run", "run"),
        (".hidden", ".hidden", ".hidden"),
    ],
)
def test_stem(name, bare, kind):
    assert stem(name) == bare
    assert stem(name, keep_kind=True) == kind


# Writing


@pytest.mark.parametrize("ending", ["", ".gz", ".xz", ".zst"])
def test_written_bytes_are_read_again(tmp_path, ending):
    path = tmp_path / "new" / "folder" / f"a.txt{ending}"
    write_bytes(path, TEXT)
    assert read_bytes(path) == TEXT
    assert (path.read_bytes() == TEXT) == (ending == "")
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_the_same_bytes_give_the_same_gz(tmp_path):
    write_bytes(tmp_path / "a.gz", TEXT)
    write_bytes(tmp_path / "b.gz", TEXT)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_an_older_file_is_replaced_whole(tmp_path):
    path = made(tmp_path, "a.txt", b"old" * 1000)
    write_bytes(path, b"new")
    assert path.read_bytes() == b"new"


def broken_write(error):
    class Out:
        def __init__(self, handle, mode):
            self.handle = handle

        def __enter__(self):
            return self

        def __exit__(self, *_):
            os.close(self.handle)

        def write(self, data):
            os.write(self.handle, data[: len(data) // 2])
            raise error

    return Out


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, error):
    path = made(tmp_path, "a.txt", b"old")
    monkeypatch.setattr(os, "fdopen", broken_write(error))
    with pytest.raises((BadLine, KeyboardInterrupt)):
        write_bytes(path, TEXT)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_bytes() == b"old"


def test_a_failed_rename_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(BadLine, match="Permission denied"):
        write_bytes(tmp_path / "a.txt", TEXT)
    assert list(tmp_path.iterdir()) == []


def test_no_neighbour_no_file(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", fail)
    with pytest.raises(BadLine, match="cannot be written"):
        write_bytes(tmp_path / "a.txt", TEXT)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_not_overwritten(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(BadLine):
        write_bytes(tmp_path / "a", TEXT)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_a_file_is_no_folder_to_write_into(tmp_path):
    made(tmp_path, "a", b"x")
    with pytest.raises(BadLine):
        write_bytes(tmp_path / "a" / "b.txt", TEXT)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_written_into_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_bytes(pipe, b"new")
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)


def test_a_link_is_written_through(tmp_path):
    target = made(tmp_path, "target.txt", b"old")
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
