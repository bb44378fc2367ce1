"""Read files (decompressed), write files atomically, and pack and unpack zip archives."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import os
import shutil
import stat
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from venire.errors import BadLine, BadSetting, DataError, MissingExtra

LIMIT = 8 << 30
"""Maximum decompressed size in bytes."""
BOMB = 1 << 28, 300
"""A decompression bomb: decompressed size in bytes and compression ratio, both exceeded."""
_COMPRESSIONS = (".gz", ".xz", ".zst")
_CHUNK = 1 << 20
_ZSTD_CHUNK = 1 << 14
MOST_FILES = 200_000
MOST_BYTES = 8 << 30
RATIO = 200
"""Maximum compression ratio of an archive that unpacks to more than 64 MB."""
_FREE = 64 << 20
EPOCH = (1980, 1, 1, 0, 0, 0)


def stem(name: str, *, keep_kind: bool = False) -> str:
    """Return a file name without its folder, compression ending and (by default) format ending."""
    path = Path(name)
    if path.suffix in _COMPRESSIONS:
        path = path.with_suffix("")
    return path.name if keep_kind else (path.stem or path.name)


def list_files(folder: Path, ending: str) -> list[Path]:
    """Return the files with an ending in a folder, compressed or not, sorted by name."""
    if not folder.is_dir():
        return []
    return sorted(
        path
        for path in folder.iterdir()
        if path.is_file() and Path(stem(path.name, keep_kind=True)).suffix == ending
    )


def read_bytes(path: str | Path, *, name: str | None = None) -> bytes:
    """Return the decompressed content of a file; ``-`` is standard input.

    The compression is detected from the content.

    Parameters
    ----------
    path : path
    name : str, optional
        Name of the file in messages; by default its path.

    Raises
    ------
    BadLine
        The file does not exist, is empty, or cannot be read or decompressed.
    """
    if not str(path):
        raise BadLine("''", None, "is not a file name")
    name = name or str(path)
    try:
        raw = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
    except FileNotFoundError:
        raise BadLine(name, None, "no such file") from None
    except IsADirectoryError:
        raise BadLine(name, None, "is a folder, not a file") from None
    except OSError as error:
        raise BadLine(name, None, f"cannot be read: {error.strerror or error}") from None
    data = _unpack(raw, name)
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadLine(name, 1, "is UTF-16 text", hint="Save it as UTF-8.")
    if not data or data.isspace():
        raise BadLine(name, None, "is empty")
    return data


def _unpack(raw: bytes, name: str) -> bytes:
    if raw[:2] == b"\x1f\x8b":
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
            return _drain(stream, len(raw), name, "gzip", (OSError, EOFError, zlib.error))
    if raw[:6] == b"\xfd7zXZ\x00":
        with lzma.LZMAFile(io.BytesIO(raw)) as stream:
            return _drain(stream, len(raw), name, "xz", (OSError, EOFError, lzma.LZMAError))
    if raw[:4] == b"\x28\xb5\x2f\xfd":
        return _unpack_zstd(raw, name)
    if name.endswith(_COMPRESSIONS) and raw:
        ending = name.rsplit(".", 1)[1]
        raise BadLine(
            name,
            None,
            f"ends in .{ending}, but its content is not {ending} data",
            hint="Rename the file, or compress it.",
        )
    return raw


def _unpack_zstd(raw: bytes, name: str) -> bytes:
    """Decompress frame by frame; the stream reader would not notice a truncated file."""
    import zstandard

    parts: list[bytes] = []
    size = 0
    position = 0
    try:
        while position < len(raw):
            frame = zstandard.ZstdDecompressor().decompressobj()
            while not frame.eof:
                piece = raw[position : position + _ZSTD_CHUNK]
                if not piece:
                    raise BadLine(name, None, "cannot be decompressed as zstd: file is truncated")
                parts.append(frame.decompress(piece))
                position += len(piece) - len(frame.unused_data)
                size = _within_limit(size + len(parts[-1]), len(raw), name)
    except zstandard.ZstdError as error:
        raise BadLine(name, None, f"cannot be decompressed as zstd: {error}") from None
    return b"".join(parts)


def _within_limit(size: int, packed: int, name: str) -> int:
    if size > BOMB[0] and size > packed * BOMB[1]:
        raise BadLine(
            name, None, f"decompresses to more than {BOMB[1]} times its size (decompression bomb)"
        )
    if size > LIMIT:
        raise BadLine(name, None, f"decompresses to more than {LIMIT >> 30} GiB")
    return size


def _drain(
    stream: Any, packed: int, name: str, kind: str, errors: tuple[type[BaseException], ...]
) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        while chunk := stream.read(_CHUNK):
            parts.append(chunk)
            size = _within_limit(size + len(chunk), packed, name)
    except errors as error:
        raise BadLine(name, None, f"cannot be decompressed as {kind}: {error}") from None
    return b"".join(parts)


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file atomically, through a temporary file; ``-`` is standard output.

    A file that ends in .gz, .xz or .zst is compressed.
    """
    name = str(path)
    if name == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    if name.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    elif name.endswith(".xz"):
        data = lzma.compress(data)
    elif name.endswith(".zst"):
        import zstandard

        data = zstandard.ZstdCompressor().compress(data)
    target = Path(name)
    temporary = ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target = target.resolve()
        if target.exists() and not target.is_file():
            # Write into a pipe or device: renaming would replace it with a file.
            target.write_bytes(data)
            return
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(target)
        temporary = ""
    except OSError as error:
        raise BadLine(name, None, f"cannot be written: {error.strerror or error}") from None
    finally:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()


