"""Bytes of a file, decompressed; and files written whole or not at all."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import os
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

from venire.errors import BadLine

LIMIT = 8 << 30
"""Most bytes a compressed file may unfold to; a bomb is stopped there."""
_COMPRESSIONS = (".gz", ".xz", ".zst")
_CHUNK = 1 << 20
_ZSTD_CHUNK = 1 << 14


def stem(name: str, *, keep_kind: bool = False) -> str:
    """Return a file name without folder, compression and (unless kept) format ending."""
    path = Path(name)
    if path.suffix in _COMPRESSIONS:
        path = path.with_suffix("")
    return path.name if keep_kind else (path.stem or path.name)


def read_bytes(path: str | Path) -> bytes:
    """Return the content of a file, decompressed by what it holds; ``-`` is standard input.

    Raises
    ------
    BadLine
        When there is no such file, it cannot be unpacked, or it is empty.
    """
    name = str(path)
    if not name:
        raise BadLine("''", None, "is no file name")
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except FileNotFoundError:
        raise BadLine(name, None, "there is no such file") from None
    except IsADirectoryError:
        raise BadLine(name, None, "is a folder, not a file") from None
    except OSError as error:
        raise BadLine(name, None, f"cannot be read: {error.strerror or error}") from None
    data = _unpack(raw, name)
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadLine(name, 1, "is UTF-16; save it as UTF-8")
    if not data or data.isspace():
        raise BadLine(name, None, "is empty")
    return data


def _unpack(raw: bytes, name: str) -> bytes:
    if raw[:2] == b"\x1f\x8b":
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
            return _drain(stream, name, "gzip", (OSError, EOFError, zlib.error))
    if raw[:6] == b"\xfd7zXZ\x00":
        with lzma.LZMAFile(io.BytesIO(raw)) as stream:
            return _drain(stream, name, "xz", (OSError, EOFError, lzma.LZMAError))
    if raw[:4] == b"\x28\xb5\x2f\xfd":
        return _unpack_zstd(raw, name)
    if name.endswith(_COMPRESSIONS) and raw:
        raise BadLine(
            name, None, f"its content is no {name.rsplit('.', 1)[1]} data; rename or compress it"
        )
    return raw


def _unpack_zstd(raw: bytes, name: str) -> bytes:
    """Unpack frame after frame; the stream reader would not notice a cut file."""
    import zstandard

    parts: list[bytes] = []
    size = 0
    at = 0
    try:
        while at < len(raw):
            frame = zstandard.ZstdDecompressor().decompressobj()
            while not frame.eof:
                piece = raw[at : at + _ZSTD_CHUNK]
                if not piece:
                    raise BadLine(name, None, "cannot be unpacked as zstd: it ends too early")
                parts.append(frame.decompress(piece))
                at += len(piece) - len(frame.unused_data)
                size = _within_limit(size + len(parts[-1]), name)
    except zstandard.ZstdError as error:
        raise BadLine(name, None, f"cannot be unpacked as zstd: {error}") from None
    return b"".join(parts)


def _within_limit(size: int, name: str) -> int:
    if size > LIMIT:
        raise BadLine(name, None, f"unpacks to more than {LIMIT >> 30} GiB")
    return size


def _drain(stream: Any, name: str, kind: str, errors: tuple[type[BaseException], ...]) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        while chunk := stream.read(_CHUNK):
            parts.append(chunk)
            size = _within_limit(size + len(chunk), name)
    except errors as error:
        raise BadLine(name, None, f"cannot be unpacked as {kind}: {error}") from None
    return b"".join(parts)


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file whole: to a neighbour first, then renamed; ``-`` is standard output.

    The ending .gz, .xz or .zst compresses.
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
            # A pipe or a device is written into; renaming would put a file in its place.
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
