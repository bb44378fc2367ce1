"""Weights that torch saved before its version 1.6, read without torch and without running code.

The file is five pickles (a magic number, a protocol number, facts on the machine, the table of
tensors, the keys of their storages), then each storage as a count of 8 bytes and its numbers.
The format is that of ``torch.serialization._legacy_save``.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from venire.errors import BadLine

MAGIC = 0x1950A86A20F9469CFC6C
KINDS = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}


_BROKEN = (
    pickle.UnpicklingError, EOFError, LookupError, AttributeError, TypeError, ValueError
)  # fmt: skip
"""What unpickling a broken file raises."""


class _Tensor(NamedTuple):
    key: str
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]


def _rebuild(storage: tuple[str, str], offset: int, shape: Any, stride: Any, *_: Any) -> _Tensor:
    return _Tensor(storage[1], offset, tuple(shape), tuple(stride))


class _Reader(pickle.Unpickler):
    """An unpickler that knows four names and no others."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self.kinds: dict[str, np.dtype[Any]] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Return what stands for one of the names, or refuse."""
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild
        if module == "torch" and name in KINDS:
            return KINDS[name]
        raise pickle.UnpicklingError(
            f"contains {module}.{name}, which is not allowed in a weights file"
        )

    def persistent_load(self, pid: Any) -> tuple[str, str]:
        """Remember the kind of a storage."""
        what, kind, key = pid[:3]
        if what != "storage" or not isinstance(kind, np.dtype):
            raise pickle.UnpicklingError("refers to an object that is not a storage")
        self.kinds[str(key)] = kind
        return (what, str(key))


def read_weights(path: str | Path) -> dict[str, NDArray[Any]]:
    """Return the tensors of a file by name.

    Raises
    ------
    BadLine
        A file that is not of this format, is cut short, or asks for anything but tensors.
    """
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            if _Reader(file).load() != MAGIC:
                raise BadLine(name, None, "is not a weights file of torch < 1.6")
            protocol, machine = _Reader(file).load(), _Reader(file).load()
            if protocol != 1001 or not machine.get("little_endian", False):
                raise BadLine(
                    name, None, "has an unsupported version or byte order of the torch format"
                )
            reader = _Reader(file)
            tensors = reader.load()
            storages = {
                str(key): _storage(file, reader.kinds[str(key)], name)
                for key in _Reader(file).load()
            }
    except BadLine:
        raise
    except _BROKEN as error:
        raise BadLine(name, None, f"cannot be read as weights: {error}") from None
    except OSError as error:
        raise BadLine(name, None, f"cannot be read: {error.strerror or error}") from None
    return {
        str(key): _view(storages[tensor.key], tensor, name)
        for key, tensor in tensors.items()
        if isinstance(tensor, _Tensor)
    }


def _storage(file: BinaryIO, kind: np.dtype[Any], name: str) -> NDArray[Any]:
    size = int.from_bytes(file.read(8), "little")
    data = file.read(size * kind.itemsize)
    if len(data) != size * kind.itemsize:
        raise BadLine(name, None, "is truncated")
    return np.frombuffer(data, kind)


def _view(storage: NDArray[Any], tensor: _Tensor, name: str) -> NDArray[Any]:
    last = tensor.offset + sum(
        (length - 1) * step for length, step in zip(tensor.shape, tensor.stride, strict=True)
    )
    if min(tensor.offset, *tensor.stride, 0) < 0 or last >= storage.size:
        raise BadLine(name, None, "has a tensor outside its storage")
    steps = [step * storage.itemsize for step in tensor.stride]
    view = np.lib.stride_tricks.as_strided(storage[tensor.offset :], tensor.shape, steps)
    return np.ascontiguousarray(view)