def unpack_study(
    zip_path: str | Path,
    into: str | Path,
    *,
    most_bytes: int = MOST_BYTES,
    most_files: int = MOST_FILES,
    name: str | None = None,
) -> Path:
    """Unpack an archive into a new or empty folder; return the folder with the collection.

    This is ``into``, or the top folder of the archive if there is only one. An unsafe archive is
    refused as a whole: an absolute path, ``..``, a backslash or a colon in a name, a link or
    device, a repeated name (ignoring case), a password, more than 200,000 files, more than 8 GiB,
    or more than 200 times its own size. Messages call the archive ``name``, by default its path.

    Raises
    ------
    DataError
        An archive that is unsafe or cannot be read.
    """
    name = name or str(zip_path)
    target = Path(into)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise DataError(f"{target}: is not a new or empty folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(prefix=".unpack-", dir=target.parent))
    try:
        with zipfile.ZipFile(zip_path) as archive:
            members = _check_members(archive, name, most_bytes, most_files)
            bytes_left = most_bytes
            for member, path in members:
                bytes_left = _extract(archive, member, staged / path, bytes_left, name)
        if target.exists():
            target.rmdir()
        staged.rename(target)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{name}: is not a valid zip archive: {error}") from None
    except OSError as error:
        raise DataError(f"{name}: cannot be unpacked: {error.strerror or error}") from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    inside = [path for path in target.iterdir() if path.name != "__MACOSX"]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else target


def _check_members(
    archive: zipfile.ZipFile, name: str, most_bytes: int, most_files: int
) -> list[tuple[zipfile.ZipInfo, PurePosixPath]]:
    """Return the files to unpack and their target paths."""
    members = archive.infolist()
    if len(members) > most_files:
        raise DataError(f"{name}: must contain <= {most_files:,} files (got {len(members):,})")
    size = sum(member.file_size for member in members)
    packed = Path(str(archive.filename)).stat().st_size
    if size > most_bytes:
        raise DataError(f"{name}: must unpack to <= {most_bytes:,} bytes (got {size:,})")
    if size > _FREE and size > RATIO * packed:
        raise DataError(f"{name}: unpacks to more than {RATIO} times its size (decompression bomb)")
    files = []
    folded_paths: set[str] = set()
    for member in members:
        path = _path(member, name)
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise DataError(
                f"{name}: {member.filename!r} is a link or device",
                hint="Include only regular files.",
            )
        if member.flag_bits & 0x1:
            raise DataError(f"{name}: {member.filename!r} needs a password")
        if member.is_dir():
            continue
        folded = str(path).casefold()
        if folded in folded_paths:
            raise DataError(f"{name}: contains {member.filename!r} twice")
        folded_paths.add(folded)
        files.append((member, path))
    if not files:
        raise DataError(f"{name}: contains no file")
    return files


def _path(member: zipfile.ZipInfo, name: str) -> PurePosixPath:
    """Return the target path of a file, if it is inside the folder on every system."""
    raw = member.orig_filename
    parts = raw.rstrip("/").split("/")
    bad_part = any(part in ("", ".", "..") or part != part.strip() for part in parts)
    if bad_part or any(c in "\\:" or not c.isprintable() for c in raw) or len(raw) > 1_000:
        raise DataError(
            f"{name}: the name {raw[:100]!r} points outside the folder or is not a file name"
        )
    return PurePosixPath(*parts)


def _extract(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, bytes_left: int, name: str
) -> int:
    """Write a file, and return the number of bytes that further files may have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as packed, path.open("xb") as out:
        while chunk := packed.read(_CHUNK):
            bytes_left -= len(chunk)
            if bytes_left < 0:
                raise DataError(
                    f"{name}: is larger unpacked than its directory declares",
                    hint="Create the ZIP again.",
                )
            out.write(chunk)
    return bytes_left


def folder_at(place: str) -> Path:
    """Return a local folder, or for a URL (``s3://bucket/media``, ``gs://...``) a remote folder.

    Remote folders are opened by fsspec and have the interface of a path.

    Raises
    ------
    MissingExtra, BadSetting
        universal-pathlib, or the package for this kind of storage, is not installed.
    """
    if "://" not in place:
        return Path(place)
    try:
        from upath import UPath
    except ImportError:
        raise MissingExtra("universal-pathlib", "cloud", f"the folder {place}") from None
    try:
        folder: Any = UPath(place)
        folder.exists()
    except (ImportError, ValueError, OSError) as error:
        raise BadSetting(f"{place} cannot be reached: {' '.join(str(error).split())}") from None
    reached: Path = folder
    return reached


def pack(files: Iterable[tuple[str, bytes | Path]], path: str | Path) -> None:
    """Write a zip archive; its bytes depend only on the names and contents of the files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, content in files:
            info = zipfile.ZipInfo(name, EPOCH)
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            with archive.open(info, "w", force_zip64=True) as out:
                if isinstance(content, bytes):
                    out.write(content)
                else:
                    with content.open("rb") as source:
                        shutil.copyfileobj(source, out, _CHUNK)
