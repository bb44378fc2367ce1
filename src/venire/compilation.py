"""Compilation of kernels: loops over arrays of integer codes that release the GIL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba

jit = numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
"""Decorator of every kernel: compiled once, cached on disk; only a*b+c may be fused."""


def is_compiled(kernel: Any) -> bool:
    """Tell whether a kernel is compiled in memory or on disk."""
    if kernel.signatures:
        return True
    folder = Path(kernel.stats.cache_path)
    name = kernel.py_func.__qualname__.replace("<", "").replace(">", "")
    stem = f"{Path(kernel.py_func.__code__.co_filename).stem}.{name}-"
    return folder.is_dir() and any(
        path.name.startswith(stem) and path.suffix == ".nbi" for path in folder.iterdir()
    )
