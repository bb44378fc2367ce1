"""Types of numpy arrays in annotations."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""64-bit floating-point numbers: probabilities, scores, parameters."""

Float32s: TypeAlias = NDArray[np.float32]
"""32-bit floating-point numbers: vectors of documents, weights of encoders."""

Longs: TypeAlias = NDArray[np.int64]
"""64-bit whole numbers: positions, counts, codes of items."""

Ints: TypeAlias = NDArray[np.int32]
"""32-bit whole numbers: codes of annotators."""

Shorts: TypeAlias = NDArray[np.int16]
"""16-bit whole numbers: indices of labels and grades."""

Mask: TypeAlias = NDArray[np.bool_]
"""Truth values."""
